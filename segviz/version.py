"""Version of segviz, and the name under which it is installed."""

__version__ = "0.1.0"

DISTRIBUTION = "segviz-explorer"
"""Name of the installed package; the package index has another project called segviz."""
