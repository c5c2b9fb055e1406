"""Survey weights of groups: what is kept of them for the owner, and verdicts on their sums."""
