"""Releases of which some values need no protection: files read with pyarrow, everything counted anew."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from ppdp_spark import anonymize, attack, check, explore, verify
from ppdp_spark.core.suppression.adversary import posterior
from ppdp_spark.errors import SpecError
from support.core.robust_reference import (
    SCHEMA,
    SETS,
    learned_priors,
    published_values,
    released_groups,
    spec_of,
)

FREE = ["none", "7"]
POINT = {"l": 1, "k": 1, "m": 0, "c": 0.9}


def people(number: int = 240, seed: int = 3) -> pd.DataFrame:
    """Most of whom have nothing that needs protection."""
    rng = random.Random(seed)
    kinds = ["none"] * 6 + ["7"] + ["flu", "gout", "zoster", "mumps"]
    return pd.DataFrame(
        {
            "age": [rng.randrange(20, 60) for _ in range(number)],
            "sex": [rng.choice("fm") for _ in range(number)],
            "ill": [rng.choice(kinds) for _ in range(number)],
        }
    )


def spec(output: Path, privacy: dict[str, Any], sensitive: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "dataset": "some",
        "columns": {
            "quasi_identifiers": {"age": "numeric", "sex": "categorical"},
            "sensitive": sensitive or {"column": "ill", "not_sensitive": ["none", 7]},
        },
        "privacy": privacy,
        "output": {"path": str(output), "form": "bucketized"},
        **more,
    }


def held(output: Path) -> dict[int, Counter[str]]:
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for row in pq.read_table(output / "release" / "data" / "sensitive").to_pylist():
        found[row["group_id"]][row["ill"]] += row["count"]
    return found


DIVERSE = {"k_anonymity": 3, "l_diversity": {"kind": "distinct", "l": 3}, "skyline": {"default": [POINT]}}


def test_a_release_protects_what_the_spec_says_and_its_files_carry_it(spark, tmp_path):
    run = anonymize(spec(tmp_path / "out", DIVERSE), table=people(), spark=spark)
    groups = held(tmp_path / "out")
    protected = {
        group: {x: n for x, n in counts.items() if x not in FREE} for group, counts in groups.items()
    }
    assert len(groups) > 5 and all(not own or len(own) >= 3 for own in protected.values())
    assert any(
        max(counts.values()) == counts["none"] > sum(counts.values()) / 2 for counts in groups.values()
    )
    rows = {(row.criterion, row.parameters.get("value")): row for row in run.verdict.rows}
    assert {value for name, value in rows if name == "skyline"} == {"flu", "gout", "zoster", "mumps"}
    assert rows[("distinct_l_diversity", None)].level == "ℓ = 3, 4 of 6 values protected"
    assert verify(tmp_path / "out", spark=spark).ok
    manifest = tmp_path / "out" / "release" / "release.json"
    stated = json.loads(manifest.read_text())
    assert stated["sensitive"] == {"column": "ill", "case": "svpi", "not_sensitive": FREE}
    stated["sensitive"] = {"column": "ill", "case": "svpi", "only": ["flu", "none"]}
    manifest.write_text(json.dumps(stated))
    assert not verify(tmp_path / "out", spark=spark).ok
    page = (tmp_path / "out" / "private" / "report.html").read_text()
    assert "ill (protected: all but “none” and “7”)" in page


def test_any_table_is_judged_explored_and_attacked_by_its_protected_values(spark, tmp_path):
    table = pd.DataFrame(
        {
            "age": [1, 1, 1, 1, 2, 2, 2, 2],
            "sex": ["f", "m", "f", "m"] * 2,
            "ill": ["none", "none", "none", "flu", "none", "none", "7", "7"],
            "block": [1] * 4 + [2] * 4,
        }
    )
    given = spec(tmp_path / "out", {"alpha_k": {"alpha": 0.25, "k": 4}})
    given["columns"]["group"] = "block"
    found = check(given, table=table, spark=spark)
    (share,) = [row for row in found.verdict.rows if row.status != "measured"]
    assert share.ok and share.value == 0.25 and share.parameters["protected_values"] == 1
    for given["columns"]["sensitive"] in ("ill", {"column": "ill", "only": ["none"]}):
        assert not check(given, table=table, spark=spark).ok
    given["columns"]["sensitive"] = {"column": "ill", "not_sensitive": ["none", "seven"]}
    with pytest.raises(SpecError, match=r"not_sensitive\.1`: no row that takes part has this value"):
        check(given, table=table, spark=spark)
    given["columns"]["sensitive"] = {"column": "ill", "only": ["flu"]}
    assert [sky["value"] for sky in explore(given, table=table, spark=spark).summary["knowledge"][:1]] == [
        "flu"
    ]
    with pytest.raises(SpecError, match=r"`explore\.values` \(none\) needs no protection"):
        explore({**given, "explore": {"values": ["none"]}}, table=table, spark=spark)
    given["attack"] = {"threshold": 0.3}
    inferred = attack(given, table=table, spark=spark)
    assert inferred.ok and inferred.verdict.rows[0].value == pytest.approx(0.25)
    assert inferred.verdict.rows[0].witness["value"] == "flu"
    given["columns"]["sensitive"] = "ill"
    assert not attack(given, table=table, spark=spark).ok


def worst_bound(members, prior, protected) -> float:
    """The coarse swap bound of protected values, straight from its definition."""
    counts = Counter(row[4] for row in members)
    ratio = {x: min(p) / max(p) for x in counts for p in [[prior(row, x) for row in members]]}
    found = [0.0]
    for x in protected & set(counts):
        kappa = ratio[x] * min((ratio[y] for y in counts if y != x), default=1.0)
        found.append(counts[x] / (counts[x] + kappa * (len(members) - counts[x])))
    return max(found)


def test_priors_are_those_of_the_whole_table_and_the_audit_that_of_what_is_published(spark, tmp_path):
    rng, rows = random.Random(5), []
    for pid in range(400):
        sex, region = rng.choice("fm"), rng.choice("nsw")
        kinds = ["flu"] * (12 if sex == "f" else 10) + ["none"] * 12 + ["cold", "gout", "ulcer"] * 2
        rows.append((pid, rng.randrange(18, 90), sex, region, rng.choice(kinds)))
    # Whoever alone may have a value finds no place.
    rows += [(pid, 40, "f", "x", "pox") for pid in (400, 401)]
    given = spec_of(tmp_path / "out", r=3, suppression={"method": "r", "l": 3, "budget": 0.6}).to_dict(
        secrets=True
    )
    given["columns"]["sensitive"] = {"column": "disease", "not_sensitive": ["none"]}
    run = anonymize(given, table=spark.createDataFrame(rows, SCHEMA))
    facts = run.summary["release"]["suppressed"]
    assert facts["frequent"] > 0 and facts["unplaced"] > 0
    groups = released_groups(tmp_path / "out", "bucketized")
    placed = [rows[pid] for members in groups.values() for pid in members]
    protected = {row[4] for row in rows} - {"none"}
    stated = [row for row in run.verdict.rows if row.criterion == "robustness"]
    for place, (names, row) in enumerate(zip(SETS, stated, strict=True)):
        priors = {"whole": learned_priors(rows, names), "left": learned_priors(placed, names)}
        bound = max(worst_bound([rows[p] for p in g], priors["whole"], protected) for g in groups.values())
        assert row.value == pytest.approx(bound, abs=1e-9) and row.value <= 1 / 3
        off = dict.fromkeys(priors, 0.0)
        for kept in pq.read_table(tmp_path / "out" / "private" / "robustness").to_pylist():
            members = [rows[pid] for pid in groups[kept["group_id"]]]
            for kind, prior in priors.items():
                low, high = (of(prior(one, kept["value"]) for one in members) for of in (min, max))
                apart = abs(kept[f"low_{place}"] - low) + abs(kept[f"high_{place}"] - high)
                off[kind] = max(off[kind], apart)
        assert off["whole"] < 1e-9 and off["left"] > 0.01
    listed = sum(published_values(tmp_path / "out", "bucketized").values(), Counter())
    own = [listed[value] for value in sorted(protected)]
    audit = next(row for row in run.verdict.rows if row.criterion == "suppression_attack")
    wanted = posterior(own, len(rows), 3, beside=listed["none"])
    assert audit.value == pytest.approx(wanted.posterior_max)
    assert verify(tmp_path / "out", spark=spark).ok
