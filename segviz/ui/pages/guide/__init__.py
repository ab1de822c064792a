"""Guide: a toy tree, the paper's cases, every system."""
