"""Counting whom sets of columns single out, on Spark."""
