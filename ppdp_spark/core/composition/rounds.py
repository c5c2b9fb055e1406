"""How far the audit of several releases goes, on purpose."""

MOST_COMBINATIONS = 256
"""Ways to place somebody in groups of all releases; who has more is not looked at, and counted."""

MOST_ROUNDS = 8
"""Rounds over all releases in which bounds are narrowed; where more would be needed, it is said."""
