"""The algorithm-aware audit: what a reader concludes who knows the program that made the groups.

The reader knows everybody's quasi-identifiers, takes all assignments of values to people to be equally
likely, and knows that each cut that Mondrian tried and did not make was refused [Wong et al. 2007].
Everything here is a function of quasi-identifiers and published counts: that a release passes tells nothing
else.

Where a refused cut is above too many people, too many cuts bind groups, or hardly any draw refuses what was
refused, there is no answer, which is counted and never taken for a good one. Left out is what the choice of
the fragments tells, into which tables of more than a few hundred thousand people are cut first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from ppdp_spark.core.attacks.bound_groups import Bound, bound_groups
from ppdp_spark.core.attacks.program_posteriors import AuditEffort, ProgramPosteriors, program_posteriors
from ppdp_spark.core.attacks.refused_cuts import FinishedGroups, RefusedCuts, branches, ranges
from ppdp_spark.core.criteria.base import LocalCriterion, VerdictRow
from ppdp_spark.core.data.coded_people import Axis, Partition, Sensitive
from ppdp_spark.core.data.groups import COUNT_CELLS, BoolArray, FloatArray, GroupSummaries, IntArray
from ppdp_spark.core.data.sorting import radix_order
from ppdp_spark.core.partition.partitioners import CutsName

NAME = "algorithm_aware"

CONFIDENCE = 0.99
"""With this chance all intervals of an audit hold at the same time."""

_UNITS = 1 << 28
"""People that a posterior is turned into, to be judged by criteria as if it were a group."""

BRANCH = 1024
"""People of a branch of the tree at most: what was refused above more of them is not looked at."""

FEWEST = 100
"""Draws that refuse every cut, below which there is no answer."""


class Place(NamedTuple):
    """The largest posterior that cannot be ruled out, and the group it is in.

    where
        high   the upper end of its interval
        found  the largest posterior that was found in the group
        share  the largest share of a value in the group, which is what criteria bound
        size   people in the group
        exact  whether the posterior is exact
    """

    high: float
    found: float
    share: float
    size: int
    exact: bool


@dataclass(frozen=True)
class Audited:
    """What an audit found in some of the groups.

    where
        groups      groups looked at
        people      people in them
        bound       groups that a cut goes through which was refused because of values
        exact       of these, how many were computed exactly
        unanswered  of these, how many there is no answer for
        unknown     people in those
        beyond      people whose posterior does not satisfy the criteria of a group
        undecided   people whose interval has such posteriors and others
        failing     groups that may have a posterior above the limit
        worst       the largest posterior that cannot be ruled out where there is an answer; None if nowhere
    """

    groups: int = 0
    people: int = 0
    bound: int = 0
    exact: int = 0
    unanswered: int = 0
    unknown: int = 0
    beyond: int = 0
    undecided: int = 0
    failing: int = 0
    worst: Place | None = None

    def merged(self, other: Audited) -> Audited:
        """What was found in both."""
        numbers = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "worst"}
        sums = {name: number + getattr(other, name) for name, number in numbers.items()}
        places = [place for place in (self.worst, other.worst) if place is not None]
        return Audited(**sums, worst=max(places, default=None))


@dataclass(frozen=True)
class AlgorithmAwareAudit:
    """Audits groups that Mondrian made with these criteria, all groups at once.

    where
        criteria  what decided about cuts
        least     the fewest people that a group can have under them
        people    people looked at, at most: intervals are so wide that all of them hold at the same time
        one_in    one branch of the tree of so many is looked at, chosen by what is published of it
        limit     posteriors above it fail; None if nothing is demanded
        branch    people of a branch at most
        cuts      which cuts were tried, and in which order
    """

    criteria: tuple[LocalCriterion, ...]
    least: int
    people: int
    one_in: int = 1
    limit: float | None = None
    branch: int = BRANCH
    effort: AuditEffort = field(default=AuditEffort())
    cuts: CutsName = "median"

    def audit(
        self, codes: IntArray, sensitive: Sensitive, groups: Partition, axes: Sequence[Axis]
    ) -> Audited:
        """What is found in the chosen branches; people have one value each."""
        found = self.examined(codes, sensitive, groups, axes)
        return Audited() if found is None else found.audited(self)

    def examined(
        self, codes: IntArray, sensitive: Sensitive, groups: Partition, axes: Sequence[Axis]
    ) -> Examined | None:
        """The posteriors in the chosen branches; None if there are none."""
        names = group_names(groups)
        chosen = self._chosen(groups, names)
        if not len(chosen):
            return None
        finished = FinishedGroups.of(codes, groups, axes, self.criteria, least=self.least, cuts=self.cuts)
        starts, ends = groups.starts[chosen], groups.starts[chosen + 1]
        place, _ = ranges(starts, ends)
        bounds = np.concatenate([[0], np.cumsum(ends - starts)])
        values, own = sensitive.values[groups.order[place]], finished.codes[place]
        counting = [criterion for criterion in self.criteria if criterion.needs_counts]
        refused = large = RefusedCuts.none()
        if counting:
            refused, large = finished.refused(chosen, self.branch)
        bound = bound_groups(own, values, bounds, refused, sensitive.width)
        b = bound.bundles
        chance = (1 - CONFIDENCE) * b.summed(b.people) / max(1, self.people)
        seeds = names[chosen][b.groups[b.group_starts[:-1]]]
        inside = program_posteriors(b, counting, seeds, chance, self.effort)
        lost = bound.tangled | _through(large, groups, chosen)
        shares = _largest_shares(values, bounds)
        return Examined(groups.order[place], values, bounds, shares, bound, inside, lost)

    def _chosen(self, groups: Partition, names: IntArray) -> IntArray:
        """The groups of the branches to look at."""
        first = branches(groups, self.branch)
        wanted = names[first] % np.uint64(self.one_in) == 0
        return np.flatnonzero(np.repeat(wanted, np.diff(np.append(first, len(names)))))

    def decide(self, found: Audited) -> list[VerdictRow]:
        """The verdict, as one row."""
        worst, known = found.worst, found.worst is not None and not found.failing
        status = "measured" if self.limit is None else "pass" if known else "fail"
        return [
            VerdictRow(
                NAME,
                level_of(self.one_in),
                None if worst is None else worst.high,
                self.limit,
                "<=",
                found.groups,
                found.failing,
                status,
                witness_of(found),
                {"confidence": self._confidence(found), "one_in": self.one_in},
            )
        ]

    def _confidence(self, found: Audited) -> float:
        """The chance that all intervals hold: less than intended if a sample is larger than expected."""
        return max(0.0, 1 - (1 - CONFIDENCE) * max(1.0, found.people / max(1, self.people)))


@dataclass(frozen=True)
class Examined:
    """Posteriors in some groups.

    where
        people  everybody in these groups, in the order of the groups
        values  the value of each of them
        bounds  the borders of the groups among them
        shares  the largest share of a value in each group
        bound   what binds the groups
        inside  posteriors of the groups in bundles; elsewhere they are the shares in the group
        lost    whether a group is bound by what was not looked at
    """

    people: IntArray
    values: IntArray
    bounds: IntArray
    shares: FloatArray
    bound: Bound
    inside: ProgramPosteriors
    lost: BoolArray

    @property
    def answered(self) -> BoolArray:
        """Whether each bundle has an answer: draws enough, and no group that other refusals bind, too."""
        b, lost = self.inside.bundles, self._standing(self.lost)
        free = b.summed(lost.astype(np.int64)) == 0
        return np.asarray(free & (self.inside.exact | (self.inside.accepted >= FEWEST)))

    @property
    def known(self) -> BoolArray:
        """Whether each group has an answer."""
        known, tied = ~self.lost, self.bound.inside >= 0
        known[tied] = self.answered[self.inside.bundles.bundle[self.bound.inside[tied]]]
        return known

    def _standing(self, of_groups: BoolArray) -> BoolArray:
        """What holds of a group, where it stands in a bundle with a refused cut going through it."""
        b = self.inside.bundles
        divided = self.bound.inside[b.groups] == np.arange(len(b.groups))
        return np.asarray(of_groups[b.groups] & divided)

    def audited(self, audit: AlgorithmAwareAudit) -> Audited:
        """What is found of all of them together."""
        sizes, known, tied = np.diff(self.bounds), self.known, self.bound.inside >= 0
        place, b = self.bound.inside[tied], self.inside.bundles
        high, found, exact = self.shares.copy(), self.shares.copy(), np.ones(len(sizes), np.bool_)
        high[tied] = self.inside.largest(self.inside.high)[place]
        found[tied] = self.inside.largest(self.inside.found)[place]
        exact[tied] = self.inside.exact[b.bundle[place]]
        beyond, undecided = self._judged(audit.criteria)
        above = np.zeros(len(sizes), np.bool_) if audit.limit is None else high > audit.limit + _ROUNDING
        failing = above | (~known if audit.limit is not None else False)
        return Audited(
            groups=len(sizes),
            people=int(sizes.sum()),
            bound=int(np.count_nonzero(tied | self.lost)),
            exact=int(np.count_nonzero(exact & tied & known)),
            unanswered=int(np.count_nonzero(~known)),
            unknown=int(sizes[~known].sum()),
            beyond=beyond,
            undecided=undecided,
            failing=int(np.count_nonzero(failing)),
            worst=_worst(high[known], found[known], self.shares[known], sizes[known], exact[known]),
        )

    def limits(self) -> tuple[FloatArray, FloatArray]:
        """For each of the people, and each value, the limits of the posterior: alike where it is exact."""
        width, b = self.inside.bundles.width, self.inside.bundles
        group = np.repeat(np.arange(len(self.shares)), np.diff(self.bounds))
        share = np.zeros((len(self.shares), width))
        np.add.at(share, (group, self.values), 1.0)
        share /= np.diff(self.bounds)[:, None]
        low, high = share[group], share[group]
        tied = np.flatnonzero(self.bound.inside >= 0)
        starts = np.concatenate([[0], np.cumsum(b.people)])[self.bound.inside[tied]]
        member, _ = ranges(starts, starts + np.diff(self.bounds)[tied])
        asked, _ = ranges(self.bounds[tied], self.bounds[tied + 1])
        low[asked] = self.inside.dense(self.bound.class_of[member], self.inside.low)
        high[asked] = self.inside.dense(self.bound.class_of[member], self.inside.high)
        unknown = ~self.known[group]
        low[unknown], high[unknown] = 0.0, 1.0
        return low, high

    def _judged(self, criteria: Sequence[LocalCriterion]) -> tuple[int, int]:
        """People whose posterior as a group breaks a criterion, and those of whom that is not decided."""
        inside, beyond, undecided = self.inside, 0, 0
        b, group = inside.bundles, inside.group
        counting = [criterion for criterion in criteria if criterion.needs_counts]
        everywhere = np.ones(len(self.shares), np.bool_)
        wanted = np.flatnonzero((self._standing(everywhere) & self.answered[b.bundle])[group])
        near = np.clip(inside.shares, inside.low, inside.high)
        far = np.where(inside.found >= inside.shares, inside.high, inside.low)
        step = max(1, COUNT_CELLS // (4 * b.width))
        for first in range(0, len(wanted), step):
            some = wanted[first : first + step]
            counted = inside.integers[b.bundle[group[some]]]
            surely, perhaps = (self._broken(counting, some, cells, counted) for cells in (near, far))
            beyond += int(b.sizes[some][surely].sum())
            undecided += int(b.sizes[some][perhaps & ~surely].sum())
        return beyond, undecided

    def _broken(
        self, criteria: Sequence[LocalCriterion], classes: IntArray, cells: FloatArray, counted: BoolArray
    ) -> BoolArray:
        """Whether a criterion does not allow a group whose values are distributed as the cells of a class.

        Numbers of assignments are such a group themselves. Elsewhere it is made of multiples of the counts of
        the group itself, and of what the posterior differs by from its shares, rounded away from them.
        """
        inside, b = self.inside, self.inside.bundles
        shares, people = inside.dense(classes, inside.shares), b.people[inside.group[classes]][:, None]
        times = np.maximum(1, _UNITS // people)
        apart = inside.dense(classes, cells) - shares
        rounded = np.where(
            np.abs(apart) < _ROUNDING, 0, np.sign(apart) * np.ceil(np.abs(apart) * people * times)
        )
        counts = np.maximum(0, np.rint(shares * people).astype(np.int64) * times + rounded.astype(np.int64))
        assignments = inside.dense(classes, inside.sums).astype(np.int64)
        enough = -(-people // np.maximum(1, assignments.sum(axis=1, keepdims=True)))
        counts = np.where(counted[:, None], assignments * enough, counts)
        groups = GroupSummaries(counts.sum(axis=1), counts)
        broken = np.zeros(len(groups), np.bool_)
        for criterion in criteria:
            broken |= ~criterion.allowed(groups)
        return broken


_ROUNDING = 1e-9
"""Posteriors that differ by less are alike: they are quotients of sums."""


def _worst(
    high: FloatArray, found: FloatArray, share: FloatArray, size: IntArray, exact: BoolArray
) -> Place | None:
    """The group with the largest upper end, the others decide between those that are alike."""
    if not len(high):
        return None
    at = np.lexsort((exact, -size, -share, -found, -high))[0]
    return Place(float(high[at]), float(found[at]), float(share[at]), int(size[at]), bool(exact[at]))


def _through(large: RefusedCuts, groups: Partition, chosen: IntArray) -> BoolArray:
    """Whether one of these cuts goes through each of the chosen groups."""
    _, group, through = large.through(groups.lowest[chosen], groups.highest[chosen])
    found = np.zeros(len(chosen), np.bool_)
    found[group[through]] = True
    return found


def _largest_shares(values: IntArray, bounds: IntArray) -> FloatArray:
    """The largest share of a value in each group."""
    sizes = np.diff(bounds)
    ordered = values[radix_order([np.repeat(np.arange(len(sizes)), sizes), values])]
    new = np.ones(len(ordered), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    new[bounds[:-1]] = True
    first = np.flatnonzero(new)
    counts = np.diff(np.append(first, len(ordered)))
    return np.asarray(np.maximum.reduceat(counts, np.searchsorted(first, bounds[:-1])) / sizes)


def group_names(groups: Partition) -> IntArray:
    """A number for each group that is a function of its box and its size, spread evenly over 64 bits."""
    columns = [np.diff(groups.starts), *groups.lowest.T, *groups.highest.T]
    names: IntArray = np.zeros(len(groups.starts) - 1, np.uint64)
    for column in columns:
        names = _mixed(names + np.uint64(0x9E3779B97F4A7C15) + column.astype(np.uint64))
    return names


def _mixed(state: IntArray) -> IntArray:
    """The output function of SplitMix64 [Steele et al. 2014]."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(state ^ (state >> np.uint64(31)))


def level_of(one_in: int) -> str:
    """What was looked at, readable."""
    looked = "every group" if one_in == 1 else f"one branch of the tree in {one_in:,}"
    return f"posterior of a reader who knows the program, {looked}"


def witness_of(found: Audited) -> dict[str, Any]:
    """What was found, as plain facts."""
    told: dict[str, Any] = {
        "people looked at": found.people,
        "people beyond the criteria": found.beyond,
        "people undecided": found.undecided,
        "people without an answer": found.unknown,
        "groups bound by refused cuts": found.bound,
        "computed exactly": found.exact,
        "without an answer": found.unanswered,
    }
    if found.worst is not None:
        place = found.worst
        told["worst group"] = {
            "posterior found": place.found,
            "exact": place.exact,
            "largest share": place.share,
            "people": place.size,
        }
    return told
