"""Releases together: people found in the groups of each, and what follows."""
