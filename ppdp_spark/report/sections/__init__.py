"""The sections of the page, one per file."""
