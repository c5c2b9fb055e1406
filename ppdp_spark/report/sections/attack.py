"""The attack on the page: posteriors as knowledge grows, people by certainty, the worst linkages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isinf
from typing import Any

from ppdp_spark.report.format.chart import ChartAxis, ChartPoint, Series, chart, ticks
from ppdp_spark.report.format.markup import (
    Cell,
    Column,
    bar,
    data,
    facts,
    figure,
    paragraph,
    section,
    table,
    text,
    words,
)
from ppdp_spark.report.format.numbers import apart, as_number, listing, mapping, number, percent
from ppdp_spark.report.sections.learned_guesses import BEFORE_AND_AFTER, LEARNING, calibrations
from ppdp_spark.report.sentences.attack import known, rules_of

RULES = "rules"
"""Where a step to be drawn has its two numbers of rules."""

MOST_STATED = 100
MOST_LINKAGES = 200
_SOURCE = {
    "kind": "What is attacked",
    "buckets": "Groups",
    "people": "People",
    "tuples": "Combinations of quasi-identifiers",
    "values": "Sensitive values",
    "variables": "Possible linkages",
    "touched_buckets": "Groups the knowledge touches",
}
_RULES = ("Rules on who has a value", "Rules on who has not", "Known up to ±")
_STEPS = [
    *(Column(heading, "number") for heading in (*_RULES, "Facts in all", "That tell something new")),
    *(Column(heading, "number") for heading in ("Largest probability", "Mean probability")),
    *(Column(heading, "number") for heading in ("People surely known", "Distance from the truth")),
]
_SOLVER = [
    *(Column(heading, "number") for heading in _RULES),
    Column("Solved", "short"),
    *(
        Column(heading, "number")
        for heading in ("Steps", "Largest miss of a fact", "Left to gain", "Seconds")
    ),
    Column("Result", "short"),
]
_FORMS = {
    "closed": "closed form",
    "local": "on one machine",
    "distributed": "on the cluster",
    "learned": "learned on the cluster",
}
_GROWING = (
    "What the adversary concludes with so many facts: the largest probability of anybody's value, the mean "
    "over people of their likeliest value's, people whose value is certain, and the distance of what is "
    "believed from the truth: 0 for somebody who knows everything"
)
Steps = Sequence[Mapping[str, Any]]


def posteriors(attack: Mapping[str, Any]) -> list[str]:
    """All parts of the section; none without an attack."""
    if not attack:
        return []
    steps = [mapping(step) for step in listing(attack, "steps")]
    known_steps = [{**step, RULES: rules_of(attack, step)} for step in steps]
    limit, learning = attack.get("threshold"), mapping(attack, "learning")
    heading, caption = (LEARNING, BEFORE_AND_AFTER) if learning else ("As knowledge grows", _GROWING)
    return [
        paragraph(text(f"The adversary knows {known(attack)}.")),
        _source(mapping(attack, "source")),
        section("attack-curves", heading, [_curves(known_steps, limit), _steps(steps, limit, caption)], 4),
        section("attack-learning", "How often the guesses are right", calibrations(learning), 4),
        section("attack-people", "People by certainty", [_histogram(listing(attack, "histogram"))], 4),
        section("attack-worst", "Worst linkages", _worst(listing(attack, "worst"), limit), 4),
        section("attack-knowledge", "What is known", _knowledge(mapping(attack, "knowledge")), 4),
        section("attack-solver", "How it was computed", [_solver(steps)], 4),
    ]


def _source(source: Mapping[str, Any]) -> str:
    return facts([(term, data(source[key])) for key, term in _SOURCE.items() if source.get(key) is not None])


def _curves(steps: Steps, limit: Any) -> str:
    """Largest and mean posterior, and the distance from the truth, over the number of rules."""
    solved = [step for step in steps if mapping(step, "solver").get("converged") is True]
    amounts = sorted({_rules(step) for step in solved})
    if len(amounts) < 2:
        return ""
    across = ChartAxis("rules known", tuple((float(k), number(k)) for k in amounts))
    share = ChartAxis("probability", tuple((at, percent(at)) for at in ticks(1.0)))
    allowed = as_number(limit)
    bound = None if allowed is None else (float(allowed), f"allowed: {percent(limit)}")
    lines = _lines(solved, "max_posterior", shown=percent)
    drawn = [chart(lines, across, share, "Largest probability of a value", limit=bound)]
    lines = _lines(solved, "mean_posterior", shown=percent)
    drawn.append(chart(lines, across, share, "Probability of a person's likeliest value, mean over people"))
    lines = _lines(solved, "accuracy", shown=number)
    if lines:
        highest = max(p.y or 0.0 for line in lines for p in line.points)
        far = ChartAxis("distance", tuple((at, number(at)) for at in ticks(highest)))
        drawn.append(chart(lines, across, far, "Distance of what is believed from the truth: 0 knows it all"))
    return f'<div class="charts">{"".join(drawn)}</div>'


def _rules(step: Mapping[str, Any]) -> int:
    return sum(step[RULES])


def _lines(steps: Steps, key: str, *, shown: Callable[[Any], str]) -> list[Series]:
    """One line for each kind of rules and each ε; no rules at all belong to every kind."""
    found: dict[tuple[str, float], list[ChartPoint]] = {}
    for step in sorted(steps, key=_rules):
        y = as_number(step.get(key))
        if y is not None and not isinf(y):
            point = ChartPoint(float(_rules(step)), float(y), f"{number(_rules(step))} rules: {shown(y)}")
            for kind in _kinds(step, steps):
                found.setdefault(kind, []).append(point)
    return [Series(f"{kind}, ε = {number(within)}", tuple(p)) for (kind, within), p in sorted(found.items())]


def _kinds(step: Mapping[str, Any], steps: Steps) -> list[tuple[str, float]]:
    if _rules(step):
        return [(_kind(step), as_number(step.get("within")) or 0.0)]
    return list(
        {(_kind(other), as_number(other.get("within")) or 0.0): None for other in steps if _rules(other)}
    )


def _kind(step: Mapping[str, Any]) -> str:
    positive, negative = step[RULES]
    return "both kinds" if positive and negative else "positive rules" if positive else "negative rules"


def _steps(steps: Steps, limit: Any, caption: str) -> str:
    cells = []
    for step in steps:
        highest = as_number(step.get("max_posterior"))
        cells.append(
            [
                figure(step.get("positive")),
                figure(step.get("negative")),
                figure(step.get("within")),
                figure(step.get("statements")),
                figure(step.get("kept_statements")),
                figure(
                    highest, apart(highest, limit, share=True)[0] if as_number(limit) else percent(highest)
                ),
                figure(step.get("mean_posterior"), percent(step.get("mean_posterior"))),
                figure(step.get("certain_people")),
                figure(step.get("accuracy")),
            ]
        )
    return table(caption, _STEPS, cells, sortable=True)


def _histogram(classes: Sequence[Any]) -> str:
    entries = [mapping(entry) for entry in classes]
    most = max((as_number(entry.get("people")) or 0 for entry in entries), default=0) or 1
    cells = [
        [
            Cell(
                " to ".join(data(e.get(end), percent(e.get(end))) for end in ("from", "to")),
                as_number(e.get("from")),
            ),
            figure(e.get("people")),
            bar((as_number(e.get("people")) or 0) / most),
        ]
        for e in entries
    ]
    columns = [Column("Probability of the likeliest value", "short"), Column("People", "number")]
    caption = "People by how sure the adversary is of their likeliest value, with all that is known"
    return table(caption, [*columns, Column("People", "chart")], cells)


def _worst(linkages: Sequence[Any], limit: Any) -> list[str]:
    entries = [mapping(entry) for entry in linkages]
    mark = as_number(limit)
    cells = [
        [
            Cell(data(e.get("group"), str(e.get("group"))), as_number(e.get("group"))),
            words(e.get("value")),
            figure(e.get("prior"), percent(e.get("prior"))),
            figure(
                e.get("posterior"),
                apart(e.get("posterior"), limit, share=True)[0] if mark else percent(e.get("posterior")),
            ),
            figure(e.get("people")),
            bar(as_number(e.get("posterior")) or 0.0, mark=mark, outline=as_number(e.get("prior"))),
        ]
        for e in entries[:MOST_LINKAGES]
    ]
    columns = [
        Column("Group", "short"),
        Column("Value", "name text"),
        Column("Without knowledge", "number"),
        Column("With knowledge", "number"),
        Column("People", "number"),
        Column("Outline without, bar with it" + (", limit marked" if mark else ""), "chart"),
    ]
    more = len(entries) - len(cells)
    return [
        table("Where the adversary is most sure", columns, cells, sortable=True),
        paragraph(f"{more:,} more are in summary.json.") if more > 0 else "",
    ]


def _knowledge(knowledge: Mapping[str, Any]) -> list[str]:
    stated = listing(knowledge, "stated")
    items = "".join(f"<li>{text(statement)}</li>" for statement in stated[:MOST_STATED])
    more = len(stated) - MOST_STATED
    return [
        f"<ul>{items}</ul>" if items else "",
        paragraph(f"{more:,} more are in summary.json.") if more > 0 else "",
        _mined(mapping(knowledge, "mined")),
    ]


def _mined(mined: Mapping[str, Any]) -> str:
    """What was mined; nothing if nothing was."""
    if not (as_number(mined.get("positive")) or as_number(mined.get("negative"))):
        return ""
    return facts(
        [
            ("Positive rules mined", data(mined.get("positive"))),
            ("Negative rules mined", data(mined.get("negative"))),
            ("Quasi-identifiers in a rule", ", ".join(map(data, listing(mined, "attributes")))),
            ("People a rule rests on, at least", data(mined.get("support"))),
        ]
    )


def _solver(steps: Steps) -> str:
    cells = []
    for step in steps:
        solver = mapping(step, "solver")
        form = str(solver.get("form", ""))
        cells.append(
            [
                figure(step.get("positive")),
                figure(step.get("negative")),
                figure(step.get("within")),
                words(_FORMS.get(form, form)),
                figure(solver.get("iterations")),
                figure(solver.get("residual")),
                figure(solver.get("gap")),
                figure(solver.get("seconds")),
                Cell("✓ converged" if solver.get("converged") is True else "✗ not converged"),
            ]
        )
    caption = "How exactly each step was computed: misses are relative to the size of a fact"
    return table(caption, _SOLVER, cells, sortable=True)
