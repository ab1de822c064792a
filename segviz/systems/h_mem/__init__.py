"""H-Mem: a temporal tree of events beside a graph of entities (arXiv 2605.15701)."""
