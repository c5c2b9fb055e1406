"""Several runs side by side: comparison and sweep."""
