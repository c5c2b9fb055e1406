"""The few groups that can matter for a given ℓ."""

from __future__ import annotations

from dataclasses import dataclass

from ppdp_spark.core.groups import FloatArray, IntArray
from ppdp_spark.core.skyline.kernels import exclusions
from ppdp_spark.core.skyline.points import case_code
from ppdp_spark.core.skyline.signatures import Signatures
from ppdp_spark.core.skyline.staircase import staircase


@dataclass(frozen=True, eq=False)
class Frontier:
    """Signatures that attain every minimum for one ℓ, whatever k and m.

    where
        rows      positions in the signatures
        people, occurrences, excluded  n, #σ and what the ℓ values exclude, of each
    """

    rows: IntArray
    people: IntArray
    occurrences: IntArray
    excluded: FloatArray


def frontier(signatures: Signatures, length: int) -> Frontier:
    """What is left of the signatures for ℓ = `length` once those that another one undercuts are dropped."""
    case, people, occurrences = case_code(signatures.case), signatures.people, signatures.occurrences
    excluded = exclusions(case, people, signatures.others, length)
    rows = staircase(case, people, occurrences, excluded, signatures.ids)
    return Frontier(rows, people[rows], occurrences[rows], excluded[rows])
