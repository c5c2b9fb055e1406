"""Privacy criteria: one family a file, one interface for all."""

from __future__ import annotations

from ppdp_spark.core.criteria.anonymity import AlphaK, KAnonymity
from ppdp_spark.core.criteria.base import Criterion, LocalCriterion, VerdictRow, Worst
from ppdp_spark.core.criteria.closeness import TCloseness
from ppdp_spark.core.criteria.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from ppdp_spark.core.criteria.likeness import BasicBetaLikeness, DeltaDisclosure, EnhancedBetaLikeness

LOCAL_CRITERIA: dict[str, type[LocalCriterion]] = {
    criterion.name: criterion
    for criterion in (
        KAnonymity,
        AlphaK,
        DistinctDiversity,
        EntropyDiversity,
        RecursiveDiversity,
        TCloseness,
        BasicBetaLikeness,
        EnhancedBetaLikeness,
        DeltaDisclosure,
    )
}

__all__ = [
    "LOCAL_CRITERIA",
    "AlphaK",
    "BasicBetaLikeness",
    "Criterion",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EnhancedBetaLikeness",
    "EntropyDiversity",
    "KAnonymity",
    "LocalCriterion",
    "RecursiveDiversity",
    "TCloseness",
    "VerdictRow",
    "Worst",
]
