"""The audit of robustness: exact where feasible, bounded elsewhere, never below the truth."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ppdp_spark.core.criteria.robustness import (
    RRobustness,
    SignatureGroups,
    binary_posteriors,
    joint_posteriors,
)
from ppdp_spark.core.criteria.robustness import posterior_audit as module
from ppdp_spark.core.criteria.robustness.posterior_audit import PosteriorAudit
from ppdp_spark.core.criteria.robustness.priors import PeoplePriors

WIDTH = 4


def some_people(seed, groups=12):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 8, groups)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    tables = tuple(rng.dirichlet(np.full(WIDTH, 20.0), size=n) for n in (2, 5))
    rows = tuple(rng.integers(0, len(t), bounds[-1]).astype(np.int32) for t in tables)
    return PeoplePriors(rows, tables), rng.integers(0, WIDTH, bounds[-1]).astype(np.int32), bounds


def truth(priors, values, bounds, model):
    """The largest posterior of each group and attribute set, person by person."""
    of = joint_posteriors if model == "joint" else binary_posteriors
    found = np.empty((len(bounds) - 1, len(priors.tables)))
    for g, (start, end) in enumerate(pairwise(bounds)):
        counts = np.bincount(values[start:end], minlength=WIDTH)[None, :]
        for s, (rows, table) in enumerate(zip(priors.rows, priors.tables, strict=True)):
            own = SignatureGroups.of_people(table[rows[start:end]][None], counts)
            found[g, s] = of(own).values[:, counts[0] > 0].max()
    return found


def ceiling(people, r, highest):
    """Δ_ceil as printed [Robust, Def 8]; 0 for a prior of 0 or 1."""
    if highest in (0, 1):
        return 0.0
    return (people - r) * highest / (highest * (r - 1) / (1 - highest) + people - 1)


@pytest.mark.parametrize("model", ["joint", "binary"])
@pytest.mark.parametrize("exact", [0, 3, 256])
@pytest.mark.parametrize("seed", range(3))
def test_the_worst_posterior_is_found_or_bounded(monkeypatch, model, exact, seed):
    monkeypatch.setattr(module, "EXACT_GROUPS", exact)
    priors, values, bounds = some_people(seed)
    audit = PosteriorAudit(RRobustness(1.8, model, ("a", "b")))
    ids = np.arange(100, 100 + len(bounds) - 1)
    rows = audit.decide(audit.audit(priors, values, WIDTH, bounds, ids))
    real = truth(priors, values, bounds, model)
    for s, row in enumerate(rows):
        assert row.value >= real[:, s].max() - 1e-9
        assert row.violations >= int((real[:, s] > 1 / 1.8 + 1e-9).sum())
        assert row.groups == len(real) and row.witness["exact_groups"] == min(exact, len(real))
        if exact == 256:
            assert row.value == pytest.approx(real[:, s].max(), abs=1e-9)
            assert row.violations == int((real[:, s] > 1 / 1.8).sum())
            assert row.witness["group"] == 100 + int(real[:, s].argmax()) and row.witness["exact"]
        place = slice(*bounds[row.witness["group"] - 100 :][:2])
        known = priors.tables[s][priors.rows[s][place]][:, row.witness["value"]]
        assert row.witness["people"] == len(known)
        assert row.witness["delta_max"] == known.max() - known.min()
        assert row.witness["delta_ceil"] == pytest.approx(ceiling(len(known), 1.8, known.max()))


def test_parts_merge_to_the_whole():
    priors, values, bounds = some_people(9)
    audit = PosteriorAudit(RRobustness(2, "joint", ("a", "b")))
    ids = np.arange(len(bounds) - 1)
    whole = audit.audit(priors, values, WIDTH, bounds, ids)
    middle = int(bounds[5])
    left = audit.audit(priors.of(np.arange(middle)), values[:middle], WIDTH, bounds[:6], ids[:5])
    rest = np.arange(middle, bounds[-1])
    right = audit.audit(priors.of(rest), values[rest], WIDTH, bounds[5:] - middle, ids[5:])
    assert audit.merge(left, right) == audit.merge(right, left) == whole


def test_little_work_leaves_bounds(monkeypatch):
    """Groups beyond the allowed work keep their bound, which is never below the truth."""
    priors, values, bounds = some_people(4)
    real = truth(priors, values, bounds, "joint")
    audit = PosteriorAudit(RRobustness(1.8, "joint", ("a", "b")))
    known = []
    for work in (0, 2**9, 2**27):
        monkeypatch.setattr(module, "EXACT_WORK", work)
        rows = audit.decide(audit.audit(priors, values, WIDTH, bounds, np.arange(len(bounds) - 1)))
        assert all(row.value >= real[:, s].max() - 1e-9 for s, row in enumerate(rows))
        known.append(sum(row.witness["exact_groups"] for row in rows))
    assert known[0] == 0 < known[1] < known[2] == 2 * len(real)
