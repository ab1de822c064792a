"""Guide: a toy tree, five cases, every system."""
