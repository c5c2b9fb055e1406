"""How much of the data is left for those who use it."""
