"""Many random releases from compiled plans, judged by enumeration."""

from __future__ import annotations

import pytest

from support.oracle.chunks import chunk_of, judged


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("chunk", [1, 2, *(pytest.param(n, marks=pytest.mark.nightly) for n in (3, 4))])
def test_releases_are_what_they_say(quick, tmp_path, chunk):
    judged(quick, chunk_of(chunk), tmp_path)
