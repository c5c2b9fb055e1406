"""People and groups as arrays: attributes, hierarchies, packing, sorting, summaries of groups."""
