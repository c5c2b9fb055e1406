"""Synthetic census-like microdata of any size."""
