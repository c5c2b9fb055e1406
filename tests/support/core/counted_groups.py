"""Groups given by rows of counts, and what a criterion says of them."""

from __future__ import annotations

import numpy as np

from ppdp_spark.core.criteria import (
    AlphaK,
    BasicBetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EnhancedBetaLikeness,
    EntropyDiversity,
    KAnonymity,
    LocalCriterion,
    RecursiveDiversity,
    TCloseness,
)
from ppdp_spark.core.data.groups import GroupSummaries


def groups_of(*rows, sizes=None, dtype=np.int64):
    counts = np.array(rows, dtype=dtype)
    return GroupSummaries(counts.sum(axis=1) if sizes is None else np.array(sizes), counts)


def allowed(criterion, *rows, sizes=None):
    return criterion.allowed(groups_of(*rows, sizes=sizes)).tolist()


def achieved(criterion, *rows, sizes=None):
    return criterion.achieved(groups_of(*rows, sizes=sizes)).tolist()


def one_of_each(distribution) -> list[LocalCriterion]:
    table = tuple(distribution)
    return [
        KAnonymity(2),
        AlphaK(0.5, 2),
        DistinctDiversity(2),
        EntropyDiversity(2),
        RecursiveDiversity(2, 2),
        TCloseness(0.3, table),
        TCloseness(0.3, table, ordered=True),
        BasicBetaLikeness(1, table),
        EnhancedBetaLikeness(1, table),
        DeltaDisclosure(1, table),
    ]
