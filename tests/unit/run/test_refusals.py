"""What a refusal claims: that there is no release only where that is proved."""

from __future__ import annotations

import pytest

from ppdp_spark.core.criteria.base import VerdictRow
from ppdp_spark.run.criteria.refusals import TOO_FREQUENT, infeasible

FAILS = VerdictRow("skyline", "σ = s, (ℓ, k, m) = (1, 0, 0)", 1.0, 0.7, "<", 1, 1, "fail")
HOLDS = VerdictRow("k_anonymity", "k = 2", 4.0, 2.0, ">=", 1, 0, "pass")


def test_with_one_value_a_person_no_release_is_safer_than_the_undivided_table():
    refused = infeasible([HOLDS, FAILS], "svpi", TOO_FREQUENT)
    assert refused is not None and refused.rows == (HOLDS, FAILS)
    told = str(refused.error)
    assert "so nothing can be published: skyline 1, needed < 0.7" in told and told.endswith(TOO_FREQUENT)
    assert "k_anonymity" not in told and "was found" not in told


@pytest.mark.parametrize("case", ["mvpi-set", "mvpi-multiset"])
def test_with_several_values_a_person_none_was_found(case):
    refused = infeasible([FAILS], case)
    assert refused is not None
    told = str(refused.error)
    assert "no release was found" in told and "does not prove that there is none" in told
    assert "nothing can be published" not in told


def test_what_holds_is_not_refused():
    assert infeasible([HOLDS], "svpi") is None and infeasible([], "mvpi-set") is None
