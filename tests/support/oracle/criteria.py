"""Every criterion by its textbook definition, from published groups alone, in exact arithmetic.

A finding is what a verdict should say: the criterion, its level, the achieved value, and whether it holds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .reading import Group, place, value_name
from .worlds import Worlds, breach_probability, shares

INFINITE = math.inf
Exact = Fraction | float


@dataclass(frozen=True)
class Finding:
    """One criterion on one release; `bound` says that the verdict may be above the truth."""

    criterion: str
    level: str
    value: float
    holds: bool
    bound: bool = False


def exact(number: float) -> Fraction:
    """A parameter as its decimal text says."""
    return Fraction(str(number))


def findings(groups: Sequence[Group], document: Mapping[str, Any]) -> list[Finding]:
    """What the verdict of a release should say, a row for every criterion that is demanded."""
    privacy, made = document["privacy"], []
    table = Counter[Any]()
    for group in groups:
        table.update(group.occurrences)
    makers = {
        "k_anonymity": k_anonymity,
        "alpha_k": alpha_k,
        "l_diversity": l_diversity,
        "t_closeness": t_closeness,
        "beta_likeness": beta_likeness,
        "delta_disclosure": delta_disclosure,
    }
    for name, make in makers.items():
        if name in privacy:
            made.append(make(groups, table, privacy[name]))
    if "skyline" in privacy:
        made += skyline(groups, table, document)
    return made


def k_anonymity(groups: Sequence[Group], table: Mapping[Any, int], k: int) -> Finding:
    least = min(group.size for group in groups)
    return Finding("k_anonymity", f"k = {k}", least, least >= k)


def alpha_k(groups: Sequence[Group], table: Mapping[Any, int], given: Mapping[str, Any]) -> Finding:
    worst: Exact = Fraction(0)
    for group in groups:
        share = Fraction(max(group.occurrences.values(), default=0), group.size)
        worst = max(worst, share if group.size >= given["k"] else INFINITE)
    level = f"α = {float(given['alpha'])}, k = {given['k']}"
    return Finding("alpha_k_anonymity", level, float(worst), worst <= exact(given["alpha"]))


def l_diversity(groups: Sequence[Group], table: Mapping[Any, int], given: Mapping[str, Any]) -> Finding:
    counts = [sorted(group.occurrences.values(), reverse=True) for group in groups]
    if given["kind"] == "distinct":
        least = min(map(len, counts))
        return Finding("distinct_l_diversity", f"ℓ = {given['l']}", least, least >= given["l"])
    if given["kind"] == "entropy":
        l = float(given["l"])
        holds = all(_entropy_at_least(one, exact(l)) for one in counts)
        value = min(_exp_entropy(one) for one in counts)
        return Finding("entropy_l_diversity", f"ℓ = {l}", value, holds)
    l, worst = given["l"], max(_recursive(one, given["l"]) for one in counts)
    level = f"c = {float(given['c'])}, ℓ = {l}"
    return Finding("recursive_l_diversity", level, float(worst), worst < exact(given["c"]))


def _entropy_at_least(counts: Sequence[int], l: Fraction) -> bool:
    """−Σ q ln q >= ln ℓ, that is n^n >= ℓ^n Π c^c: whole numbers only."""
    n = sum(counts)
    needed = l**n * math.prod(c**c for c in counts)
    return n > 0 and n**n >= needed


def _exp_entropy(counts: Sequence[int]) -> float:
    n = sum(counts)
    return math.exp(-sum(c / n * math.log(c / n) for c in counts)) if n else 0.0


def _recursive(counts: Sequence[int], l: int) -> Exact:
    tail = sum(counts[l - 1 :])
    return Fraction(counts[0], tail) if tail else INFINITE


def t_closeness(groups: Sequence[Group], table: Mapping[Any, int], given: Mapping[str, Any]) -> Finding:
    ordered = given.get("distance", "equal") == "ordered"
    worst = max(_distance(group, table, ordered) for group in groups)
    level = f"t = {float(given['t'])}, {'ordered' if ordered else 'equal'} distance"
    return Finding("t_closeness", level, float(worst), worst <= exact(given["t"]))


def _distance(group: Group, table: Mapping[Any, int], ordered: bool) -> Exact:
    if not group.occurrences:
        return INFINITE
    order = sorted(table, key=place)
    here, there = shares(group.occurrences), shares(table)
    step = Fraction(1, max(len(order) - 1, 1))

    def ground(a: int, b: int) -> Fraction:
        return abs(a - b) * step if ordered else Fraction(int(a != b))

    supply = [here.get(value, Fraction(0)) for value in order]
    return earth_movers_distance(supply, [there[value] for value in order], ground)


def earth_movers_distance(supply: list[Fraction], demand: list[Fraction], ground: Any) -> Fraction:
    """Least work of a transport: start by the order, then cancel cycles of negative cost."""
    flow = _northwest(supply, demand)
    while (cycle := _cheaper(flow, len(supply), ground)) is not None:
        amount = min(flow[pair] for pair in cycle[1])
        for pair in cycle[0]:
            flow[pair] = flow.get(pair, Fraction(0)) + amount
        for pair in cycle[1]:
            flow[pair] -= amount
    return sum((ground(a, b) * amount for (a, b), amount in flow.items()), Fraction(0))


def _northwest(supply: list[Fraction], demand: list[Fraction]) -> dict[tuple[int, int], Fraction]:
    left, need, flow, a, b = list(supply), list(demand), {}, 0, 0
    while a < len(left) and b < len(need):
        amount = min(left[a], need[b])
        flow[a, b] = amount
        left[a], need[b] = left[a] - amount, need[b] - amount
        a, b = (a + 1, b) if left[a] == 0 else (a, b + 1)
    return flow


def _cheaper(flow: Mapping[tuple[int, int], Fraction], size: int, ground: Any) -> Any:
    """Pairs to add to and to take from that lower the cost, by Bellman and Ford; None if there are none."""
    used = [pair for pair, amount in flow.items() if amount > 0]
    edges = [(("s", a), ("d", b), ground(a, b), (a, b)) for a in range(size) for b in range(size)]
    edges += [(("d", b), ("s", a), -ground(a, b), (a, b)) for a, b in used]
    cost = {node: Fraction(0) for edge in edges for node in edge[:2]}
    came: dict[Any, Any] = {}
    last = None
    for _ in cost:
        last = None
        for edge in edges:
            if cost[edge[0]] + edge[2] < cost[edge[1]]:
                cost[edge[1]], came[edge[1]], last = cost[edge[0]] + edge[2], edge, edge[1]
        if last is None:
            return None
    for _ in cost:
        last = came[last][0]
    added, taken, node = [], [], last
    while True:
        edge = came[node]
        (added if edge[0][0] == "s" else taken).append(edge[3])
        node = edge[0]
        if node == last:
            return added, taken


def beta_likeness(groups: Sequence[Group], table: Mapping[Any, int], given: Mapping[str, Any]) -> Finding:
    kind, beta = given.get("kind", "enhanced"), exact(given["beta"])
    worst = max(_gain(group, table, kind == "enhanced") for group in groups)
    return Finding(f"{kind}_beta_likeness", f"β = {float(given['beta'])}", float(worst), worst <= beta)


def _gain(group: Group, table: Mapping[Any, int], enhanced: bool) -> Exact:
    """The largest relative gain of a value; infinite if one gains more than −ln p in the enhanced form."""
    if not group.occurrences:
        return INFINITE
    here, there, worst = shares(group.occurrences), shares(table), Fraction(0)
    for value, q in here.items():
        gain = q / there[value] - 1
        if enhanced and gain > 0 and float(gain) > -math.log(there[value]):
            return INFINITE
        worst = max(worst, gain)
    return worst


def delta_disclosure(groups: Sequence[Group], table: Mapping[Any, int], delta: float) -> Finding:
    worst = max(_log_ratio(group, table) for group in groups)
    return Finding("delta_disclosure", f"δ = {float(delta)}", worst, worst < delta)


def _log_ratio(group: Group, table: Mapping[Any, int]) -> float:
    if set(group.occurrences) != set(table):
        return INFINITE
    here, there = shares(group.occurrences), shares(table)
    return max(abs(math.log(here[value] / there[value])) for value in table)


def skyline(groups: Sequence[Group], table: Mapping[Any, int], document: Mapping[str, Any]) -> list[Finding]:
    """The breach probability of every point that a value of the release has."""
    case = document["columns"]["sensitive"]["case"]
    worlds = [Worlds.of(group, case) for group in groups]
    bound = case != "svpi" and document["output"].get("form", "generalized") == "generalized"
    made = []
    for value, point in protected(table, document["privacy"]["skyline"]):
        l, k, m, c = (point[name] for name in "lkmc")
        truth = breach_probability(worlds, value, l, k, m)
        level = f"σ = {value_name(value)}, (ℓ, k, m) = ({l}, {k}, {m})"
        made.append(Finding("skyline", level, float(truth), truth < exact(c), bound))
    return made


def protected(table: Mapping[Any, int], given: Mapping[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Every value of the table with each of its points: its own, or else the default ones."""
    for value in sorted(table, key=place):
        for point in given.get("values", {}).get(value_name(value), given.get("default", [])):
            yield value, point
