"""Functions of the canvas in node, to be compared with their twins in Python.

What needs no Python is tested in ``segviz/frontend/test``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from segviz import frontend

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

_SOURCES = Path(frontend.__file__).parent / "src"
_PATHS = sorted([*_SOURCES.glob("shared/*.js"), *_SOURCES.glob("canvas/*.js")])
_SCRIPT = f"""
import {{ readFileSync }} from "node:fs";
const sources = {json.dumps([path.as_uri() for path in _PATHS])};
const m = Object.assign({{}}, ...await Promise.all(sources.map((path) => import(path))));
const {{ body, given }} = JSON.parse(readFileSync(0, "utf8"));
const answer = new Function("m", ...Object.keys(given), body)(m, ...Object.values(given));
console.log(JSON.stringify(answer ?? null));
"""


def run(body: str, **arguments: Any) -> Any:
    """Value returned by ``body``, which sees all functions of the canvas in ``m`` and the
    arguments by name."""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", _SCRIPT],
        input=json.dumps({"body": body, "given": arguments}),
        capture_output=True,
        encoding="utf-8",
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)
