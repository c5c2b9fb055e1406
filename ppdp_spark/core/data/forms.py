"""The forms of a release by name, and what is known of each before any data is read.

How they are written and read stands in `spark/release`, where a registry has an object for each name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FormName = Literal["generalized", "bucketized", "rowwise"]

BoundsName = Literal["grid", "tight"]
"""Where published ranges end: on lines of a public grid, or at the least and greatest value of a group."""

GROUP_ID, COUNT, PEOPLE = "group_id", "count", "people"
"""Columns of a release that the table lacks: group number, occurrences of a value, people of a group."""


@dataclass(frozen=True)
class ReleaseForm:
    """A way to show groups.

    where
        name             what specs and manifests call it
        codes_published  whether people show their own quasi-identifiers; otherwise what describes their group
        side_by_side     whether a row shows all sensitive values of a person together
        of_rows          whether it shows the rows of people, apart from each other: who has which is not told
        needs_sensitive  whether there is nothing to show without a sensitive column
        reserved         names of the columns that are added
    """

    name: FormName
    codes_published: bool
    side_by_side: bool
    needs_sensitive: bool
    reserved: tuple[str, ...]
    of_rows: bool = False

    def columns(self, name: str, *, ordered: bool) -> tuple[str, ...]:
        """The published columns of a quasi-identifier: of an ordered one its label and both bounds."""
        return (name, f"{name}_min", f"{name}_max") if self.has_bounds(ordered=ordered) else (name,)

    def has_bounds(self, *, ordered: bool) -> bool:
        """Whether a quasi-identifier, ordered or not, is published with its bounds."""
        return ordered and not self.codes_published


_ALL = (
    ReleaseForm(
        "generalized", codes_published=False, side_by_side=True, needs_sensitive=False, reserved=(GROUP_ID,)
    ),
    ReleaseForm(
        "bucketized",
        codes_published=True,
        side_by_side=False,
        needs_sensitive=True,
        reserved=(GROUP_ID, COUNT),
    ),
    ReleaseForm(
        "rowwise",
        codes_published=False,
        side_by_side=False,
        needs_sensitive=True,
        reserved=(GROUP_ID, PEOPLE),
        of_rows=True,
    ),
)

FORMS: dict[str, ReleaseForm] = {form.name: form for form in _ALL}
