"""The same capabilities as `core`, distributed: DataFrames and Arrow only."""
