"""Numbers, names, markup and charts: how the report writes what it is given."""
