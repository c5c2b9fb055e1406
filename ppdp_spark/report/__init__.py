"""The report of a run: plain sentences for the terminal, one self-contained HTML file for the board."""

from __future__ import annotations

from ppdp_spark.report.compared import render_comparison
from ppdp_spark.report.comparing import Compared
from ppdp_spark.report.frontier import Choice
from ppdp_spark.report.page import render
from ppdp_spark.report.sentences import COMMON_LIMITS, Guarantee, guarantees, outcome, passed
from ppdp_spark.report.sweeping import render_sweep

__all__ = [
    "COMMON_LIMITS",
    "Choice",
    "Compared",
    "Guarantee",
    "guarantees",
    "outcome",
    "passed",
    "render",
    "render_comparison",
    "render_sweep",
]
