"""From the `privacy` section of a spec to criteria over codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ppdp_spark.core import criteria as K
from ppdp_spark.core.criteria.base import Criterion, LocalCriterion, Measured, VerdictRow
from ppdp_spark.core.criteria.robustness import RRobustness
from ppdp_spark.core.criteria.skyline import LocalSkyline, Point, Skyline, SkylineCriterion, Target
from ppdp_spark.core.data.groups import GroupSummaries
from ppdp_spark.core.data.value_names import codes_of_names
from ppdp_spark.errors import SpecError
from ppdp_spark.spec import PrivacySpec, ReleaseSpec, SkylinePointSpec
from ppdp_spark.spec.messages import dotted
from ppdp_spark.spec.nearest import nearest


def local_criteria(privacy: PrivacySpec, distribution: Sequence[int]) -> tuple[LocalCriterion, ...]:
    """Criteria that each group satisfies by itself and that need no priors, cheapest first.

    `distribution` is how often each sensitive value occurs in the table the release describes.
    """
    counts = tuple(distribution)
    wanted: list[LocalCriterion] = []
    if privacy.k_anonymity is not None:
        wanted.append(K.KAnonymity(privacy.k_anonymity))
    if privacy.alpha_k is not None:
        wanted.append(K.AlphaK(privacy.alpha_k.alpha, privacy.alpha_k.k))
    if privacy.l_diversity is not None:
        wanted.append(_DIVERSITY[privacy.l_diversity.kind](privacy.l_diversity))
    if privacy.t_closeness is not None:
        ordered = privacy.t_closeness.distance == "ordered"
        wanted.append(K.TCloseness(privacy.t_closeness.t, counts, ordered))
    if privacy.beta_likeness is not None:
        enhanced = privacy.beta_likeness.kind == "enhanced"
        likeness = K.EnhancedBetaLikeness if enhanced else K.BasicBetaLikeness
        wanted.append(likeness(privacy.beta_likeness.beta, counts))
    if privacy.delta_disclosure is not None:
        wanted.append(K.DeltaDisclosure(privacy.delta_disclosure.delta, counts))
    return tuple(wanted)


def robust_criterion(privacy: PrivacySpec, *, published: bool = False) -> RRobustness | None:
    """r-robustness, which looks at priors as well; None if it is not demanded.

    `published` asks for the form of ART in the binary model: each value at most once a group.
    """
    wanted = privacy.robustness
    if wanted is None:
        return None
    unique = published and wanted.model == "binary"
    return RRobustness(wanted.r, wanted.model, attribute_labels(privacy), unique)


def value_labels(rows: Sequence[VerdictRow], labels: Sequence[str]) -> list[VerdictRow]:
    """Verdict rows whose witness names a sensitive value by its label instead of its code."""
    coded = [row.witness.get("value") for row in rows]
    return [
        row if code is None else replace(row, witness={**row.witness, "value": labels[code]})
        for row, code in zip(rows, coded, strict=True)
    ]


def attribute_labels(privacy: PrivacySpec) -> tuple[str, ...]:
    """The attribute sets of the priors, readable."""
    wanted = privacy.robustness
    return () if wanted is None else tuple(", ".join(prior.attributes) for prior in wanted.priors)


_DIVERSITY: dict[str, Callable[[Any], LocalCriterion]] = {
    "distinct": lambda d: K.DistinctDiversity(int(d.l)),
    "entropy": lambda d: K.EntropyDiversity(d.l),
    "recursive": lambda d: K.RecursiveDiversity(d.c, int(d.l)),
}


@dataclass(frozen=True)
class ValueDomain:
    """The sensitive values that criteria are about, in the order of their codes.

    where
        labels  their names
        counts  how often each occurs
        case    what a reader sees of the values of a person
        kind    the type of the column, by which names in a spec are compared
    """

    labels: Sequence[str]
    counts: Sequence[int]
    case: str = "svpi"
    kind: str = "string"


def skyline_targets(privacy: PrivacySpec, domain: ValueDomain) -> tuple[Target, ...]:
    """Every sensitive value under each point of its own skyline, or of the default one."""
    if privacy.skyline is None:
        return ()
    codes = codes_of_names(privacy.skyline.values, domain.labels, domain.kind)
    points = {code: privacy.skyline.values[name] for name, code in codes.items() if code is not None}
    named = {code: _points(own) for code, own in points.items()}
    return Skyline(_points(privacy.skyline.default), named).targets(domain.labels)


def require_named_values(privacy: PrivacySpec, domain: ValueDomain) -> None:
    """Raise one `SpecError` unless every value with a skyline of its own occurs, or may be absent.

    A misspelt name would leave the value it was meant for unprotected.
    """
    if privacy.skyline is None:
        return
    problems, taken = [], dict[int, str]()
    for name, code in codes_of_names(privacy.skyline.values, domain.labels, domain.kind).items():
        place = f"`{dotted(('privacy', 'skyline', 'values', name))}`"
        if code is None and name not in privacy.skyline.may_be_absent:
            near = nearest(name, domain.labels)
            hint = f"did you mean `{near}`?" if near is not None else "check its spelling"
            problems.append(
                f"{place}: no row that takes part has this value; {hint} (a value that need not occur "
                "belongs in `privacy.skyline.may_be_absent`)"
            )
        elif code is not None and code in taken:
            problems.append(f"{place}: `{taken[code]}` is the same value; keep one of them")
        elif code is not None:
            taken[code] = name
    if problems:
        raise SpecError(problems)


def _points(points: Sequence[SkylinePointSpec]) -> tuple[Point, ...]:
    return tuple(Point(p.l, p.k, p.m, p.c) for p in points)


def criteria_of(privacy: PrivacySpec, domain: ValueDomain) -> tuple[Criterion[Any], ...]:
    """Every criterion of a spec that applies to a value of the domain, or to groups as such."""
    targets = skyline_targets(privacy, domain)
    skyline = [SkylineCriterion(domain.case, targets)] if targets else []  # type: ignore[arg-type]
    return (*local_criteria(privacy, domain.counts), *skyline)


def promises_nothing(privacy: PrivacySpec, criteria: Sequence[Criterion[Any]], domain: ValueDomain) -> bool:
    """Whether a release may show everybody alone, whatever their value: it guarantees nothing then.

    So it is where no criterion applies to a value that occurs, and where all that do are so weak that
    groups of one person satisfy them, such as t-closeness with t = 1.
    """
    if privacy.robustness is not None:
        return False
    width = max(1, len(domain.labels))
    for first in range(0, min(width, _VALUES_ALONE), _AT_ONCE):
        values = np.arange(first, min(first + _AT_ONCE, width, _VALUES_ALONE))
        counts = np.zeros((len(values), width), np.int64)
        counts[np.arange(len(values)), values] = 1
        alone = GroupSummaries(np.ones(len(values), np.int64), counts)
        rows = (row for c in criteria for row in c.decide(c.summarise(alone, np.arange(1, len(values) + 1))))
        if not all(row.ok for row in rows):
            return False
    return True


_VALUES_ALONE, _AT_ONCE = 256, 16
"""Values, the first in order, of which one person is looked at alone, and how many at a time."""

NOTHING = VerdictRow(
    "guarantees", "a criterion forbids that somebody is shown alone", 0.0, 1.0, ">=", 0, 1, "fail"
)
"""The verdict on a release that promises nothing."""


def unknown_names(privacy: PrivacySpec, domain: ValueDomain) -> tuple[str, ...]:
    """Values with a skyline of their own that do not occur, though they must."""
    if privacy.skyline is None:
        return ()
    codes = codes_of_names(privacy.skyline.values, domain.labels, domain.kind)
    absent = set(privacy.skyline.may_be_absent)
    return tuple(name for name, code in codes.items() if code is None and name not in absent)


def separable_criteria(privacy: PrivacySpec, domain: ValueDomain) -> tuple[LocalCriterion, ...]:
    """Criteria that each group meets by itself: skyline points with m = 0 are among them."""
    targets = tuple(target for target in skyline_targets(privacy, domain) if target.point.m == 0)
    skyline = [LocalSkyline(domain.case, targets)] if targets else []  # type: ignore[arg-type]
    return (*local_criteria(privacy, domain.counts), *skyline)


def coupled_skyline(privacy: PrivacySpec, domain: ValueDomain) -> SkylineCriterion | None:
    """Skyline points with m > 0: they couple the groups of a release."""
    targets = tuple(target for target in skyline_targets(privacy, domain) if target.point.m > 0)
    return SkylineCriterion(domain.case, targets) if targets else None  # type: ignore[arg-type]


def public_privacy(spec: ReleaseSpec) -> dict[str, Any]:
    """The criteria and their thresholds as the public manifest states them: no path of a file."""
    plain: dict[str, Any] = spec.to_dict()["privacy"]
    for prior in plain.get("robustness", {}).get("priors", ()):
        prior.pop("path", None)
        prior.pop("may_be_absent", None)
    return plain


def measured_criteria(privacy: PrivacySpec, domain: ValueDomain) -> tuple[Measured, ...]:
    """Every criterion that `privacy` does not demand: a check says what a table achieves anyway.

    With several values a person, only the share of people who have a value says what a reader can
    infer of one person: diversity and closeness are defined for one value a person.
    """
    counts = tuple(domain.counts)
    all_of_them = [Measured(K.KAnonymity(2), "smallest group")]
    if sum(counts):
        all_of_them.append(Measured(K.AlphaK(1, 2), "largest share of one value"))
    if sum(counts) and domain.case == "svpi":
        all_of_them += [
            Measured(K.DistinctDiversity(2), "fewest distinct values"),
            Measured(K.EntropyDiversity(2), "least exp(entropy)"),
            Measured(K.RecursiveDiversity(1, 2), "largest r₁ / (r₂ + … + rₘ)"),
            Measured(K.TCloseness(1, counts, False), "largest distance, equal"),
            Measured(K.TCloseness(1, counts, True), "largest distance, ordered"),
            Measured(K.BasicBetaLikeness(1, counts), "largest relative gain"),
            Measured(K.DeltaDisclosure(1, counts), "largest |ln ratio|"),
        ]
    demanded = {criterion.name for criterion in local_criteria(privacy, counts)}
    return tuple(criterion for criterion in all_of_them if criterion.name not in demanded)
