"""What a spec may ask of the algorithm-aware audit, and what is said where it has no answer."""

from __future__ import annotations

import pytest

from ppdp_spark.core.criteria import AlphaK
from ppdp_spark.errors import SpecError
from ppdp_spark.run.criteria.audits import SAMPLE_PEOPLE, audit_of_cuts, silence
from ppdp_spark.spec import ReleaseSpec

HALF = {"alpha_k": {"alpha": 0.5, "k": 5}}
POINT = {"l": 1, "k": 2, "m": 2, "c": 0.75}
PRIORS = {"robustness": {"r": 2, "priors": [{"attributes": ["sex"]}]}}


def spec(sensitive="ill", privacy=HALF, columns=(), **more) -> ReleaseSpec:
    named = {"quasi_identifiers": {"age": {}, "sex": {}}, "sensitive": sensitive, **dict(columns)}
    return ReleaseSpec.parse(
        {
            "version": 1,
            "dataset": "d",
            "input": {"path": "x.parquet"},
            "columns": {name: given for name, given in named.items() if given is not None},
            "privacy": privacy,
            "output": {"path": "out"},
            **more,
        }
    )


NOT_AUDITED = {
    "there is no sensitive column": {"sensitive": None, "privacy": {"k_anonymity": 5}},
    "several sensitive attributes": {"sensitive": ["ill", "job"]},
    "several values per person": {
        "sensitive": {"column": "ills", "case": "mvpi-set"},
        "privacy": {"k_anonymity": 5},
    },
    "`partitioner: art`": {"privacy": PRIORS, "partitioner": "art"},
    "`columns.household`": {"columns": {"household": {"column": "home"}}},
    "`privacy.robustness`": {"privacy": PRIORS},
    "`privacy.skyline`": {"privacy": {"skyline": {"default": [POINT]}}},
}


@pytest.mark.parametrize("reason", NOT_AUDITED)
def test_what_is_not_audited_is_said_and_cannot_be_a_condition(reason):
    given = spec(**NOT_AUDITED[reason])
    (row,) = silence(given)
    assert row.level.startswith("not audited: ") and reason in row.level
    assert (row.criterion, row.status, row.value) == ("algorithm_aware", "measured", None)
    assert audit_of_cuts(given, (AlphaK(0.5, 5),), 1000) is None
    demanding = spec(**NOT_AUDITED[reason], audit={"algorithm": "full", "at_most": 0.5})
    with pytest.raises(SpecError) as caught:
        demanding.require_for("anonymize")
    assert any(
        "`audit.at_most` cannot be checked" in each and reason in each for each in caught.value.problems
    )


def test_a_condition_needs_every_group():
    for audit in ({"at_most": 0.5}, {"algorithm": "sample", "at_most": 0.5}):
        with pytest.raises(SpecError, match=r"`audit.at_most` is about every group: add `algorithm: full`"):
            spec(audit=audit)


def test_a_sample_is_the_default_and_a_condition_looks_at_all():
    people = 10_000_000
    sampled = audit_of_cuts(spec(), (), people)
    assert sampled is not None and sampled.one_in == people // SAMPLE_PEOPLE and sampled.limit is None
    assert sampled.people == 4 * SAMPLE_PEOPLE and sampled.least == 5
    full = audit_of_cuts(spec(audit={"algorithm": "full", "at_most": 0.5}), (), people)
    assert full is not None and (full.one_in, full.limit, full.people) == (1, 0.5, people)
    small = audit_of_cuts(spec(), (), 300)
    assert small is not None and (small.one_in, small.people) == (1, 300)
    assert audit_of_cuts(spec(audit={"algorithm": "none"}), (), people) is None
    assert "`audit.algorithm` is none" in silence(spec(audit={"algorithm": "none"}))[0].level


def test_what_is_measured_does_not_change_the_published_fingerprint():
    assert spec().fingerprint() == spec(audit={"algorithm": "none"}).fingerprint()
    assert spec().fingerprint() != spec(privacy={"alpha_k": {"alpha": 0.4, "k": 5}}).fingerprint()
