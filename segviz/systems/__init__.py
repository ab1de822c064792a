"""Stage: memory architectures, one file each; adding a row here is all it takes."""

from __future__ import annotations

from typing import Any

from segviz.systems.segment_tree import SegmentTree

SYSTEMS: dict[str, type[Any]] = {
    "segment-tree": SegmentTree,
}
"""Name to frozen dataclass. Fields are its parameters, the docstring its description."""
