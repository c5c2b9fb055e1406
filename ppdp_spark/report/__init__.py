"""The report of a run: plain sentences for the terminal, one self-contained HTML file for the board."""

from __future__ import annotations

from ppdp_spark.report.page import render
from ppdp_spark.report.sentences import COMMON_LIMITS, Guarantee, guarantees, outcome, passed

__all__ = ["COMMON_LIMITS", "Guarantee", "guarantees", "outcome", "passed", "render"]
