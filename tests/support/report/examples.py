"""Summaries and verdicts as commands write them, for tests of the report."""

from __future__ import annotations

from typing import Any

HOSTILE = """</script><script>document.title='owned'</script><img src=x onerror="alert('1')">&amp;$x "'`"""
DISEASES = ["Flu", "HIV", "Cancer", HOSTILE]


def row(criterion: str, level: str, value: Any, threshold: Any, relation: str, **rest: Any) -> dict[str, Any]:
    """A row of a verdict; it passes unless said otherwise."""
    facts = {"groups": 4123, "violations": 0, "status": "pass", "witness": {"group": 2718}}
    return {
        "criterion": criterion,
        "level": level,
        "value": value,
        "threshold": threshold,
        "relation": relation,
        **facts,
        **rest,
    }


def skyline_row(
    value: str, point: tuple[int, int, int], found: float, c: float, **rest: Any
) -> dict[str, Any]:
    witness = {
        "present": True,
        "margin": 0.0625,
        "statistics": [1.75, 2.25, "inf", 0.875, 1.0],
        "group": 3141,
        "group_people": 57,
        "excluded_values": ["Flu", HOSTILE],
        "known_people": {"group": 3142, "people": point[1]},
        "knowledge_fits": True,
    }
    level = f"σ = {value}, (ℓ, k, m) = ({point[0]}, {point[1]}, {point[2]})"
    given = {"value": value, **dict(zip("lkm", point, strict=True)), "c": c}
    return row("skyline", level, found, c, "<", **{"witness": witness, "parameters": given, **rest})


def robust_row(attributes: str, found: float, **rest: Any) -> dict[str, Any]:
    witness = {"exact_groups": 256, "bounded_groups": 3867, "group": 1618, "exact": True, "value": HOSTILE}
    level = f"r = 3, joint model, attributes [{attributes}]"
    given = {"r": 3, "model": "joint", "unique": False, "attributes": attributes}
    more = {"witness": witness, "parameters": given, **rest}
    return row("robustness", level, found, 0.3333333333333333, "<=", **more)


def passing_verdict() -> dict[str, Any]:
    measured = {"threshold": None, "relation": "<=", "status": "measured"}
    return {
        "status": "pass",
        "publishable": True,
        "reason": None,
        "criteria": [
            row("k_anonymity", "k = 10", 12.0, 10.0, ">=", parameters={"k": 10}),
            row(
                "alpha_k_anonymity",
                "α = 0.6, k = 10",
                0.5625,
                0.6,
                "<=",
                parameters={"alpha": "3/5", "k": 10},
            ),
            row("distinct_l_diversity", "ℓ = 3", 3.0, 3.0, ">=", parameters={"l": 3}),
            row("entropy_l_diversity", "ℓ = 2.5", 2.7182818, 2.5, ">=", parameters={"l": "5/2"}),
            row("recursive_l_diversity", "c = 2, ℓ = 4", 1.6180339, 2.0, "<", parameters={"c": 2, "l": 4}),
            row(
                "t_closeness",
                "t = 0.35, equal distance",
                0.34999999,
                0.35,
                "<=",
                parameters={"t": "7/20", "ordered": False},
            ),
            row("enhanced_beta_likeness", "β = 1.5", 1.4142135, 1.5, "<=", parameters={"beta": "3/2"}),
            row("delta_disclosure", "δ = 1.2", 1.0986122, 1.2, "<", parameters={"delta": "6/5"}),
            robust_row("sex", 0.3183098),
            *(
                skyline_row(value, (3, 20, 2), 0.4123 + i / 64, 0.5)
                for i, value in enumerate(["Flu", "Cancer", HOSTILE])
            ),
            skyline_row("HIV", (3, 100, 5), 0.2871, 0.3),
            {**row("basic_beta_likeness", "largest relative gain", 1.7320508, None, "<="), **measured},
            {**row("t_closeness", "largest distance, ordered", 0.2236067, None, "<="), **measured},
        ],
    }


def failing_verdict() -> dict[str, Any]:
    verdict = passing_verdict()
    criteria = verdict["criteria"]
    criteria[0] |= {"value": 4.0, "violations": 17, "status": "fail"}
    criteria[12] |= {"value": 0.7777, "violations": 1, "status": "fail"}
    return {**verdict, "status": "fail", "publishable": False, "reason": "no release was written"}


def surface(base: int) -> list[list[int]]:
    """k_max for ℓ = 0..5 and m = 0..4, falling in both; −1 where nothing is safe."""
    return [[max(-1, base - 13 * l - 7 * m - l * m) for m in range(5)] for l in range(6)]


def knowledge() -> list[dict[str, Any]]:
    breach = {
        "l": 1,
        "k": 4,
        "m": 0,
        "probability": 0.78125,
        "product": "SS2·SS5",
        "group": 1414,
        "group_people": 31,
        "group_occurrences": 3,
        "excluded_values": ["HIV"],
        "known_people_group": 1415,
        "family_group": 1416,
    }
    alone = {**breach, "l": 0, "k": 0, "m": 2, "excluded_values": []}
    return [
        {
            "value": value,
            "c": c,
            "surface": surface(40 + 11 * place + int(100 * c)),
            "points": [
                {"l": 0, "k": 40 + place, "m": 0, "breaches": [breach, alone], "open_axes": ["l"]},
                {"l": 5, "k": 3, "m": 4, "breaches": [breach], "open_axes": []},
            ],
        }
        for place, value in enumerate(DISEASES)
        for c in (0.5, 0.75, 0.3)
    ]


def passing_summary() -> dict[str, Any]:
    point = {"l": 3, "k": 20, "m": 2, "c": 0.5}
    skyline = {"default": [point], "values": {"HIV": [{"l": 3, "k": 12, "m": 2, "c": 0.3}]}}
    return {
        "command": "anonymize",
        "dataset": "hospital-stays",
        "version": "0.1.0",
        "created": "2026-03-14T15:09:26+00:00",
        "run_id": "20260314-a1b2c3",
        "spec": {
            "version": 1,
            "dataset": "hospital-stays",
            "columns": {"sensitive": {"column": "disease", "case": "svpi"}},
            "privacy": {
                "k_anonymity": 10,
                "skyline": skyline,
                "robustness": {"r": 3, "model": "joint", "priors": [{"attributes": ["sex"]}]},
            },
            "note": HOSTILE,
        },
        "spec_fingerprint": "sha256:5f1c",
        "warnings": [f"column {HOSTILE} has no role and is not published"],
        "input": {
            "rows": 101_371,
            "fingerprint": "sha256:77aa",
            "unassigned": ["ward", HOSTILE],
            "nulls": {"age": 371, HOSTILE: 29},
            "source": "data/stays.parquet",
        },
        "release": {
            "form": "generalized",
            "rows": 100_013,
            "groups": 4123,
            "suppressed": {"nulls": 0, "frequent": 1201, "unplaced": 157, "total": 1358, "rate": 0.013396336},
            "files": 8,
            "bytes": 1_234_567,
        },
        "sensitive": {
            "column": "disease",
            "case": "svpi",
            "values": [{"value": v, "count": 61_000 // (i + 1)} for i, v in enumerate(DISEASES)],
        },
        "metrics": {
            "sizes": {
                "smallest": 12,
                "mean": 24.2573368,
                "largest": 97,
                "histogram": [
                    {"from": 8, "to": 15, "groups": 707, "rows": 9_113},
                    {"from": 16, "to": 31, "groups": 2903, "rows": 63_337},
                    {"from": 32, "to": 63, "groups": 502, "rows": 26_441},
                    {"from": 64, "to": 127, "groups": 11, "rows": 1_122},
                ],
            },
            "average_class_ratio": 2.42573368,
            "discernibility": 3_141_592_653,
            "gcp": 0.2345678,
            "ncp": {"age": 0.1234567, "zip": 0.4567891, HOSTILE: 0.0},
            "queries": {
                "number": 840,
                "drawn": 3360,
                "floor": 10.0371,
                "confidence": 0.95,
                "median": 0.1618033,
                "median_interval": [0.1501, 0.1733],
                "mean": 0.5772156,
                "mean_interval": [0.4911, 0.6633],
                "table": [
                    {
                        "dimension": 1,
                        "selectivity": 0.05,
                        "queries": 420,
                        "median": 0.0915965,
                        "median_interval": [0.0811, 0.1022],
                        "mean": 0.2614972,
                        "mean_interval": [0.2111, 0.3133],
                    },
                    {
                        "dimension": 2,
                        "selectivity": 0.05,
                        "queries": 421,
                        "median": 0.1618,
                        "median_interval": [0.1411, 0.1822],
                        "mean": 1.2020569,
                        "mean_interval": [0.9011, 1.5022],
                    },
                ],
            },
        },
        "suppression": {
            "method": "r",
            "l": 3,
            "before": [61_000, 30_500, 20_333, 15_250],
            "after": [59_799, 30_500, 20_333, 15_250],
            "suppressed": 1201,
            "rate": 0.0118475,
            "audit": {
                "candidates": 4,
                "guarantee": 0.3333333333333333,
                "posterior_max": 0.4142135,
                "interval": [0.4041, 0.4243],
                "method": "monte-carlo",
                "sentence": "At least three values may have been the most frequent one.",
            },
        },
        "knowledge": knowledge(),
        "stages": [
            {"name": "read", "seconds": 3.217, "rows": 101_371},
            {"name": "partition", "seconds": 11.049, "rows": 100_013},
            {"name": "publish", "seconds": 5.881, "rows": 100_013, "groups": 4123},
        ],
        "rows_per_second": 5033.217,
        "versions": {"ppdp_spark": "0.1.0", "pyspark": "4.1.0", "python": "3.12.3"},
    }


def failing_summary() -> dict[str, Any]:
    summary = passing_summary()
    del summary["release"], summary["knowledge"]
    return summary


STATED = [f"P({HOSTILE} | sex in {{f}}) = 0.2 ± 0.05", "N(Flu | alice, bob) >= 1"]


def attack_step(rules: tuple[int, int], posteriors: tuple[float, float], **rest: Any) -> dict[str, Any]:
    """A step of an attack: largest and mean posterior at so many positive and negative rules."""
    positive, negative = rules
    solver = {
        "form": "local" if sum(rules) else "closed",
        "iterations": sum(rules) // 16,
        "residual": 3.0625e-9,
        "gap": 1.1875e-10,
        "converged": True,
        "seconds": 0.75 + sum(rules) / 256,
    }
    return {
        "positive": positive,
        "negative": negative,
        "within": 0.0,
        "statements": 2 + sum(rules),
        "kept_statements": 2 + sum(rules) * 3 // 4,
        "max_posterior": posteriors[0],
        "mean_posterior": posteriors[1],
        "certain_people": sum(rules) // 8,
        "accuracy": 0.71875 - sum(rules) / 2048,
        "solver": solver,
        **rest,
    }


def attack() -> dict[str, Any]:
    """What `attack` adds to a summary."""
    shares = [(0, 0.4140625), (25, 0.5234375), (100, 0.6171875), (250, 0.703125), (500, 0.796875)]
    return {
        "source": {
            "kind": "bucketized",
            "buckets": 2842,
            "people": 14_210,
            "tuples": 4067,
            "values": 16,
            "variables": 60_869,
            "touched_buckets": 2391,
        },
        "knowledge": {
            "stated": STATED,
            "mined": {"positive": 500, "negative": 501, "attributes": [1, 2], "support": 3},
        },
        "steps": [
            attack_step((k, k + bool(k)), (highest, 0.34375 + k / 4096), within=0.0) for k, highest in shares
        ],
        "histogram": [
            {"from": i / 10, "to": (i + 1) / 10, "people": people}
            for i, people in enumerate([0, 0, 1213, 7919, 3301, 907, 613, 257])
        ],
        "worst": [
            {
                "group": 1187 + i,
                "value": value,
                "posterior": 0.796875 - i / 64,
                "people": 3 + i,
                "prior": prior,
            }
            for i, (value, prior) in enumerate([("HIV", 0.203125), (HOSTILE, 0.390625), ("Flu", 0.1875)])
        ],
        "threshold": 0.84375,
    }


def learned_attack() -> dict[str, Any]:
    """What `attack` adds to a summary after learning from the release."""

    def side(beyond: float, right: float, shift: int) -> dict[str, Any]:
        classes = [
            {
                "from": i / 10,
                "to": (i + 1) / 10,
                "people": 1000.5 + 7 * i + shift,
                "posterior": i / 10 + 0.0625,
                "right": 100.25 * i + shift,
            }
            for i in range(2, 8)
        ]
        return {"beyond": beyond, "right": right, "classes": classes}

    learning = {
        "model": "naive_bayes",
        "classes": 187,
        "confidence": 0.53125,
        "shares": side(211.5, 99.125, 0),
        "learned": side(1379.5, 811.75, 3),
    }
    steps = [attack_step((0, 0), (0.4140625, 0.28125)), attack_step((0, 0), (0.796875, 0.40625))]
    steps[1]["solver"]["form"] = "learned"
    knowledge = {
        "stated": [],
        "mined": {"positive": 0, "negative": 0, "attributes": [], "support": 0},
    }
    return {**attack(), "steps": steps, "knowledge": knowledge, "learning": learning}


def attack_summary() -> dict[str, Any]:
    summary = passing_summary()
    kept = ("dataset", "version", "created", "run_id", "spec", "input", "sensitive", "stages", "versions")
    return {"command": "attack", **{key: summary[key] for key in kept}, "attack": attack()}


def attack_verdict() -> dict[str, Any]:
    found = row(
        "max_posterior", "all knowledge", 0.796875, 0.84375, "<=", groups=2842, witness={"group": 1187}
    )
    return {"status": "pass", "publishable": True, "reason": None, "criteria": [found]}


def failing_attack() -> tuple[dict[str, Any], dict[str, Any]]:
    """Summary and verdict of an attack that infers more than is allowed."""
    summary, verdict = attack_summary(), attack_verdict()
    summary["attack"]["threshold"] = verdict["criteria"][0]["threshold"] = 0.5
    verdict["criteria"][0] |= {"violations": 913, "status": "fail"}
    reason = "somebody may be more sure than is allowed"
    return summary, {**verdict, "status": "fail", "publishable": False, "reason": reason}
