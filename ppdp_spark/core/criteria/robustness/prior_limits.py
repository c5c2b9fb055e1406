"""What the bounds take for granted, checked: r, one value per person, and priors that are probabilities."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ppdp_spark.core.criteria.exact import integers
from ppdp_spark.core.criteria.parameters import Number, rational
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.errors import DataError, SpecError


def robustness_level(r: Number) -> Fraction:
    """`r` as an exact fraction above 1; at r = 1 every release is robust."""
    level = rational("r", r)
    if level <= 1:
        raise SpecError(f"`r` ({r!s}) must be above 1")
    return level


def check_priors(groups: GroupSummaries, attribute_sets: tuple[str, ...]) -> None:
    """Raise unless the groups have priors of all attribute sets, and people have one value each.

    Priors of values that a group lacks are not looked at.
    """
    if len(groups.priors) != len(attribute_sets):
        raise DataError(
            f"groups have priors of {len(groups.priors)} attribute sets, robustness needs those of"
            f" {len(attribute_sets)}: {', '.join(f'[{label}]' for label in attribute_sets)}"
        )
    problems = []
    counts = integers(groups.counts)
    several = int(np.count_nonzero(counts.sum(axis=1) != groups.sizes))
    if several:
        problems.append(
            f"{several} groups count more or fewer sensitive values than people: robustness is defined for"
            " one value per person"
        )
    for label, (low, high) in zip(attribute_sets, groups.priors, strict=True):
        if low.shape != counts.shape or high.shape != counts.shape:
            problems.append(f"priors of [{label}] must have shape {counts.shape}, one row per group")
            continue
        proper = (low >= 0) & (low <= high) & (high <= 1)
        wrong = int(np.count_nonzero(((counts > 0) & ~proper).any(axis=1)))
        if wrong:
            problems.append(
                f"priors of [{label}] must be probabilities from 0 to 1, not so in {wrong} groups"
            )
    if problems:
        raise DataError(problems)
