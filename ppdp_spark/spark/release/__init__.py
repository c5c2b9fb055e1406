"""From groups to published files."""
