"""Releases together: which values people can still have, and how likely each is."""
