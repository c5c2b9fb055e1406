"""The files in `conf/` stand alone: a copy of the folder works."""

from __future__ import annotations

from ppdp_spark import ReleaseSpec
from support.places import ROOT


def test_nothing_in_conf_is_a_link():
    assert [path for path in (ROOT / "conf").rglob("*") if path.is_symlink()] == []


def test_hierarchies_are_those_of_the_demo():
    for path in (ROOT / "conf" / "hierarchies").iterdir():
        assert path.read_bytes() == (ROOT / "ppdp_spark" / "demo" / "hierarchies" / path.name).read_bytes()


def test_every_spec_is_read():
    for path in (ROOT / "conf").glob("*.yaml"):
        ReleaseSpec.load(path)
