"""Functions of the canvas in node, to be compared with their twins in Python.

One process answers all calls. What needs no Python is tested in ``segviz/frontend/test``.
"""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from segviz import frontend

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

_SOURCES = Path(frontend.__file__).parent / "src"
_SERVER = """
import { createInterface } from "node:readline";
const m = Object.assign({}, ...await Promise.all(sources.map((path) => import(path))));
const AsyncFunction = (async () => {}).constructor;
for await (const line of createInterface({ input: process.stdin })) {
  const { body, given } = JSON.parse(line);
  let answer;
  try {
    const act = new AsyncFunction("m", ...Object.keys(given), body);
    answer = { value: await act(m, ...Object.values(given)) ?? null };
  } catch (error) {
    answer = { error: error.stack };
  }
  console.log(JSON.stringify(answer));
}
"""


@cache
def _node() -> subprocess.Popen[str]:
    paths = [*_SOURCES.glob("shared/*.js"), *_SOURCES.glob("canvas/*.js")]
    sources = json.dumps([path.as_uri() for path in sorted(paths)])
    process = subprocess.Popen(
        ["node", "--input-type=module", "-e", f"const sources = {sources};\n{_SERVER}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    atexit.register(process.communicate)
    return process


def run(body: str, **arguments: Any) -> Any:
    """Value returned by ``body``, which sees all functions of the canvas in ``m`` and the
    arguments by name."""
    process = _node()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"body": body, "given": arguments}) + "\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert "error" not in answer, answer["error"]
    return answer["value"]
