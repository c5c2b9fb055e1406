"""People, specs and releases, and what is read back of them."""
