"""Privacy criteria: one family in a file, one interface for all.

A file declares its family, `families` lists them all: nothing else needs to know of a new one.
"""

from __future__ import annotations

from ppdp_spark.core.criteria.anonymity import AlphaK, EstimatedPopulation, KAnonymity
from ppdp_spark.core.criteria.base import Criterion, LocalCriterion, VerdictRow, Worst
from ppdp_spark.core.criteria.closeness import TCloseness
from ppdp_spark.core.criteria.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from ppdp_spark.core.criteria.likeness import BasicBetaLikeness, DeltaDisclosure, EnhancedBetaLikeness
from ppdp_spark.core.criteria.proximity import Proximity

__all__ = [
    "AlphaK",
    "BasicBetaLikeness",
    "Criterion",
    "DeltaDisclosure",
    "DistinctDiversity",
    "EnhancedBetaLikeness",
    "EntropyDiversity",
    "EstimatedPopulation",
    "KAnonymity",
    "LocalCriterion",
    "Proximity",
    "RecursiveDiversity",
    "TCloseness",
    "VerdictRow",
    "Worst",
]
