"""People, groups, and the rows of people where they are published, add up to what was announced."""

from __future__ import annotations

import numpy as np
import pytest

from ppdp_spark.core.criteria.release.bookkeeping import Conservation
from ppdp_spark.core.data.groups import GroupSummaries


@pytest.mark.parametrize(
    ("announced", "missing"),
    [
        ((7, 2), 0),
        ((7, 2, 9), 0),
        ((8, 2, 9), 1),
        ((7, 3, 9), 1),
        ((7, 2, 8), 1),
        ((7, 2, 11), 2),
    ],
)
def test_people_groups_and_rows_add_up(announced, missing):
    criterion = Conservation(*announced)
    first = GroupSummaries(np.array([3]), np.array([[2, 2]]))
    second = GroupSummaries(np.array([4]), np.array([[5, 0]]))
    parts = [criterion.summarise(groups, np.array([1])) for groups in (first, second)]
    (row,) = criterion.decide(criterion.merge(*parts))
    assert (row.violations, row.status) == (missing, "fail" if missing else "pass")
