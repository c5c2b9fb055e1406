"""`ppdp`: arguments, what a person sees on the terminal, and the exit code a scheduler reads."""

from ppdp_spark.cli.app import app, main

__all__ = ["app", "main"]
