"""A criterion of another package: in the spec, the partitioner, the verdict, the check and the report."""

from __future__ import annotations

import html
import json
import re
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from support.packages import KE_ANONYMITY, ROOT, install, python, unpack

PAGE = ROOT / "docs" / "how-to" / "add-a-criterion.md"


def people(rows: int = 600) -> pd.DataFrame:
    """Salaries whose ranges are small in most small groups."""
    rng = np.random.default_rng(5)
    salary = rng.choice([30_000, 30_500, 31_000, 42_000, 70_000], rows, p=[0.4, 0.3, 0.2, 0.06, 0.04])
    return pd.DataFrame(
        {"age": rng.integers(18, 90, rows), "city": rng.choice(["Ulm", "Bonn"], rows), "salary": salary}
    )


@pytest.fixture(scope="module")
def ke_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package of (k, e)-anonymity is installed."""
    site = tmp_path_factory.mktemp("site")
    install(KE_ANONYMITY, site, tmp_path_factory.mktemp("wheel"))
    return site


@pytest.fixture(scope="module")
def folder(ke_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `ke_release.py` leaves behind: releases, and verdicts in `verdicts.json`."""
    folder = tmp_path_factory.mktemp("ke")
    people().to_parquet(folder / "people.parquet")
    done = python([str(Path(__file__).with_name("ke_release.py")), str(folder)], ke_site, folder)
    assert done.returncode == 0, done.stderr
    (folder / "verdicts.json").write_text(done.stdout.splitlines()[-1])
    return folder


@pytest.fixture(scope="module")
def verdicts(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "verdicts.json").read_text())


def ke_row(verdict: dict[str, Any]) -> dict[str, Any]:
    (row,) = [row for row in verdict["criteria"] if row["criterion"] == "ke_anonymity"]
    return row


def test_the_release_satisfies_it_by_another_count(folder: Path, verdicts: dict[str, Any]) -> None:
    table = pd.read_parquet(folder / "out" / "release" / "data")
    groups = table["salary"].groupby(table["group_id"])
    assert groups.nunique().min() >= 3
    smallest = (groups.max() - groups.min()).min()
    assert smallest >= 20_000 and len(groups) > 3
    row = ke_row(verdicts["released"])
    assert (row["status"], row["value"], row["threshold"]) == ("pass", smallest, 20_000)
    assert row["parameters"] == {"k": 3, "e": 20_000.0} and row["groups"] == len(groups)
    assert ke_row(verdicts["verified"]) == row and verdicts["verified"]["status"] == "pass"


def test_a_check_finds_the_group_that_fails(verdicts: dict[str, Any]) -> None:
    row = ke_row(verdicts["checked"])
    assert (row["status"], row["violations"], row["value"]) == ("fail", 1, 2.0)
    assert row["witness"]["group"] is not None
    measured = ke_row(verdicts["measured"])
    assert (measured["status"], measured["level"], measured["value"]) == ("measured", "smallest range", 2.0)


def test_it_combines_with_partitioners_that_leave_people_unplaced(verdicts: dict[str, Any]) -> None:
    assert ke_row(verdicts["robust"])["status"] == "pass"


def test_the_report_has_its_words(folder: Path) -> None:
    page = (folder / "out" / "private" / "report.html").read_text()
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    assert "(k, e)-anonymity, k = 3, e = 20,000" in text
    assert "Every group holds at least 3 values of salary, over a range of 20,000 or more." in text
    assert "one value far away" in text


def test_without_the_package_its_release_is_not_called_safe(folder: Path) -> None:
    code = (
        "from ppdp_spark import DataError\n"
        "from ppdp_spark.run.criteria.guarantees import published_privacy\n"
        "import json, pathlib\n"
        "stated = json.loads(pathlib.Path('out/release/release.json').read_text())['privacy']\n"
        "try: published_privacy(stated)\n"
        "except DataError as error: print(error)\n"
    )
    done = python(["-c", code], None, folder)
    assert "`ke_anonymity`: install the package that adds this criterion" in done.stdout, done.stderr


# Before Spark starts


def asked(site: Path | None, tmp_path: Path, privacy: str, *more: str) -> subprocess.CompletedProcess[str]:
    """What `ppdp` says of a spec that demands this."""
    lines = [
        "version: 1",
        "dataset: d",
        "input: {path: people.parquet}",
        "columns: {quasi_identifiers: {age: numeric}, sensitive: salary}",
        f"privacy: {privacy}",
        *more,
    ]
    (tmp_path / "spec.yaml").write_text("\n".join(lines))
    return python(["-m", "ppdp_spark", "anonymize", "spec.yaml"], site, tmp_path)


def test_its_field_obeys_the_rules_of_every_field(ke_site: Path, tmp_path: Path) -> None:
    done = asked(ke_site, tmp_path, "{ke_anonymity: {k: 1, f: 3}, ke_anonimity: {}}", "output: {path: out}")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    for line in (
        "`privacy.ke_anonymity.k` (1) must be at least 2",
        "`privacy.ke_anonymity.e` is missing: add `e: 10000`",
        "`privacy.ke_anonymity.f` is not a known key",
        "`privacy.ke_anonimity` is not a known key; did you mean `ke_anonymity`?",
    ):
        assert line in done.stderr


def test_its_traits_are_enforced(ke_site: Path, tmp_path: Path) -> None:
    sets = "columns: {quasi_identifiers: {age: numeric}, sensitive: {column: salary, case: mvpi-set}}"
    code = (
        "import sys; from ppdp_spark import ReleaseSpec, SpecError\n"
        "from ppdp_spark.spec.document import parse_yaml\n"
        "try: ReleaseSpec.parse(parse_yaml(sys.argv[1]))\n"
        "except SpecError as error: print(error)\n"
    )
    start = "version: 1\ndataset: d\ninput: {path: a.parquet}\nprivacy: {ke_anonymity: {k: 3, e: 1}}\n"
    done = python(["-c", code, start + sets], ke_site, tmp_path)
    assert "`privacy.ke_anonymity` is defined for one value per person only" in done.stdout, done.stderr
    done = python(["-c", code, start + "columns: {quasi_identifiers: {age: numeric}}"], ke_site, tmp_path)
    assert "`columns.sensitive` is missing: needed by `privacy.ke_anonymity`" in done.stdout, done.stderr


def test_editors_learn_of_it(ke_site: Path, tmp_path: Path) -> None:
    schema = json.loads(python(["-m", "ppdp_spark", "spec-schema"], ke_site, tmp_path).stdout)
    assert schema["$defs"]["KeAnonymitySpec"]["required"] == ["k", "e"]
    assert "different numbers" in schema["$defs"]["KeAnonymitySpec"]["description"]


def test_it_is_loaded_when_a_spec_is_read_and_not_before(ke_site: Path, tmp_path: Path) -> None:
    code = (
        "import sys; import ppdp_spark.cli.app, ppdp_spark.core.criteria\n"
        "print('ppdp_ke_anonymity' in sys.modules)\n"
        "import ppdp_spark.spec; print('ppdp_ke_anonymity' in sys.modules)\n"
    )
    assert python(["-c", code], ke_site, tmp_path).stdout.split() == ["False", "True"]


def package(folder: Path, name: str, module: str) -> Path:
    """The source of a package with one module and one entry point."""
    source = folder / name
    source.mkdir()
    text = (KE_ANONYMITY / "pyproject.toml").read_text()
    text = text.replace('"ppdp-ke-anonymity"', f'"{name}"').replace("ppdp_ke_anonymity", f"{name}_module")
    (source / "pyproject.toml").write_text(text)
    (source / f"{name}_module.py").write_text(module)
    return source


REDECLARED = (
    "import dataclasses\nfrom ppdp_spark.core.criteria.anonymity import K_ANONYMITY as base\nKE_ANONYMITY"
)


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("import nothing_of_that_name", "cannot be loaded (ModuleNotFoundError: No module named"),
        ("KE_ANONYMITY = 5", "is not a `Family` but of type int"),
        (
            f"{REDECLARED} = base",
            "the field `k_anonymity` of the package `broken` is one of ppdp-spark",
        ),
        (
            f"{REDECLARED} = dataclasses.replace(base, field='K anon')",
            "`field` (K anon) must be lower-case letters, digits and underscores; repair or uninstall",
        ),
        (
            f"{REDECLARED} = dataclasses.replace(base, field='x', names=('x',), parameters=None, bare=False)",
            "declares no `parameters`",
        ),
        (
            f"{REDECLARED} = dataclasses.replace(base, field='x', names=('x',),"
            " traits=dataclasses.replace(base.traits, priors=True))",
            "looks at priors, which nothing would give to it",
        ),
    ],
)
def test_a_package_that_is_broken_or_clashes_is_named(tmp_path: Path, module: str, told: str) -> None:
    unpack(package(tmp_path, "broken", module), tmp_path / "site", tmp_path)
    done = asked(tmp_path / "site", tmp_path, "{k_anonymity: 5}", "output: {path: out}")
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert told in done.stderr and "`broken`" in done.stderr


# Its own mathematics


def test_it_decides_in_fractions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(KE_ANONYMITY)
    from ppdp_ke_anonymity import KEAnonymity

    from ppdp_spark.core.data.groups import GroupSummaries

    numbers = tuple(map(Fraction, ("0.1", "0.4", "0.2", "7")))
    groups = GroupSummaries(
        np.array([3, 3, 2, 4, 0]), np.array([[1, 1, 1, 0], [1, 0, 2, 0], [1, 0, 0, 1], [1, 1, 1, 1], [0] * 4])
    )
    assert KEAnonymity(3, 0.3, numbers).allowed(groups).tolist() == [True, False, False, True, False]
    assert KEAnonymity(2, 0.3, numbers).allowed(groups).tolist() == [True, False, True, True, False]
    assert KEAnonymity(2, Fraction(3, 10) + Fraction(1, 10**20), numbers).allowed(groups).tolist() == [
        False, False, True, True, False,
    ]  # fmt: skip
    assert KEAnonymity(2, 0.3, numbers).achieved(groups) == pytest.approx([0.3, 0.1, 6.9, 6.9, 0])


def test_the_page_quotes_the_package() -> None:
    """What the page shows is the module and the project file, piece by piece and in order."""
    blocks = re.findall(r"```(python|toml)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    source = (KE_ANONYMITY / "ppdp_ke_anonymity.py").read_text()
    project = (KE_ANONYMITY / "pyproject.toml").read_text()
    quoted = {"python": "", "toml": ""}
    for kind, block in blocks:
        quoted[kind] += block
    assert re.sub(r"\s+", "\n", quoted["python"]) == re.sub(r"\s+", "\n", source)
    assert quoted["toml"] == project
