"""RAPTOR: layers of soft clusters (arXiv 2401.18059)."""
