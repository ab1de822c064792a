"""Encodes messages to the browser; ``src/shared/message.js`` decodes them.

A message is the length of its header (uint32), the header in JSON, and columns. The header holds
plain values and, under "columns", ``[dtype, offset, bytes]`` of each column, counted from the end
of the header. It is padded to 4 bytes, so that JavaScript can use typed arrays on the columns.
(Streamlit's components accept raw bytes or JSON, not JSON that contains bytes.)
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

_DTYPES: Final = {"int32": "<i4", "float32": "<f4"}


def pack(values: Mapping[str, Any]) -> bytes:
    """Encodes JSON values and arrays as one message; arrays become columns.

    Raises TypeError for a column that is neither int32 nor float32, and ValueError for a number
    that JSON cannot express.
    """
    columns = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    plain = {name: value for name, value in values.items() if name not in columns}
    table: dict[str, tuple[str, int, int]] = {}
    parts: list[bytes] = []
    offset = 0
    for name, column in columns.items():
        dtype = column.dtype.name
        if dtype not in _DTYPES:
            raise TypeError(f"column {name} is {dtype}; expected int32 or float32")
        parts.append(column.astype(_DTYPES[dtype], copy=False).tobytes())
        table[name] = (dtype, offset, len(parts[-1]))
        offset += len(parts[-1])
    head = json.dumps({**plain, "columns": table}, allow_nan=False, separators=(",", ":")).encode(
        "ascii"
    )
    head += b" " * (-len(head) % 4)
    return b"".join([struct.pack("<I", len(head)), head, *parts])
