"""The report of a run: plain sentences for the terminal, one self-contained HTML file for the board."""

from __future__ import annotations

from ppdp_spark.report.compare.comparison import Compared
from ppdp_spark.report.compare.comparison_page import render_comparison
from ppdp_spark.report.compare.frontier_chart import Choice
from ppdp_spark.report.compare.sweep_page import render_sweep
from ppdp_spark.report.page.page import render
from ppdp_spark.report.sentences.criteria import COMMON_LIMITS, Guarantee, guarantees, outcome, passed

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
