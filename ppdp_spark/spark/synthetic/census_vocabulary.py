"""The vocabularies of the synthetic census and how often each value occurs: invented, but plausible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatTable = NDArray[np.floating[Any]]

AGES = np.arange(100)
AGE_WEIGHTS = np.interp(
    AGES, [0, 15, 25, 35, 50, 62, 75, 85, 99], [1.15, 1.3, 1.35, 1.4, 1.25, 1.3, 0.75, 0.35, 0.03]
)
BAND_STARTS = np.array([0, 16, 20, 25, 35, 45, 55, 65, 75, 85])
AGE_BAND = np.searchsorted(BAND_STARTS, AGES, side="right") - 1

SEXES = ("Female", "Male")
_FEMALE = np.array([0.489, 0.489, 0.49, 0.495, 0.5, 0.505, 0.515, 0.53, 0.57, 0.66])
SEX_BY_BAND = np.stack([_FEMALE, 1 - _FEMALE], axis=1)

EDUCATIONS = (
    "None", "Preschool", "Primary", "Lower-secondary", "9th", "10th", "11th", "12th",
    "HS-grad", "Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
)  # fmt: skip
EDUCATION_COHORT = (0, 0, 0, 0, 1, 1, 1, 2, 2, 2)
EDUCATION_BY_COHORT = np.array(
    [
        [0.3, 0.2, 0.6, 0.9, 1.0, 1.4, 2.2, 2.4, 26, 18, 5, 6, 24, 9, 1.4, 1.6],
        [0.4, 0.2, 1.3, 1.6, 1.5, 1.8, 2.4, 2.2, 27, 16, 5, 6, 21, 10, 1.8, 1.8],
        [0.8, 0.3, 3.2, 3.5, 2.2, 2.6, 3.0, 2.4, 32, 16, 4, 5, 14, 8, 1.5, 1.5],
    ]
)


def _schooling_ceiling() -> list[int]:
    """Highest education reachable by age; odd places are for people one year behind."""
    starts = np.array([0, 3, 6, 12, 15, 16, 17, 18, 19, 21, 24, 26, 30])
    levels = np.array([0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13, 15])
    reached = levels[np.searchsorted(starts, AGES, side="right") - 1]
    behind = np.concatenate([reached[:1], reached[:-1]])
    return [int(level) for level in np.stack([reached, behind], axis=1).ravel()]


SCHOOLING_CEILING = _schooling_ceiling()
EDUCATION_TIER = (0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 3, 4, 5, 5)

MARITAL = (
    "Never-married", "Married-civ-spouse", "Married-AF-spouse", "Married-spouse-absent",
    "Separated", "Divorced", "Widowed",
)  # fmt: skip
_SINGLE = np.array([1.0, 0.985, 0.86, 0.5, 0.25, 0.17, 0.13, 0.08, 0.06, 0.05])
_WIDOWED_FEMALE = np.array([0, 0, 0.001, 0.004, 0.01, 0.03, 0.07, 0.17, 0.36, 0.66])
_WIDOWED_MALE = np.array([0, 0, 0.001, 0.002, 0.004, 0.01, 0.03, 0.06, 0.13, 0.32])


def _marital(single: FloatTable, widowed: FloatTable) -> FloatTable:
    other = np.outer(1 - single - widowed, [0.755, 0.005, 0.025, 0.035, 0.18])
    return np.hstack([single[:, None], other, widowed[:, None]])


MARITAL_BY_BAND_SEX = np.stack(
    [_marital(_SINGLE, _WIDOWED_FEMALE), _marital(_SINGLE, _WIDOWED_MALE)], axis=1
).reshape(20, len(MARITAL))

STATES = {
    "CA": 39.0, "TX": 30.5, "FL": 22.6, "NY": 19.6, "PA": 13.0, "IL": 12.5, "OH": 11.8, "GA": 11.0,
    "NC": 10.8, "MI": 10.0, "NJ": 9.3, "VA": 8.7, "WA": 7.8, "AZ": 7.4, "TN": 7.1, "MA": 7.0,
    "IN": 6.9, "MO": 6.2, "MD": 6.2, "WI": 5.9, "CO": 5.9, "MN": 5.7, "SC": 5.4, "AL": 5.1,
    "LA": 4.6, "KY": 4.5, "OR": 4.2, "OK": 4.1, "CT": 3.6, "UT": 3.4, "IA": 3.2, "NV": 3.2,
    "AR": 3.1, "KS": 2.9, "MS": 2.9, "NM": 2.1, "ID": 2.0, "NE": 2.0, "WV": 1.8, "HI": 1.4,
    "NH": 1.4, "ME": 1.4, "MT": 1.1, "RI": 1.1, "DE": 1.0, "SD": 0.9, "ND": 0.8, "AK": 0.7,
    "VT": 0.6, "WY": 0.6,
}  # fmt: skip
_GATEWAYS = {"CA", "TX", "FL", "NY", "IL", "NJ", "MA", "NV", "HI", "MD", "WA"}
GATEWAY_STATES = [int(state in _GATEWAYS) for state in STATES]

REGIONS = ("North America", "Latin America", "Europe", "Africa", "South Asia", "East Asia", "Middle East")
_BORN_ABROAD = {
    "Latin America": {
        "Mexico": 2.5, "El-Salvador": 0.32, "Guatemala": 0.27, "Cuba": 0.3, "Dominican-Republic": 0.28,
        "Colombia": 0.2, "Honduras": 0.17, "Jamaica": 0.18, "Haiti": 0.16, "Ecuador": 0.1, "Peru": 0.1,
        "Brazil": 0.12, "Venezuela": 0.13, "Nicaragua": 0.08, "Guyana": 0.07, "Argentina": 0.06,
        "Trinidad-and-Tobago": 0.06, "Panama": 0.05, "Bolivia": 0.05, "Chile": 0.05,
    },
    "Europe": {
        "Germany": 0.13, "United-Kingdom": 0.15, "Poland": 0.1, "Russia": 0.1, "Italy": 0.08, "Ukraine": 0.09,
        "France": 0.06, "Portugal": 0.05, "Romania": 0.06, "Greece": 0.05, "Ireland": 0.05, "Spain": 0.05,
        "Bosnia": 0.05, "Netherlands": 0.05, "Hungary": 0.05,
    },
    "Africa": {
        "Nigeria": 0.1, "Ethiopia": 0.07, "Ghana": 0.06, "Kenya": 0.05, "South-Africa": 0.05, "Somalia": 0.05,
        "Liberia": 0.05,
    },
    "South Asia": {"India": 0.62, "Pakistan": 0.1, "Bangladesh": 0.07, "Nepal": 0.05, "Sri-Lanka": 0.05},
    "East Asia": {
        "China": 0.5, "Philippines": 0.46, "Vietnam": 0.31, "South-Korea": 0.24, "Japan": 0.09, "Taiwan": 0.1,
        "Thailand": 0.06, "Cambodia": 0.05, "Laos": 0.05,
    },
    "Middle East": {"Iran": 0.1, "Iraq": 0.07, "Egypt": 0.06, "Lebanon": 0.05, "Israel": 0.05},
}  # fmt: skip
_BORN_NORTH = {"United-States": 88.0, "Puerto-Rico": 0.45, "Canada": 0.25}
BIRTHPLACES = {
    **_BORN_NORTH,
    **{place: weight for places in _BORN_ABROAD.values() for place, weight in places.items()},
}
BIRTHPLACE_REGION = [0] * len(_BORN_NORTH) + [
    REGIONS.index(region) for region, places in _BORN_ABROAD.items() for _ in places
]

RACES = ("White", "Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")
RACE_BY_REGION = np.array(
    [
        [77, 14.5, 3, 1.5, 4],
        [42, 14, 1, 3, 40],
        [95, 2, 1, 0, 2],
        [10, 86, 1, 0, 3],
        [3, 1, 93, 0, 3],
        [3, 1, 94, 0, 2],
        [83, 3, 6, 0, 8],
    ]
)

# Not at work, some work (pupils, the old), much work (beginners, the retiring), full working age.
WORK_ENGAGEMENT = (0, 1, 2, 3, 3, 3, 3, 2, 1, 1)


def _hours(idle: float, part_time: float) -> FloatTable:
    """Weights of 0 … 99 hours a week: a mass at 40, round numbers, and a broad hill around 38."""
    hours = np.arange(100)
    hill = np.exp(-(((hours - 38) / 11) ** 2) / 2)
    few = np.exp(-(((hours - 20) / 7) ** 2) / 2)
    weights: FloatTable = (1 - part_time) * 0.4 * hill / hill.sum() + part_time * few / few.sum() + 0.0006
    weights[[20, 30, 35, 45, 50, 60]] += np.array([0.02, 0.02, 0.03, 0.03, 0.05, 0.03]) * (1 - part_time)
    weights[40] += 0.42 * (1 - part_time)
    weights[0] = 0
    weights = (1 - idle) * weights / weights.sum()
    weights[0] = idle
    return weights


HOURS_BY_ENGAGEMENT_SEX = np.stack(
    [
        _hours(idle, part_time)
        for idle, part_time in [(1, 0), (1, 0), (0.7, 0.7), (0.66, 0.6), (0.42, 0.35), (0.36, 0.25),
                                (0.25, 0.22), (0.13, 0.08)]
    ]
)  # fmt: skip

# Frequency, typical tier of education and its width, odds of a woman against a man, pay in per cent.
OCCUPATIONS: dict[str, tuple[float, float, float, float, int]] = {
    "Executive": (6.0, 3.6, 1.2, 0.7, 170),
    "Manager": (8.0, 2.8, 1.3, 0.8, 135),
    "Engineer": (4.5, 3.4, 0.8, 0.25, 135),
    "Software-developer": (4.5, 3.3, 0.8, 0.35, 140),
    "Scientist": (2.5, 4.6, 0.8, 0.9, 110),
    "Physician": (3.0, 5.0, 0.5, 0.8, 180),
    "Nurse": (4.5, 2.7, 0.8, 6.0, 105),
    "Teacher": (6.0, 3.4, 0.7, 3.0, 85),
    "Lawyer": (2.2, 4.9, 0.5, 0.8, 150),
    "Social-worker": (3.0, 3.2, 1.0, 3.5, 80),
    "Clerk": (9.0, 1.6, 1.0, 2.8, 85),
    "Sales": (9.0, 1.6, 1.3, 1.0, 95),
    "Police-and-fire": (2.5, 1.9, 0.9, 0.25, 110),
    "Craft-and-repair": (7.5, 0.9, 0.9, 0.07, 105),
    "Machine-operator": (6.0, 0.5, 0.9, 0.4, 90),
    "Driver": (5.5, 0.6, 0.9, 0.12, 90),
    "Cook-and-waiter": (6.0, 0.6, 1.0, 1.2, 65),
    "Cleaner": (4.5, 0.0, 0.9, 1.6, 65),
    "Farmer": (2.5, 0.4, 1.1, 0.35, 80),
    "Carer": (4.5, 0.8, 1.0, 6.5, 70),
}
PAY_PERCENT_BY_OCCUPATION = [pay for *_, pay in OCCUPATIONS.values()]


def _occupations() -> FloatTable:
    """Weights by education tier and sex: 12 rows, tier-major, women first."""
    frequency, centre, width, odds, _ = np.array(list(OCCUPATIONS.values())).T
    tiers = np.arange(6)[:, None]
    by_tier = frequency * np.exp(-(((tiers - centre) / width) ** 2) / 2) + 0.02 * frequency
    shares = np.stack([odds / (1 + odds), 1 / (1 + odds)])
    weights: FloatTable = (by_tier[:, None, :] * shares).reshape(12, len(OCCUPATIONS))
    return weights


OCCUPATION_BY_TIER_SEX = _occupations()

# Hundreds of dollars a year at full pay, and the per cent of it reached by age; children earn nothing.
PAY_BY_EDUCATION = (220, 230, 250, 270, 290, 300, 310, 330, 390, 430, 470, 490, 660, 800, 1100, 1050)
PAY_PERCENT_BY_AGE = np.where(
    AGES < 16, 0, np.interp(AGES, [16, 20, 30, 45, 55, 65, 75, 99], [30, 50, 85, 115, 120, 95, 70, 60])
).astype(int)

# Prevalence at the ages of 10, 40 and 80.
CONDITIONS: dict[str, tuple[float, float, float]] = {
    "ADHD": (0.07, 0.03, 0.003),
    "Allergy": (0.12, 0.13, 0.08),
    "Alzheimer": (0.0002, 0.0005, 0.12),
    "Anemia": (0.01, 0.03, 0.07),
    "Anxiety": (0.03, 0.09, 0.06),
    "Arthritis": (0.002, 0.05, 0.34),
    "Asthma": (0.08, 0.07, 0.06),
    "Back-pain": (0.005, 0.11, 0.2),
    "COPD": (0.0005, 0.01, 0.11),
    "Cancer": (0.001, 0.015, 0.14),
    "Cataract": (0.0005, 0.003, 0.2),
    "Depression": (0.02, 0.08, 0.07),
    "Diabetes": (0.003, 0.05, 0.22),
    "Epilepsy": (0.007, 0.007, 0.01),
    "HIV": (0.001, 0.008, 0.003),
    "Heart-disease": (0.002, 0.02, 0.27),
    "Hepatitis": (0.002, 0.012, 0.015),
    "Hypertension": (0.002, 0.12, 0.5),
    "Kidney-disease": (0.001, 0.012, 0.13),
    "Migraine": (0.03, 0.09, 0.04),
    "Obesity": (0.08, 0.18, 0.14),
    "Osteoporosis": (0.0005, 0.004, 0.17),
    "Parkinson": (0.0001, 0.0006, 0.03),
    "Stroke": (0.0005, 0.005, 0.08),
    "Thyroid": (0.004, 0.04, 0.1),
}
_BAND_MIDDLES: Sequence[float] = (8, 18, 22, 30, 40, 50, 60, 70, 80, 90)


def prevalence_by_band(condition: str) -> FloatTable:
    """How common a condition is in each age band, before a person's number of conditions is bounded."""
    return np.interp(_BAND_MIDDLES, [10, 40, 80], CONDITIONS[condition])
