"""Summaries for the report, and its pages read back."""
