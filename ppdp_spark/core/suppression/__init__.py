"""Restoring l-eligibility of skewed data on counts alone, and what its adversary infers [Skewed]."""
