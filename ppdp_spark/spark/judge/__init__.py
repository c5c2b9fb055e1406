"""Published files and other tables of groups, read back and judged."""
