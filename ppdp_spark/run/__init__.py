"""What every run has: staging, claim, registry, storage, stages, results, metrics, published tables, errors."""
