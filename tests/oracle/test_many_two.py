"""Many random releases from interpreted plans, judged by enumeration."""

from __future__ import annotations

import pytest

from support.oracle.chunks import judged


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(5, 17))
def test_releases_are_what_they_say(quick, tmp_path, chunk):
    judged(quick, chunk, tmp_path)
