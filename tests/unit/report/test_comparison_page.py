"""Runs side by side and the frontier of a sweep: the numbers of the JSON, and no dominated variant on it."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from ppdp_spark.cli.progress_line import Progress, live, remaining
from ppdp_spark.report import Choice, Compared, render, render_comparison, render_sweep
from ppdp_spark.report.compare.comparison import side_by_side
from ppdp_spark.report.compare.frontier_chart import LINK, MEAN_ERROR, PENALTY, QUERY_ERROR, Frontier
from ppdp_spark.report.format.chart import ChartAxis, ChartPoint, Series, chart
from ppdp_spark.report.terminal import run_table
from ppdp_spark.run.results import Comparison, Stages, Sweep, watched_by
from support.report import examples
from support.report.reading import Page

HOSTILE = examples.HOSTILE


def run(
    name: str = "first",
    *,
    k: int = 12,
    error: float | None = 0.25,
    gcp: float = 0.5,
    mean: float | None = None,
    form: str = "generalized",
) -> Compared:
    summary, verdict = examples.passing_summary(), examples.passing_verdict()
    verdict["criteria"][0]["value"] = float(k)
    summary["metrics"] |= {"gcp": gcp}
    summary["release"] |= {"form": form}
    if mean is not None:
        summary["metrics"]["queries"]["mean"] = mean
    if error is None:
        del summary["metrics"]["queries"]
    else:
        summary["metrics"]["queries"]["median"] = error
    return Compared(name, summary, verdict)


def failed(name: str = "failed") -> Compared:
    return Compared(name, examples.failing_summary(), examples.failing_verdict())


def line(runs: list[Compared], name: str) -> list[tuple[str, Any]]:
    lines = {each.name: each for part in side_by_side(runs) for each in part.lines}
    return [(entry.text, entry.value) for entry in lines[name].entries]


def test_lines_hold_the_numbers_of_the_summaries():
    runs = [run("a", k=12, error=0.25), run("b", k=30, error=0.125)]
    assert line(runs, "verdict") == [("✓ PASS", None)] * 2
    assert [text for text, _ in line(runs, "k anonymity")] == [
        "✓ 12, needs ≥ 10 (k = 10)",
        "✓ 30, needs ≥ 10 (k = 10)",
    ]
    assert line(runs, "groups") == [("4,123", 4123)] * 2
    assert line(runs, "all, median") == [("25 %", 0.25), ("12.5 %", 0.125)]
    assert line(runs, "2 asked, 5 %") == [("16.18 %", 0.1618)] * 2
    assert line(runs, "age") == [("0.1235", 0.1234567)] * 2
    assert line(runs, "suppression rate") == [("1.34 %", 0.013396336)] * 2


def test_the_worst_row_speaks_for_a_criterion_and_a_failure_comes_first():
    (nearest,) = line([run()], "skyline")
    assert nearest[0] == "✓ 0.2871, needs < 0.3 (σ = HIV, (ℓ, k, m) = (3, 100, 5); nearest of 4)"
    (broken,) = line([failed()], "skyline")
    assert broken[0] == "✗ 0.7777, needs < 0.3 (σ = HIV, (ℓ, k, m) = (3, 100, 5); nearest of 4)"
    (parameters,) = line([run()], "recursive l diversity")
    assert parameters[0] == "✓ 1.618, needs < 2 (c = 2, ℓ = 4)"
    assert line([failed()], "verdict") == [("✗ FAIL", None)]


def test_what_a_run_lacks_is_a_dash_and_what_all_lack_is_left_out():
    runs = [run("a"), run("b", error=None)]
    assert line(runs, "all, median")[1] == ("—", None)
    titles = [part.title for part in side_by_side([run("b", error=None)])]
    assert "Query error" not in titles and "Precision" in titles
    empty = Compared("empty", {}, {})
    assert [part.title for part in side_by_side([empty])] == ["Guarantees"]


def test_the_best_is_the_least_and_only_where_runs_differ():
    parts = side_by_side([run(error=0.25), run(error=0.125)])
    lines = {each.name: each for part in parts for each in part.lines}
    assert lines["all, median"].best == 0.125
    assert lines["all, mean"].best is None and lines["groups"].best is None


def test_pages_escape_names_and_reasons():
    runs = [run(HOSTILE), failed("second")]
    page = render_comparison(runs)
    changes = {f"privacy.{HOSTILE}": HOSTILE}
    choices = (Choice("x", changes, runs[0]), Choice("y", changes, None, HOSTILE))
    for markup in (page, render_sweep(HOSTILE, choices)):
        assert "<img" not in markup and "owned'</script>" not in markup
        assert markup.count("<script") == 2 and "http-equiv" in markup
    assert "✗ FAIL" in page and "✓ PASS" in page


def test_json_of_a_comparison_is_plain():
    plain = Comparison((run("a"), failed("b"))).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["runs"] == ["a", "b"]
    errors = next(part for part in plain["parts"] if part["title"] == "Query error")
    assert errors["lines"]["all, median"][0] == 0.25


def shown(content: Any, width: int = 200) -> str:
    console = Console(width=width, record=True, file=StringIO())
    console.print(content)
    return console.export_text()


def test_terminal_tables():
    told = shown(Comparison((run("[red]a"), failed("b"))))
    assert "[red]a" in told and "✓ PASS" in told and "25 %" in told
    choices = (
        Choice("k-5", {"privacy.k_anonymity": 5}, run("k-5")),
        Choice("k-9", {"privacy.k_anonymity": 9}, None, "too few [bold]people"),
    )
    told = shown(Sweep("census", choices, {"page": "out/sweep/sweep.html"}))
    assert "k_anonymity" in told and "too few [bold]people" in told and "fail" in told


# --- frontier ----------------------------------------------------------------------------------------------


def choice(loss: float | None, **changes: Any) -> Choice:
    named = {key.replace("__", "."): value for key, value in changes.items()}
    return Choice(str(named), named, None if loss is None else run(error=loss), None)


def held(*choices: Choice) -> list[bool]:
    frontier = Frontier(choices)
    return [frontier.holds(each) for each in choices]


def test_a_variant_that_demands_less_and_loses_more_is_off_the_frontier():
    key = "privacy__k_anonymity"
    assert held(choice(0.1, **{key: 5}), choice(0.2, **{key: 10})) == [True, True]
    assert held(choice(0.3, **{key: 5}), choice(0.2, **{key: 10})) == [False, True]
    assert held(choice(0.2, **{key: 5}), choice(0.2, **{key: 10})) == [False, True]
    assert held(choice(None, **{key: 50}), choice(0.2, **{key: 10})) == [False, True]


def test_smaller_is_stricter_for_distances():
    key = "privacy__t_closeness__t"
    assert held(choice(0.1, **{key: 0.5}), choice(0.2, **{key: 0.2})) == [True, True]
    assert held(choice(0.3, **{key: 0.5}), choice(0.2, **{key: 0.2})) == [False, True]


def test_forms_are_not_held_against_each_other_but_partitioners_are():
    assert held(choice(0.9, output__form="generalized"), choice(0.1, output__form="bucketized")) == [
        True,
        True,
    ]
    assert held(choice(0.9, partitioner="mondrian"), choice(0.1, partitioner="art")) == [False, True]
    points = [[{"l": 1, "k": 1, "m": 0, "c": 0.5}], [{"l": 3, "k": 1, "m": 0, "c": 0.5}]]
    unordered = [
        choice(loss, privacy__skyline__default=p) for loss, p in zip((0.9, 0.1), points, strict=True)
    ]
    assert held(*unordered) == [True, True]


def test_query_errors_are_measures_where_all_have_them_and_precision_always_is():
    one, other = Choice("a", {}, run(error=0.25, gcp=0.7)), Choice("b", {}, run(error=None, gcp=0.6))
    assert Frontier((one,)).losses(one) == {QUERY_ERROR: 0.25, MEAN_ERROR: 0.5772156, PENALTY: 0.7}
    both = Frontier((one, other))
    assert both.measures == (PENALTY,)
    assert [both.losses(one), both.losses(other)] == [{PENALTY: 0.7}, {PENALTY: 0.6}]


def test_a_median_that_is_zero_everywhere_does_not_decide():
    """As the census was ranked once: k = 50 alone was on the frontier, though it is worse in all else."""
    figures = {3: (0.44, 0.08), 10: (1.82, 0.17), 50: (5.56, 0.29)}
    choices = [
        Choice(f"k-{k}", {"privacy.k_anonymity": k}, run(k=k, error=0.0, mean=mean, gcp=gcp))
        for k, (mean, gcp) in figures.items()
    ]
    assert held(*choices) == [True, True, True]
    worse = Choice("k-2", {"privacy.k_anonymity": 2}, run(k=2, error=0.0, mean=0.45, gcp=0.08))
    assert held(worse, *choices) == [False, True, True, True]


def test_a_bucketized_release_loses_the_link_and_no_precision():
    plain, exact = run("plain"), run("exact", form="bucketized", gcp=0.483)
    assert line([plain, exact], "all (GCP)") == [("0.5", 0.5), ("exact", None)]
    assert line([plain, exact], "age")[1] == ("exact", None)
    assert "the link between quasi-identifiers and values" in line([plain, exact], "what is lost")[1][0]
    choices = tuple(Choice(each.name, {"output.form": each.name}, each) for each in (plain, exact))
    frontier = Frontier(choices)
    assert frontier.losses(choices[1]) == {QUERY_ERROR: 0.25, MEAN_ERROR: 0.5772156, LINK: 24.2573368}
    assert PENALTY in frontier.losses(choices[0]) and LINK in frontier.measures
    for told in (shown(Sweep("census", choices)), render_sweep("census", choices)):
        assert "48.3" not in told and "0.483" not in told and "24.26" in told


@pytest.mark.parametrize("form", ["generalized", "bucketized"])
def test_a_run_says_what_its_form_loses(form):
    compared = run(form=form, gcp=0.483)
    summary = {**compared.summary, "seconds": 1.5}
    told = shown(run_table(summary, compared.verdict, {}))
    page = render(compared.summary, compared.verdict)
    exact = form == "bucketized"
    assert ("48.3% (mean certainty penalty)" in told) is not exact
    assert ("the link between quasi-identifiers and values, within groups of 24.26 people" in told) is exact
    assert ("information lost over all attributes" in page) is not exact
    assert ("which value of a group belongs to whom" in page) is exact
    assert "(15.0% to 17.3%) in the median" in told and "(15.01 % to 17.33 %)" in Page(page).text


@given(
    st.lists(
        st.tuples(st.integers(2, 5), st.sampled_from([0.1, 0.2, 0.3]), st.integers(1, 4)),
        min_size=1,
        max_size=9,
    )
)
@settings(max_examples=60, deadline=None)
def test_the_frontier_is_what_nobody_beats(points):
    choices = [choice(loss / 8, privacy__k_anonymity=k, privacy__t_closeness__t=t) for k, t, loss in points]
    expected = [
        not any(
            k2 >= k and t2 <= t and l2 <= loss and (k2 > k or t2 < t or l2 < loss) for k2, t2, l2 in points
        )
        for k, t, loss in points
    ]
    assert held(*choices) == expected


def test_a_sweep_in_which_nothing_was_published_has_a_page():
    choices = (Choice("a", {"privacy.k_anonymity": 5}, None, "too few"),)
    page = render_sweep("census", choices)
    assert "0 of 1 variants" in page and "too few" in page
    assert not Sweep("census", choices).ok
    assert Sweep("census", choices).to_dict()["variants"][0]["status"] == "fail"


def test_points_of_a_chart_lie_where_their_numbers_say():
    marks = ((1.0, "1"), (10.0, "10"), (100.0, "100"))
    points = tuple(ChartPoint(x, y, f"p{x}") for (x, _), y in zip(marks, (0.5, None, 1.0), strict=True))
    drawn = chart([Series("s", points)], ChartAxis("k", marks), ChartAxis("e", ((1.0, "1"),)), "shown")
    assert 'translate(90.0,153.0)" d="M-5,0' in drawn and 'translate(610.0,36.0)" d="M-5,0' in drawn
    assert 'class="cross" transform="translate(350.0,' in drawn
    single = chart([Series("s", points[:1])], ChartAxis("k", marks[:1]), ChartAxis("e", ((0.5, "x"),)), "one")
    assert "translate(350.0,36.0)" in single


# --- stages and progress -----------------------------------------------------------------------------------


class Heard:
    def __init__(self) -> None:
        self.events: list[tuple[str, ...]] = []

    def begin(self, stage: str) -> None:
        self.events.append(("begin", stage))

    def end(self, stage: str, told: str) -> None:
        self.events.append(("end", stage, told.partition(",")[2]))


def test_stages_keep_counts_and_tell_the_watcher(caplog):
    heard, stages = Heard(), Stages()
    with caplog.at_level("INFO", logger="ppdp_spark"), watched_by(heard):
        with stages.stage("read") as counts:
            counts["rows"] = 1234
        with stages.stage("cut"):
            pass
    with stages.stage("alone"):
        pass
    stages.count("cut", groups=7)
    kept = [{key: value for key, value in stage.items() if key != "seconds"} for stage in stages.done]
    assert kept == [{"name": "read", "rows": 1234}, {"name": "cut", "groups": 7}, {"name": "alone"}]
    assert heard.events == [
        ("begin", "read"), ("end", "read", " 1,234 rows"), ("begin", "cut"), ("end", "cut", ""),
    ]  # fmt: skip
    assert "read: 0.0 s, 1,234 rows" in caplog.text


def test_a_failing_stage_is_recorded_as_failed():
    stages = Stages()
    with stages.stage("read") as counts:
        counts["rows"] = 3
    with pytest.raises(ValueError, match="no"), stages.stage("encode"):
        raise ValueError("no")
    assert [(stage["name"], stage.get("failed", False)) for stage in stages.done] == [
        ("read", False),
        ("encode", True),
    ]


def test_progress_shows_stage_tasks_and_estimate():
    counted: list[tuple[int, int] | None] = [None, (0, 8), (2, 8)]
    progress = Progress(Console(), lambda: counted[0])
    assert shown(progress).strip() == ""
    progress.begin("partition")
    assert "partition" in shown(progress) and "tasks" not in shown(progress)
    counted[0] = (0, 8)
    assert "0 of 8 tasks" in shown(progress) and "left" not in shown(progress)
    counted[0] = (2, 8)
    progress.moved -= 10
    assert "2 of 8 tasks" in shown(progress) and "about 30 s left" in shown(progress)
    assert remaining(10, 0, 8) is None and remaining(10, 8, 8) == 0


def test_a_live_display_leaves_one_line_a_stage():
    console = Console(width=100, record=True, force_terminal=True, file=StringIO())
    stages = Stages()
    with live(console, lambda: (1, 2)) as display, watched_by(display), stages.stage("read") as counts:
        counts["rows"] = 10
    assert "· read: 0.0 s, 10 rows" in console.export_text()
