"""MemForest: many small trees in the order of time (arXiv 2605.23986)."""
