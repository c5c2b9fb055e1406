"""A verifier of another kind: what a reader of a release can infer, enumerated, with its own code."""
