"""The few groups that can matter for a given ℓ."""

from __future__ import annotations

from dataclasses import dataclass

from ppdp_spark.core.criteria.skyline.formulas import exclusions
from ppdp_spark.core.criteria.skyline.points import case_code
from ppdp_spark.core.data.groups import FloatArray, IntArray
from ppdp_spark.core.explorer.signatures import Signatures
from ppdp_spark.core.explorer.staircase import staircase


@dataclass(frozen=True, eq=False)
class LevelFrontier:
    """Signatures that attain every minimum for one ℓ, whatever k and m.

    where
        rows      positions in the signatures
        people, occurrences, excluded  n, #σ and what the ℓ values exclude, of each
    """

    rows: IntArray
    people: IntArray
    occurrences: IntArray
    excluded: FloatArray


def frontier(signatures: Signatures, length: int) -> LevelFrontier:
    """What is left of the signatures for ℓ = `length` once those that another one undercuts are dropped."""
    case, people, occurrences = case_code(signatures.case), signatures.people, signatures.occurrences
    excluded = exclusions(case, people, signatures.others, length)
    rows = staircase(case, people, occurrences, excluded, signatures.ids)
    return LevelFrontier(rows, people[rows], occurrences[rows], excluded[rows])
