"""The published figures of randomized suppression [Skewed, Sec 6], measured again."""

from __future__ import annotations

import pytest

from support.places import script

reproduction = script("reproduce_suppression")

pytestmark = pytest.mark.reproduction
needs_adult = pytest.mark.skipif(not reproduction.adult_path().is_file(), reason="no adult.csv")


@pytest.fixture(scope="module")
def population():
    return reproduction.attribute_counts(reproduction.adult_path())["occupation"]


@pytest.fixture(scope="module")
def long_run(population):
    return reproduction.mean_rates(reproduction.adult_samples(population, 0.005, 4000, 1), 6)


@needs_adult
def test_the_population_is_the_papers(population):
    assert sum(population) == 30_162
    assert len(population) == 14
    assert round(population[0] / sum(population), 3) == 0.134


@needs_adult
def test_samples_of_half_a_percent_at_l_6(long_run):
    """Published: 40 % violate, R < 3 %, Safe D > 10 %; in the long run 36.5 %, 3.5 % and 9.0 %."""
    assert 0.34 <= long_run.violating <= 0.40
    assert 0.025 <= long_run.r <= 0.04
    assert 0.08 <= long_run.safe_d <= 0.10
    assert long_run.unsafe_d <= long_run.r < 1.2 * long_run.unsafe_d
    assert long_run.suppress_all == long_run.violating


@needs_adult
def test_a_hundred_samples_agree_with_the_long_run(population, long_run):
    hundred = reproduction.mean_rates(reproduction.adult_samples(population, 0.005, 100, 0), 6)
    error = (long_run.violating * (1 - long_run.violating) / 100) ** 0.5
    assert abs(hundred.violating - long_run.violating) < 4 * error


@needs_adult
def test_smaller_samples_and_larger_l_suppress_more(population):
    by_share = [
        reproduction.mean_rates(reproduction.adult_samples(population, share, 300, 2), 6)
        for share in (0.04, 0.01, 0.005, 0.0025)
    ]
    samples = reproduction.adult_samples(population, 0.005, 300, 3)
    by_l = [reproduction.mean_rates(samples, diversity) for diversity in (4, 5, 6, 7)]
    for rows in (by_share, by_l):
        for column in ("violating", "r", "unsafe_d", "safe_d"):
            values = [getattr(row, column) for row in rows]
            assert values == sorted(values)
        assert all(row.unsafe_d <= row.r <= row.safe_d <= row.suppress_all for row in rows)


def test_zipf_over_alpha():
    rates = {a: reproduction.rates_of(reproduction.zipf_counts(a), 5) for a in reproduction.ZIPF_ALPHAS}
    assert all(rates[a].violating == 0 for a in rates if a < 0.8)
    assert all(rates[a].violating == 1 for a in rates if a >= 0.8)
    for a in (0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5):
        assert rates[a].unsafe_d <= rates[a].r < rates[a].safe_d
        assert rates[a].r < 0.8 * rates[a].safe_d


def test_zipf_over_l():
    rates = {d: reproduction.rates_of(reproduction.zipf_counts(1.0), d) for d in reproduction.ZIPF_L}
    unsafe = {d: round(row.unsafe_d, 3) for d, row in rates.items()}
    assert (unsafe[4], unsafe[5], unsafe[6], unsafe[10]) == (0.181, 0.145, 0.134, 0.299)
    assert unsafe[6] < unsafe[7] < unsafe[8] < unsafe[9] < unsafe[10]
    assert all(rates[d].r < rates[d].safe_d for d in range(4, 11))
