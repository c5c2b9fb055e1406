"""Attacks on finished releases that need no background knowledge, distributed."""
