"""Which sets of columns single people out, and what columns look like."""
