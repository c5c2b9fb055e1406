"""What a command needs of a spec beyond being valid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ppdp_spark.spec.attack import lacking_for_attack

if TYPE_CHECKING:
    from ppdp_spark.spec.release import Command, ReleaseSpec

NO_INPUT = "`input` is missing: add `input: {path: data/census.parquet}`"
NO_CRITERIA = "`privacy` demands nothing: add at least one criterion, such as `k_anonymity: 10`"


def lacking(spec: ReleaseSpec, command: Command, *, table_given: bool = False) -> Iterator[str]:
    """Problems of a spec that a command would meet, each with its fix."""
    attacks_ours = command == "attack" and spec.attack is not None and spec.attack.release is not None
    if spec.input is None and not (table_given or attacks_ours):
        yield NO_INPUT
    if command == "eligibility":  # asks whether `anonymize` can succeed
        command = "anonymize"
    if command == "anonymize":
        yield from _placing_problems(spec)
    if command == "explore" and spec.privacy.robustness is not None:
        yield "`privacy.robustness` is not part of `explore`: use `ppdp check`, or remove it"
    if command == "anonymize" and not spec.privacy.criteria:
        yield NO_CRITERIA
    if command == "anonymize" and not spec.columns.quasi_identifiers:
        yield "`columns.quasi_identifiers` is empty: name at least one column"
    if command == "anonymize" and spec.suppression.method == "unsafe-d":
        yield "`suppression.method` (unsafe-d) is for study only and never published: use r or safe-d"
    if command in ("anonymize", "suppress") and spec.output.path is None:
        yield "`output.path` is missing: add `output: {path: out/census}`"
    if command == "suppress" and spec.suppression.method == "none":
        yield "`suppression.method` (none) suppresses nothing: use r or safe-d"
    if command == "explore" and spec.columns.sensitive is None:
        yield f"`columns.sensitive` is missing: `{command}` needs it"
    if command in ("check", "explore") and not (spec.columns.group or spec.columns.quasi_identifiers):
        yield "`columns.group` and `columns.quasi_identifiers` are both empty: groups need one of them"
    if command == "attack":
        yield from lacking_for_attack(spec.attack, spec.columns)


def _placing_problems(spec: ReleaseSpec) -> Iterator[str]:
    """What robustness, ART and Anatomy need, and what they cannot be combined with."""
    privacy = spec.privacy
    if spec.partitioner == "art" and privacy.robustness is None:
        yield "`partitioner` (art) needs `privacy.robustness`: add it, or use mondrian or anatomy"
    if spec.partitioner == "anatomy" and privacy.l_diversity is None:
        yield "`partitioner` (anatomy) needs `privacy.l_diversity`: add it, or use mondrian"
    if spec.partitioner == "mondrian" and privacy.robustness is None:
        return
    robust = privacy.robustness is not None
    cause = "`privacy.robustness`" if robust else f"`partitioner` ({spec.partitioner})"
    for name in ("t_closeness", "beta_likeness", "delta_disclosure"):
        if getattr(privacy, name) is not None:
            yield (
                f"`privacy.{name}` cannot be combined with {cause}: people without a place are "
                "suppressed, which changes the distribution it compares with; remove one of them"
            )
    skyline = privacy.skyline
    own = [] if skyline is None else [skyline.default, *skyline.values.values()]
    points = [point for some in own for point in some]
    if any(point.m > 0 for point in points):
        yield f"`privacy.skyline` with m above 0 cannot be combined with {cause}: use points with m = 0"
