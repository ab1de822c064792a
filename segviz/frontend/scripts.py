"""Source files of a component as one ES module, and the message that Python sends it."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

_LOCAL_IMPORT: Final = re.compile(r'^import \{[^}]*\} from "\./\w+\.js";\n', re.MULTILINE)


def source(name: str) -> str:
    """Text of one file of this folder."""
    return files("segviz.frontend").joinpath(name).read_text(encoding="utf-8")


def joined(*names: str) -> str:
    """The scripts one after another, without the imports between them."""
    return "\n".join(_LOCAL_IMPORT.sub("", source(name)) for name in names)


def packed(plain: Mapping[str, Any], columns: Mapping[str, bytes]) -> bytes:
    """One message: uint32 header length, JSON header, columns (Streamlit's components accept
    raw bytes or JSON, not JSON that contains bytes).

    The header holds the ``plain`` values and, under "columns", [offset, bytes] of each
    column, counted from the end of the header. All parts are padded to 8 bytes, so that
    JavaScript (tree_message.js) can lay typed arrays over them.
    """
    table: dict[str, tuple[int, int]] = {}
    parts: list[bytes] = []
    offset = 0
    for name, raw in columns.items():
        table[name] = (offset, len(raw))
        parts.append(raw + b"\0" * (-len(raw) % 8))
        offset += len(parts[-1])
    head = json.dumps({**plain, "columns": table}, allow_nan=False).encode("ascii")
    head += b" " * (-(len(head) + 4) % 8)
    return b"".join([struct.pack("<I", len(head)), head, *parts])
