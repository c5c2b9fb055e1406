"""Commands that take a table and no spec."""
