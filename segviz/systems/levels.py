"""What the levels of a memory are called, in every view and export."""

from __future__ import annotations

from collections.abc import Sequence

from segviz.systems import SYSTEMS


def level_names(system: str) -> tuple[str, ...]:
    """What a system calls its levels, from 0 upwards; () where it has no names."""
    names: tuple[str, ...] = getattr(SYSTEMS.get(system), "level_names", ())
    return names


def level_name(level: int, names: Sequence[str] = ()) -> str:
    """How views call a level: what the memory itself calls it where ``names`` tell, from 0
    upwards; else ``leaf`` for 0 and ``level n``."""
    if level < len(names):
        return names[level]
    return "leaf" if level == 0 else f"level {level}"
