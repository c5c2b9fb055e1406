"""All scenarios by name, in the order in which they run. Light: what measures is loaded elsewhere."""

from __future__ import annotations

from benchmarks.scenario import Options, Parameters, Scenario

CUTS = ("paper", "even")
PEERS = ("anonypy", "polarfrost")
POINTS = (0, 20)
MODELS = ("joint", "binary")
WIDTHS = (2, 8, 20)
DISTINCT_VALUES = 1_000_000
SKYLINES = ({"l": 2, "k": 3, "m": 0, "c": 0.6}, {"l": 2, "k": 3, "m": 2, "c": 0.6})
LARGE_SKYLINES = ({"l": 0, "k": 1000, "m": 0, "c": 1.0}, {"l": 3, "k": 1000, "m": 10, "c": 1.0})
FLAT, ONE_PASS = "flat L-BFGS", "one pass"
ATTACK_STATEMENTS = (200, 1_000)
FEATURES = {
    "identifiers": "census",
    "audit": "census",
    "blind": "census",
    "three attributes": "attributes",
    "several rows per person": "visits",
}
_ATTACK_FACTS = {
    "buckets": "buckets",
    "variables": "variables",
    "Newton steps": "newton_steps",
    "passes": "passes",
    "residual": "residual",
}
_RELEASE_FACTS = {
    "verdict": "verdict",
    "people a group": "mean_size",
    "people a group, k-anonymity": "baseline.mean_size",
    "NCP": "ncp",
}


def _releases(options: Options) -> list[Parameters]:
    return [{"k": k, "form": form, **options.spark()} for form in options.forms for k in options.k]


def _feature(name: str, table: str) -> Scenario:
    return Scenario(
        name=f"feature-{name.replace(' ', '-')}",
        about=f"`ppdp anonymize` of a census, 8 quasi-identifiers, against the same without: {name}",
        module="features",
        rows=(1_000_000, 10_000_000),
        variants=lambda options: [{"feature": name, **options.spark()}],
        ratio=("with", "without"),
        tables=(table,),
        facts=_RELEASE_FACTS,
    )


def _peers(options: Options) -> list[Parameters]:
    return [{"peer": peer, "k": options.k[0], **options.session()} for peer in PEERS]


_ALL = (
    Scenario(
        name="kernel",
        about="Mondrian inside one task, one core, in memory, against one stable sort of all rows",
        module="kernel",
        rows=(1_000_000,),
        variants=lambda options: [{"k": k, **options.temperature()} for k in options.k],
        ratio=("kernel", "sort"),
        tables=("census",),
        largest=10_000_000,
        facts={"people a group": "mean_size", "smallest": "smallest", "NCP": "ncp"},
    ),
    Scenario(
        name="floor",
        about="Spark alone: read, one range shuffle, write; a bare groupBy(group, sensitive).count(); a scan",
        module="floor",
        rows=(1_000_000, 10_000_000),
        variants=lambda options: [options.spark()],
        ratio=("floor", "scan"),
        tables=("census", "grouped"),
    ),
    Scenario(
        name="anonymize",
        about="`ppdp anonymize` of a census, 8 quasi-identifiers, from reading to the verified release",
        module="anonymize",
        rows=(1_000_000, 10_000_000),
        variants=_releases,
        ratio=("anonymize", "floor"),
        tables=("census",),
        facts={"verdict": "verdict", "people a group": "mean_size", "NCP": "ncp"},
    ),
    Scenario(
        name="width",
        about="`ppdp anonymize` by the number of quasi-identifiers, against the floor of the same columns",
        module="width",
        rows=(1_000_000,),
        variants=lambda options: [{"quasi_identifiers": q, "k": 10, **options.spark()} for q in WIDTHS],
        ratio=("anonymize", "floor"),
        tables=("wide",),
        facts={"verdict": "verdict", "people a group": "mean_size", "NCP": "ncp"},
    ),
    *(_feature(name, table) for name, table in FEATURES.items()),
    Scenario(
        name="skyline",
        about="`ppdp anonymize` of a census with one skyline point for every value, against k-anonymity",
        module="skyline",
        rows=(1_000_000, 10_000_000),
        variants=lambda options: [{**point, "against_k": 10, **options.spark()} for point in SKYLINES],
        ratio=("skyline", "k-anonymity"),
        tables=("census",),
        facts=_RELEASE_FACTS,
    ),
    Scenario(
        name="skyline-scale",
        about="`ppdp anonymize` of records of 44 bytes with 9 sensitive values at confidence 1, by rows, "
        "against k-anonymity with k = 1000",
        module="skyline_scale",
        rows=(1_000_000, 3_000_000, 10_000_000),
        variants=lambda options: [
            {**point, "against_k": 1000, **options.spark()} for point in LARGE_SKYLINES
        ],
        ratio=("skyline", "k-anonymity"),
        tables=("records",),
        facts=_RELEASE_FACTS,
    ),
    Scenario(
        name="check",
        about="`ppdp check` of groups of 20 people, 20 values, with and without skyline points for every "
        "value, against a bare groupBy(group, sensitive).count()",
        module="check",
        rows=(20_000_000,),
        variants=lambda options: [{"points": points, **options.spark()} for points in POINTS],
        ratio=("check", "count by group"),
        tables=("grouped",),
        facts={"groups": "groups"},
    ),
    Scenario(
        name="explore",
        about="`ppdp explore` of one value at two confidences, groups of 20 people, against a bare "
        "groupBy(group, sensitive).count()",
        module="explore",
        rows=(20_000_000,),
        variants=lambda options: [options.spark()],
        ratio=("explore", "count by group"),
        tables=("grouped",),
        facts={"groups": "groups", "maximal points": "points", "driver s": "driver"},
    ),
    Scenario(
        name="art",
        about="`ppdp anonymize` of a census by ART, 20 values, three attribute sets, against Mondrian that "
        "allows a value at most 1/r of a group",
        module="art",
        rows=(1_000_000, 3_000_000, 10_000_000),
        variants=lambda options: [{"r": 3, "model": model, **options.spark()} for model in MODELS],
        ratio=("art", "mondrian"),
        tables=("census",),
        facts={
            "verdict": "verdict",
            "people a group": "mean_size",
            "people a group, Mondrian": "baseline.mean_size",
            "share suppressed": "suppressed",
        },
    ),
    Scenario(
        name="audit",
        about="`ppdp check` of r-robustness, groups of 20 people, 20 values, two attribute sets, against a "
        "bare groupBy(group, sensitive).count()",
        module="audit",
        rows=(20_000_000,),
        variants=lambda options: [{"model": model, **options.spark()} for model in MODELS],
        ratio=("audit", "count by group"),
        tables=("signed",),
        facts={"groups": "groups", "largest posterior": "worst"},
    ),
    Scenario(
        name="suppress",
        about="`ppdp suppress` of a census where 30 % share a value, against reading and writing its columns",
        module="suppress",
        rows=(10_000_000,),
        variants=lambda options: [options.spark()],
        ratio=("suppress", "copy"),
        tables=("skewed",),
        facts={"share suppressed": "suppressed"},
    ),
    Scenario(
        name="suppress-decision",
        about="the decision of R-suppression on the counts of a million values, against a sort of the counts",
        module="decision",
        rows=(1_000_000_000,),
        variants=lambda options: [{"values": DISTINCT_VALUES, **options.temperature()}],
        ratio=("decision", "sort"),
        fixed_rows=True,
        facts={"share suppressed": "suppressed"},
    ),
    Scenario(
        name="attack",
        about="the conclusions of an adversary with so many statements on a release in buckets of five, in "
        "memory on one core, against one flat L-BFGS on the whole dual",
        module="attack",
        rows=(14_210,),
        variants=lambda options: [
            {"statements": number, "against": FLAT, "cores": 1, **options.temperature()}
            for number in ATTACK_STATEMENTS
        ],
        ratio=("attack", FLAT),
        largest=100_000,
        facts={**_ATTACK_FACTS, "L-BFGS converged": "flat_converged", "L-BFGS residual": "flat_residual"},
    ),
    Scenario(
        name="attack-scale",
        about="the same by number of people on all cores, against one pass over the buckets on one core",
        module="attack",
        rows=(50_000, 500_000, 5_000_000),
        variants=lambda options: [
            {"statements": 100, "against": ONE_PASS, "cores": options.cores, **options.temperature()}
        ],
        ratio=("attack", ONE_PASS),
        facts=_ATTACK_FACTS,
    ),
    Scenario(
        name="attack-release",
        about="`ppdp attack` of a bucketized release (k = 5) with as many mined rules, on Spark, against a "
        "bare count of its people by group",
        module="attack_release",
        rows=(1_000_000, 10_000_000),
        variants=lambda options: [{"statements": 100, **options.spark()}],
        ratio=("attack", "count by group"),
        tables=("census",),
        facts={"buckets": "buckets", "touched": "touched", "solver": "solver.form"},
    ),
    Scenario(
        name="learn",
        about="`ppdp attack` of a bucketized release (k = 5) by naive Bayes learned from it, against the "
        "floor of the same rows",
        module="learn",
        rows=(1_000_000, 10_000_000),
        variants=lambda options: [options.spark()],
        ratio=("attack", "floor"),
        tables=("census",),
        facts={"variables": "variables", "rounds": "rounds"},
    ),
    Scenario(
        name="discover",
        about="`ppdp discover` of 50 columns, sets of up to four, against the floor of the same columns",
        module="discovery",
        rows=(1_000_000, 10_000_000),
        variants=lambda options: [options.spark()],
        ratio=("discover", "floor"),
        tables=("columns",),
        facts={"sets": "sets"},
    ),
    Scenario(
        name="textbook",
        about="sequential Mondrian in pandas, in memory, against the whole of `ppdp anonymize`; "
        "the cut as in the paper (the median goes left) or the more even one around the median",
        module="textbook",
        rows=(100_000, 1_000_000),
        variants=lambda options: [{"cut": cut, "k": options.k[0], **options.session()} for cut in CUTS],
        ratio=("textbook", "anonymize"),
        tables=("census",),
        largest=1_000_000,
        facts={
            "people a group, ours": "ours.mean_size",
            "people a group, textbook": "theirs.mean_size",
            "NCP, ours": "ours.ncp",
            "NCP, textbook": "theirs.ncp",
        },
    ),
    Scenario(
        name="peers",
        about="other packages from PyPI, in memory, against the whole of `ppdp anonymize`",
        module="peers",
        rows=(100_000,),
        variants=_peers,
        ratio=("peer", "anonymize"),
        tables=("census",),
        largest=1_000_000,
        facts={
            "people a group, ours": "ours.mean_size",
            "people a group, peer": "theirs.mean_size",
            "smallest, peer": "theirs.smallest",
            "rows lost, peer": "theirs.rows_lost",
        },
    ),
    Scenario(
        name="check-peers",
        about="pycanon on groups of 20 people, in memory, against the whole of `ppdp check`: k, ℓ and t",
        module="check_peers",
        rows=(100_000,),
        variants=lambda options: [options.session()],
        ratio=("pycanon", "check"),
        tables=("grouped",),
        largest=1_000_000,
        facts={"same k and ℓ": "agreed"},
    ),
)

SCENARIOS: dict[str, Scenario] = {scenario.name: scenario for scenario in _ALL}
