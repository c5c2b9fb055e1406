"""Ways to place people: what decides about cuts, and what about groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ppdp_spark.core.criteria import KAnonymity
from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.robustness.priors import PeoplePriors
from ppdp_spark.core.data.coded_people import Axis, Sensitive
from ppdp_spark.core.partition.art import TreePlacement

NOTHING_KNOWN = PeoplePriors((), ())


@dataclass(frozen=True)
class AtMost(LocalCriterion):
    """No group of more than so many people: two small groups together may be too large."""

    people: int

    name = "at_most"
    higher_is_safer = False
    relation = "<="
    union_closed = False

    @property
    def level(self):
        return f"{self.people} people"

    @property
    def threshold(self):
        return float(self.people)

    def achieved(self, groups):
        return groups.sizes.astype(np.float64)

    def allowed(self, groups):
        return groups.sizes <= self.people


@dataclass(frozen=True)
class Line:
    """People one after the other along one attribute, of one value each."""

    codes: np.ndarray
    sensitive: Sensitive
    axes: tuple[Axis, ...] = (Axis(1 / 100, -1.0),)

    @classmethod
    def of(cls, number):
        codes = np.arange(1, number + 1, dtype=np.int32)[:, None]
        return cls(codes, Sensitive.single(np.zeros(number, np.int32), 1))


def test_criteria_that_unions_do_not_keep_choose_groups_and_forbid_no_cut():
    placement = TreePlacement((KAnonymity(3), AtMost(5)), None, 2)
    assert placement.kept_by_unions == (KAnonymity(3),)
    placed = placement.cut(Line.of(64), NOTHING_KNOWN)
    sizes = np.diff(placed.bounds)
    assert sorted(placed.order) == list(range(64))
    assert sizes.min() >= 3 and sizes.max() <= 5


def test_a_tree_without_allowed_cuts_is_one_group():
    placed = TreePlacement((KAnonymity(40),), None, 2).cut(Line.of(64), NOTHING_KNOWN)
    assert placed.bounds.tolist() == [0, 64]
