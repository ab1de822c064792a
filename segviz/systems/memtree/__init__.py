"""MemTree: an online tree of topics (arXiv 2410.14052)."""
