"""Many random releases from interpreted plans, judged by enumeration."""

from __future__ import annotations

import pytest

from support.oracle.chunks import FEW, chunk_of, judged


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(5, 17))
def test_releases_are_what_they_say(quick, tmp_path, chunk):
    judged(quick, chunk_of(chunk), tmp_path)


@pytest.mark.slow
def test_the_rest_of_the_first_releases_is_what_it_says(quick, tmp_path):
    judged(quick, chunk_of(0)[FEW:], tmp_path)
