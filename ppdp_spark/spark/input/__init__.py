"""Where rows come from: files and how they are read, a table given by a caller, and whether files stay."""
