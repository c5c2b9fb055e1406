"""The forms of a release by name, as what writes and reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ppdp_spark.errors import DataError
from ppdp_spark.run.storage import MANIFEST
from ppdp_spark.spark.release.bucketized import BucketizedForm
from ppdp_spark.spark.release.generalized import GeneralizedForm, RowwiseForm
from ppdp_spark.spark.release.publication import FormOnSpark
from ppdp_spark.spec import ReleaseSpec

ON_SPARK: dict[str, FormOnSpark] = {
    form.traits.name: form for form in (GeneralizedForm(), BucketizedForm(), RowwiseForm())
}


def form_of(spec: ReleaseSpec) -> FormOnSpark:
    """The form that a spec asks for."""
    return ON_SPARK[spec.output.form]


def form_in(manifest: Mapping[str, Any]) -> FormOnSpark:
    """The form of the release that a manifest is about."""
    name = str(manifest["form"])
    if name not in ON_SPARK:
        known = ", ".join(ON_SPARK)
        raise DataError(f"`form` in {MANIFEST} is none of {known}: was it made by a newer version?")
    return ON_SPARK[name]
