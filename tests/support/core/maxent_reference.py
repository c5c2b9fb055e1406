"""Independent answers for Privacy-MaxEnt: a conic solver, and the paper's own variables for people."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from hypothesis import reject

from ppdp_spark.core.maxent import Buckets, System, buckets_from_rows, system
from ppdp_spark.core.maxent.statements.invariants import count_rows

TIGHT = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}


def conic(buckets: Buckets, knowledge: System) -> np.ndarray | None:
    """The maximum-entropy masses by a conic solver, None if the knowledge is infeasible."""
    x = cp.Variable(buckets.variables)
    counts = np.concatenate([buckets.row_count, buckets.value_count])
    equal, at_least = np.flatnonzero(~knowledge.inequality), np.flatnonzero(knowledge.inequality)
    said = [count_rows(buckets) @ x == counts]
    if len(equal):
        said.append(knowledge.matrix[equal] @ x == knowledge.rhs[equal])
    if len(at_least):
        said.append(knowledge.matrix[at_least] @ x >= knowledge.rhs[at_least])
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), said)
    try:
        problem.solve(solver="CLARABEL", **TIGHT)
    except cp.SolverError:
        reject()  # The reference itself has no answer this close to the border of what is feasible.
    assert problem.status in ("optimal", "optimal_inaccurate", "infeasible", "infeasible_inaccurate")
    return None if problem.status.startswith("infeasible") else np.asarray(x.value)


def labels(buckets: Buckets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Bucket position, tuple id and value code of every variable."""
    _, value = buckets.variables_of(np.arange(len(buckets.cell_qi)))
    width = buckets.widths[buckets.cell_bucket]
    return np.repeat(buckets.cell_bucket, width), np.repeat(buckets.cell_qi, width), buckets.value_code[value]


def true_masses(buckets: Buckets, bucket, qi, sensitive) -> np.ndarray:
    """How many records of the original table each variable stands for; bucket ids are positions."""
    key = {triple: i for i, triple in enumerate(zip(*(a.tolist() for a in labels(buckets)), strict=True))}
    masses = np.zeros(buckets.variables)
    for triple in zip(bucket, qi, sensitive, strict=True):
        masses[key[tuple(int(v) for v in triple)]] += 1
    return masses


def random_release(rng, *, buckets=5, largest=6, tuples=6, values=5):
    """Rows (bucket, tuple, value) of a small table."""
    sizes = rng.integers(1, largest + 1, rng.integers(1, buckets + 1))
    bucket = np.repeat(np.arange(len(sizes)), sizes)
    return bucket, rng.integers(0, tuples, len(bucket)), rng.integers(0, values, len(bucket))


def random_knowledge(rng, buckets: Buckets, masses, *, statements=6) -> System:
    """Statements that hold for some masses: sums, differences, equalities and slack or tight bounds."""
    _, qi, value = labels(buckets)
    rows, relations, right = [], [], []
    for _ in range(rng.integers(1, statements + 1)):
        row = _picked(rng, qi, value)
        if rng.random() < 0.3:
            row -= rng.choice([1.0, 0.5, 0.3]) * _picked(rng, qi, value)
        relation = rng.choice(["=", "<=", ">="], p=[0.5, 0.25, 0.25])
        slack = {"=": 0.0, "<=": 1.0, ">=": -1.0}[relation] * rng.choice([0.0, 0.1, 0.3])
        rows.append(row)
        relations.append(str(relation))
        right.append(row @ masses + slack)
    return system(np.array(rows), relations, right)


def _picked(rng, qi, value) -> np.ndarray:
    tuples, values = np.unique(qi), np.unique(value)
    chosen = np.isin(qi, rng.choice(tuples, rng.integers(1, 4))) & np.isin(
        value, rng.choice(values, rng.integers(1, 3))
    )
    return chosen.astype(float)


def pseudonym_posterior(bucket, qi, sensitive, said) -> np.ndarray:
    """P*(s | pseudonym) over the paper's variables P(i, q, s, b), one pseudonym for each row [Section 6].

    `said` holds ({(pseudonym, value): coefficient}, relation, people); row i of the table is pseudonym i.
    """
    rows, values = len(bucket), max(sensitive) + 1
    names = range(max(bucket) + 1)
    x = {b: cp.Variable((rows, values), nonneg=True) for b in names}
    total = sum(x.values())
    facts = [cp.sum(total, axis=1) == 1]
    for b in names:
        here = [i for i in range(rows) if bucket[i] == b]
        for q in set(qi):
            mine = [i for i in range(rows) if qi[i] == q]
            facts.append(cp.sum(x[b][mine, :]) == sum(qi[i] == q for i in here))
        facts.extend(cp.sum(x[b][:, s]) == sum(sensitive[i] == s for i in here) for s in range(values))
    for terms, relation, number in said:
        left = sum(c * total[i, s] for (i, s), c in terms.items())
        facts.append({"=": left == number, ">=": left >= number, "<=": left <= number}[relation])
    problem = cp.Problem(cp.Maximize(sum(cp.sum(cp.entr(v)) for v in x.values())), facts)
    problem.solve(solver="CLARABEL", **TIGHT)
    assert problem.status.startswith("optimal")
    return np.asarray(total.value)


def from_golden(case) -> tuple[Buckets, System]:
    """A golden case as buckets and rows; names like q3 and s2 become 3 and 2."""

    def number(name: str) -> int:
        return int(name[1:])

    bucket = [b["bucket"] for b in case["buckets"] for _ in b["qi"]]
    qi = [number(q) for b in case["buckets"] for q in b["qi"]]
    sensitive = [number(s) for b in case["buckets"] for s in b["sa"]]
    buckets = buckets_from_rows(bucket, qi, sensitive)
    _, tuples, values = labels(buckets)
    matrix = np.zeros((len(case["knowledge"]), buckets.variables))
    for row, statement in zip(matrix, case["knowledge"], strict=True):
        for t in statement["terms"]:
            here = np.isin(tuples, [number(q) for q in t["qi"]]) & np.isin(
                values, [number(s) for s in t["sa"]]
            )
            row += t["coef"] * here
    right = [s["rhs"] * buckets.records for s in case["knowledge"]]
    return buckets, system(matrix, [s["op"] for s in case["knowledge"]], right)
