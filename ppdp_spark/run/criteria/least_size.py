"""The least size of blind groups that a spec asks for, or that is predicted for a table."""

from __future__ import annotations

import numpy as np

from ppdp_spark.core.data.groups import IntArray
from ppdp_spark.core.data.value_names import ValueDomain
from ppdp_spark.core.partition.least_size import Chance, LeastSize, chance_to_pass, predicted_size
from ppdp_spark.run.criteria.guarantees import criteria_of
from ppdp_spark.spec import ReleaseSpec
from ppdp_spark.spec.columns import some_unprotected
from ppdp_spark.spec.requirements import unpredictable


def least_size_of(spec: ReleaseSpec, domain: ValueDomain) -> LeastSize:
    """The least size of the table's groups.

    Nothing but the spec and the counts of values in the whole table goes in.
    """
    if spec.least_size is not None:
        return LeastSize(spec.least_size, False)
    criteria, counts = criteria_of(spec.privacy, domain), np.array(domain.counts, np.int64)
    fewest = spec.privacy.least_size(some=some_unprotected(spec.columns))
    return predicted_size(criteria, counts, fewest)


def chance_of(spec: ReleaseSpec, domain: ValueDomain, sizes: IntArray) -> Chance | None:
    """The chance of groups of these sizes to pass, if values have nothing to do with quasi-identifiers.

    None where whole values of people, or their priors, would have to be drawn, which are not public.
    """
    if any(unpredictable(spec)):
        return None
    return chance_to_pass(criteria_of(spec.privacy, domain), np.array(domain.counts, np.int64), sizes)
