"""The public manifest of a release: a function of the spec and of the published content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ppdp_spark.core.data.attributes import Attribute, Ordered
from ppdp_spark.core.data.forms import FORMS, GROUP_ID
from ppdp_spark.core.partition.least_size import LeastSize
from ppdp_spark.errors import DataError
from ppdp_spark.run.criteria.guarantees import public_privacy
from ppdp_spark.run.summary import one_or_all, package_version
from ppdp_spark.spec import ReleaseSpec, SensitiveSpec, WeightSpec


def published_attributes(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The sensitive attributes of a release, `column` and `case` of each: none, one or several."""
    stated = manifest["sensitive"]
    return [] if stated is None else list(stated) if isinstance(stated, list) else [stated]


def known_attributes(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The sensitive attributes that somebody may know of a person: some if they are linked, none if not."""
    linked = manifest.get("linked")
    if linked is None:
        return ()
    names = [attribute["column"] for attribute in published_attributes(manifest)]
    known = linked.get("known") if isinstance(linked, Mapping) else None
    if not known or not isinstance(known, list) or any(name not in names for name in known):
        raise DataError("`linked` in the manifest does not say which sensitive attributes may be known")
    return tuple(name for name in names if name in known)


def public_manifest(
    spec: ReleaseSpec,
    attributes: Sequence[Attribute],
    *,
    rows: Mapping[str, int],
    groups: int,
    suppression: Mapping[str, Any] | None,
    files: Mapping[str, str],
    least: LeastSize | None = None,
    population: str | None = None,
) -> dict[str, Any]:
    """What a reader and `verify` must know of a release.

    where
        attributes   the quasi-identifiers
        rows         how many came in and how many are published
        suppression  what is public of it
        files        digests of the data files
        least        the least size of blind groups
        population   the sum of the weights of those published, if weights are
    """
    form, sensitive = (
        FORMS[spec.output.form],
        [_declared(attribute) for attribute in spec.columns.attributes],
    )
    ordered = {attribute.name: isinstance(attribute, Ordered) for attribute in attributes}
    together = spec.columns.household
    households = {} if together is None else {"households": together.model_dump(exclude={"column"})}
    weights = {} if spec.columns.weight is None else {"weights": _weights(spec.columns.weight, population)}
    return {
        "format": 1,
        "version": package_version(),
        "dataset": spec.dataset,
        "form": form.name,
        "partitioner": spec.partitioner,
        **({} if least is None else {"blind": {"least_size": least.size, "chosen": least.chosen}}),
        "privacy": public_privacy(spec),
        "suppression": suppression,
        "rows": rows,
        "groups": groups,
        "columns": {
            "group": GROUP_ID,
            "quasi_identifiers": [
                column for name, numeric in ordered.items() for column in form.columns(name, ordered=numeric)
            ],
            "ranges": [name for name, numeric in ordered.items() if form.has_bounds(ordered=numeric)],
            "publish_as_is": list(spec.columns.publish_as_is),
            **_ranging(spec),
        },
        **_bounds(spec, attributes),
        "sensitive": one_or_all(sensitive),
        **({"linked": {"known": list(spec.columns.known)}} if spec.columns.known else {}),
        **households,
        **weights,
        "files": files,
    }


def _weights(weight: WeightSpec, population: str | None) -> dict[str, Any]:
    """The column of weights and their sum, if they are published; else only that there are some."""
    if not weight.publish:
        return {"publish": False}
    return {"publish": True, "column": weight.column, "population": population}


def _ranging(spec: ReleaseSpec) -> dict[str, list[str]]:
    """Quasi-identifiers of which people may have several values, all of them covered."""
    names = list(spec.columns.quasi_identifiers)
    ranging = [names[place] for place in spec.columns.ranging]
    return {"ranging": ranging} if ranging else {}


def _declared(attribute: SensitiveSpec) -> dict[str, Any]:
    """A sensitive attribute, and which of its values are protected."""
    return attribute.model_dump(mode="json", exclude_none=True, exclude={"may_be_absent"})


def _bounds(spec: ReleaseSpec, attributes: Sequence[Attribute]) -> dict[str, Any]:
    """By what rule the ends of ranges were chosen, and the steps of the grid they lie on."""
    if spec.output.bounds_rule is None:
        return {}
    ordered = [attribute for attribute in attributes if isinstance(attribute, Ordered)]
    steps = {each.name: str(each.grid.step) for each in ordered if each.grid is not None}
    return {"bounds": {"rule": spec.output.bounds_rule, "steps": steps}}
