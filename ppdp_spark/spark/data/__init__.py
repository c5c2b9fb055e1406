"""From the files of a table to coded rows, and groups scanned once."""
