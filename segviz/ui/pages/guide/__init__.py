"""Guide: the words, a toy tree, five cases, every system."""
