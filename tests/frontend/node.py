"""Runs JavaScript of the project through node."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any


def run(module: Path, body: str, **arguments: Any) -> Any:
    """Value returned by ``body``, which sees the module as ``m`` and the arguments by name."""
    names = ", ".join(arguments)
    script = (
        f"import * as m from {json.dumps(module.as_uri())};\n"
        f"const {{ {names} }} = {json.dumps(arguments)};\n"
        f"const answer = await (async () => {{ {body} }})();\n"
        "process.stdout.write(JSON.stringify(answer ?? null));"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-"],
        input=script,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
