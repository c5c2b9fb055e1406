"""Robust releases recomputed: people, specs, and every group judged in plain Python from the input."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

import pyarrow.parquet as pq

from ppdp_spark.spec import ReleaseSpec

SETS = [["sex"], ["sex", "region"]]
VALUES = ["flu", "cold", "asthma", "ulcer", "gout", "fever"]


def people(number, seed=7, skew=0.25):
    """Signatures with somewhat different distributions; every value possible everywhere."""
    rng = random.Random(seed)
    rows = []
    for pid in range(number):
        sex, region = rng.choice(["f", "m"]), rng.choice(["n", "s", "w"])
        weights = [
            1 + skew * ((i + (sex == "m")) % 2) + skew * ((i + "nsw".index(region)) % 3 == 0)
            for i in range(6)
        ]
        rows.append((pid, rng.randrange(18, 90), sex, region, rng.choices(VALUES, weights)[0]))
    return rows


SCHEMA = "pid int, age int, sex string, region string, disease string"


def spec_of(output, *, partitioner="art", model="joint", r=3, form="bucketized", priors=None, **more):
    privacy = {
        "robustness": {"r": r, "model": model, "priors": priors or [{"attributes": s} for s in SETS]},
        **more.pop("privacy", {}),
    }
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "test",
            "input": {"path": "unused.parquet"},
            "columns": {
                "quasi_identifiers": {"age": "numeric", "sex": "categorical", "region": "categorical"},
                "sensitive": "disease",
                "publish_as_is": ["pid"],
                "may_single_out": ["pid"],
            },
            "partitioner": partitioner,
            "privacy": privacy,
            "suppression": {"budget": more.pop("budget", 0.3)},
            "output": {"path": str(output), "form": form},
            # Tests compare releases of the same people, side by side in one folder.
            "composition": {"earlier": "accept"},
            **more,
        }
    )


def released_groups(output, form):
    """pid -> group, and the values of each group, from the published files."""
    data = output / "release" / "data"
    place = pq.read_table(data / "qi" if form == "bucketized" else data).to_pydict()
    groups = defaultdict(list)
    for pid, group in zip(place["pid"], place["group_id"], strict=True):
        groups[group].append(pid)
    return groups


def published_values(output, form):
    """The values that each group is published with."""
    data = output / "release" / "data"
    groups = defaultdict(Counter)
    if form == "bucketized":
        listed = pq.read_table(data / "sensitive").to_pydict()
        for group, value, count in zip(listed["group_id"], listed["disease"], listed["count"], strict=True):
            groups[group][value] += count
    else:
        listed = pq.read_table(data).to_pydict()
        for group, value in zip(listed["group_id"], listed["disease"], strict=True):
            groups[group][value] += 1
    return groups


def learned_priors(rows, names):
    where = {"age": 1, "sex": 2, "region": 3}
    counts = defaultdict(Counter)
    for row in rows:
        counts[tuple(row[where[name]] for name in names)][row[4]] += 1
    return lambda row, value: (
        (c := counts[tuple(row[where[name]] for name in names)])[value] / sum(c.values())
    )


def worst_bound(members, prior, model):
    counts = Counter(row[4] for row in members)
    worst = 0.0
    ratio = {}
    for value in counts:
        priors = [prior(row, value) for row in members]
        low, high = min(priors), max(priors)
        if model == "binary" and high == 1:
            ratio[value] = float(low == high)
        elif model == "binary":
            ratio[value] = 1.0 if low == high else (low / (1 - low)) / (high / (1 - high))
        else:
            ratio[value] = low / high
    for value, count in counts.items():
        others = [
            counts[other] * (ratio[other] if model == "joint" else 1) for other in counts if other != value
        ]
        worst = max(worst, count / (count + ratio[value] * sum(others)))
    return worst
