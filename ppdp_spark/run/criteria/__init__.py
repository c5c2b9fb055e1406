"""The criteria of a spec over the values of a table: what is promised, and when a run is refused."""
