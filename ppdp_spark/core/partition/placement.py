"""People of one task put into groups that some may find no place in: what all ways to do so share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ppdp_spark.core.criteria.base import LocalCriterion
from ppdp_spark.core.criteria.robustness import RRobustness
from ppdp_spark.core.criteria.robustness.priors import PeoplePriors
from ppdp_spark.core.data.coded_people import Axis, Sensitive
from ppdp_spark.core.data.groups import BoolArray, GroupSummaries, IntArray
from ppdp_spark.core.partition.packed_groups import PackedGroups


class CodedPeople(Protocol):
    """The people of a task: codes of their quasi-identifiers, the scales of those, sensitive values."""

    @property
    def codes(self) -> IntArray: ...

    @property
    def axes(self) -> Sequence[Axis]: ...

    @property
    def sensitive(self) -> Sensitive: ...


@dataclass(frozen=True, eq=False)
class Placed:
    """People in groups: group g has order[bounds[g] : bounds[g + 1]]."""

    order: IntArray
    bounds: IntArray

    @classmethod
    def of_runs(cls, order: IntArray, starts: IntArray, ends: IntArray) -> Placed:
        """The runs [start, end) of an order as groups, one after the other."""
        lengths = ends - starts
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(bounds[-1]) - np.repeat(bounds[:-1], lengths)
        return cls(order[np.repeat(starts, lengths) + within], bounds)

    def beside(self, other: Placed) -> Placed:
        """These groups and those of others."""
        bounds = np.concatenate([self.bounds, self.bounds[-1] + other.bounds[1:]])
        return Placed(np.concatenate([self.order, other.order]), bounds)


@dataclass(frozen=True)
class Placement(ABC):
    """How people are placed.

    where
        criteria    criteria of single groups that need no priors, the necessary ones among them
        robustness  the criterion that needs priors, if it is demanded
    """

    criteria: tuple[LocalCriterion, ...]
    robustness: RRobustness | None

    @property
    def kept_by_unions(self) -> tuple[LocalCriterion, ...]:
        """The criteria that hold for everybody together wherever they hold for parts."""
        return tuple(criterion for criterion in self.criteria if criterion.union_closed)

    def cut(self, people: CodedPeople, priors: PeoplePriors) -> Placed:
        """Everyone in a task into groups, as the partitioner does it."""
        return self.packed(people, priors, np.arange(people.sensitive.people))

    def packed(self, people: CodedPeople, priors: PeoplePriors, some: IntArray) -> Placed:
        """Some of the people bottom-up into groups; those that do not satisfy every criterion dissolve."""
        found = self.pack(people, priors, some)
        order = np.argsort(found.groups, kind="stable")
        first = int(np.count_nonzero(found.groups < 0))
        sizes = np.bincount(found.groups[order[first:]], minlength=found.count)
        bounds = first + np.concatenate([[0], np.cumsum(sizes)])
        chosen = some[order]
        held = self.judge(people, priors, chosen).allowed(bounds[:-1], bounds[1:])
        return Placed.of_runs(chosen, bounds[:-1][held], bounds[1:][held])

    @abstractmethod
    def pack(self, people: CodedPeople, priors: PeoplePriors, some: IntArray) -> PackedGroups:
        """Some of the people bottom-up into groups that need not satisfy every criterion yet."""

    def judge(self, people: CodedPeople, priors: PeoplePriors, order: IntArray) -> RunJudge:
        """Decides about runs of people in an order, by every criterion."""
        robust = () if self.robustness is None else (self.robustness,)
        return RunJudge((*self.criteria, *robust), people.sensitive, priors.of(order), order)


@dataclass(frozen=True, eq=False)
class RunJudge:
    """Decides runs of people in a given order, by every criterion."""

    criteria: tuple[LocalCriterion, ...]
    sensitive: Sensitive
    priors: PeoplePriors
    order: IntArray

    @cached_property
    def _values(self) -> IntArray:
        return self.sensitive.values[self.order]

    def _summaries(self, starts: IntArray, ends: IntArray) -> Iterator[tuple[slice, GroupSummaries]]:
        return self.priors.summaries(self._values, self.sensitive.width, starts, ends)

    def allowed(self, starts: IntArray, ends: IntArray) -> BoolArray:
        """Whether each run [start, end) satisfies every criterion as a group."""
        held = np.ones(len(starts), np.bool_)
        for part, groups in self._summaries(starts, ends):
            for criterion in self.criteria:
                held[part] &= criterion.allowed(groups)
        return held
