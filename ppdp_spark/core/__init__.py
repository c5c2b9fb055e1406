"""Mathematics in numpy, scipy and numba; nothing here knows Spark."""
