"""Where the real conversations are; they never become part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def real_data(*parts: str) -> Path:
    """The file ``parts`` below SEGVIZ_DATA (default: ../shared/data beside the project).

    Skips the calling test, naming the path that was tried, when it is not there.
    """
    folder = Path(os.environ.get("SEGVIZ_DATA") or ROOT.parent / "shared" / "data")
    path = folder.joinpath(*parts)
    if not path.is_file():
        pytest.skip(f"real data absent: {path} (set SEGVIZ_DATA to the folder that holds it)")
    return path
