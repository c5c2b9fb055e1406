"""Inputs before Spark is asked: the first line of a CSV file, a release of ours by its folder."""
