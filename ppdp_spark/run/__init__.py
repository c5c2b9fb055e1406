"""What every run has: staging and commit, claim, registry, storage, stages, results, guarantees, errors."""
