"""What every run has: staging, claim, registry, storage, results, metrics, published tables, errors."""
