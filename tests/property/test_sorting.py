"""Sorting by several keys, against numpy's own."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ppdp_spark.core.data.sorting import radix_order


@given(
    st.integers(0, 60).flatmap(
        lambda n: st.lists(
            st.lists(st.sampled_from([0, 1, 2, 65_535, 65_536, 131_073, 2**40]), min_size=n, max_size=n),
            min_size=1,
            max_size=4,
        )
    )
)
def test_as_lexsort(keys):
    arrays = [np.array(key, np.int64) for key in keys]
    assert radix_order(arrays).tolist() == np.lexsort(arrays[::-1]).tolist()
