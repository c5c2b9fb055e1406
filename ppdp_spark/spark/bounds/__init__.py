"""Where the ranges of a release may end, and whose values they print."""
