"""The scenarios of `scripts/bench` and what runs, stores and shows their measurements."""
