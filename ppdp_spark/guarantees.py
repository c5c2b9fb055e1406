"""From the `privacy` section of a spec to criteria over codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ppdp_spark.core import criteria as K
from ppdp_spark.core.criteria.base import Criterion, LocalCriterion, Measured, VerdictRow
from ppdp_spark.core.robustness import RRobustness
from ppdp_spark.core.skyline import LocalSkyline, Point, Skyline, SkylineCriterion, Target
from ppdp_spark.spec import Privacy, ReleaseSpec, SkylinePoint


def local_criteria(privacy: Privacy, distribution: Sequence[int]) -> tuple[LocalCriterion, ...]:
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


def robust_criterion(privacy: Privacy, *, published: bool = False) -> RRobustness | None:
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


def attribute_labels(privacy: Privacy) -> tuple[str, ...]:
    """The attribute sets of the priors, readable."""
    wanted = privacy.robustness
    return () if wanted is None else tuple(", ".join(prior.attributes) for prior in wanted.priors)


_DIVERSITY: dict[str, Callable[[Any], LocalCriterion]] = {
    "distinct": lambda d: K.DistinctDiversity(int(d.l)),
    "entropy": lambda d: K.EntropyDiversity(d.l),
    "recursive": lambda d: K.RecursiveDiversity(d.c, int(d.l)),
}


def skyline_targets(privacy: Privacy, labels: Sequence[str]) -> tuple[Target, ...]:
    """Every sensitive value under each point of its own skyline, or of the default one."""
    if privacy.skyline is None:
        return ()
    codes = {label: code for code, label in enumerate(labels)}
    named = {
        codes[label]: _points(points) for label, points in privacy.skyline.values.items() if label in codes
    }
    return Skyline(_points(privacy.skyline.default), named).targets(labels)


def absent_values(privacy: Privacy, labels: Sequence[str]) -> tuple[str, ...]:
    """Values that have a skyline of their own but do not occur: usually a misspelling."""
    named = privacy.skyline.values if privacy.skyline is not None else {}
    return tuple(value for value in named if value not in set(labels))


def _points(points: Sequence[SkylinePoint]) -> tuple[Point, ...]:
    return tuple(Point(p.l, p.k, p.m, p.c) for p in points)


def criteria_of(
    privacy: Privacy, *, labels: Sequence[str], counts: Sequence[int], case: str
) -> tuple[Criterion[Any], ...]:
    """Every criterion of a spec, over sensitive values coded in the order of `labels`."""
    targets = skyline_targets(privacy, labels)
    skyline = [SkylineCriterion(case, targets)] if targets else []  # type: ignore[arg-type]
    return (*local_criteria(privacy, counts), *skyline)


def separable_criteria(
    privacy: Privacy, *, labels: Sequence[str], counts: Sequence[int], case: str
) -> tuple[LocalCriterion, ...]:
    """Criteria that each group meets by itself: skyline points with m = 0 are among them."""
    targets = tuple(target for target in skyline_targets(privacy, labels) if target.point.m == 0)
    skyline = [LocalSkyline(case, targets)] if targets else []  # type: ignore[arg-type]
    return (*local_criteria(privacy, counts), *skyline)


def coupled_skyline(privacy: Privacy, *, labels: Sequence[str], case: str) -> SkylineCriterion | None:
    """Skyline points with m > 0: they couple the groups of a release."""
    targets = tuple(target for target in skyline_targets(privacy, labels) if target.point.m > 0)
    return SkylineCriterion(case, targets) if targets else None  # type: ignore[arg-type]


def public_privacy(spec: ReleaseSpec) -> dict[str, Any]:
    """The criteria and their thresholds as the public manifest states them: no path of a file."""
    plain: dict[str, Any] = spec.to_dict()["privacy"]
    for prior in plain.get("robustness", {}).get("priors", ()):
        prior.pop("path", None)
    return plain


def measured_criteria(privacy: Privacy, distribution: Sequence[int]) -> tuple[Measured, ...]:
    """Every criterion that `privacy` does not demand: a check says what a table achieves anyway."""
    counts = tuple(distribution)
    all_of_them = [Measured(K.KAnonymity(2), "smallest group")]
    if sum(counts):
        all_of_them += [
            Measured(K.AlphaK(1, 2), "largest share of one value"),
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
