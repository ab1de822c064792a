"""Runs the notebook ``sample_data/tour.ipynb``; ``python -m tests.tour`` stores what it prints.

The cells run in order in one namespace, in the notebook's folder, with no kernel: of what a
cell gives, the text it prints and the text of its last expression are kept. A page drawn by
``segviz.show`` is kept as its line of text alone, so that the file stays small.
"""

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

from tests.data import ROOT

NOTEBOOK = ROOT / "sample_data" / "tour.ipynb"


def executed(notebook: dict[str, Any], folder: Path = NOTEBOOK.parent) -> dict[str, Any]:
    """A copy of the notebook with the outputs of a fresh run."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = []
    with contextlib.chdir(folder):
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                number = 1 + sum(done["cell_type"] == "code" for done in cells)
                outputs = _outputs("".join(cell["source"]), names, number)
                cell = cell | {"execution_count": number, "outputs": outputs}
            cells.append(cell)
    return notebook | {"cells": cells}


def _outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "tour", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "tour", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        outputs.append(
            {
                "data": {"text/plain": [repr(value)]},
                "execution_count": number,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs


def main() -> None:
    notebook = executed(json.loads(NOTEBOOK.read_text(encoding="utf-8")))
    text = json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"
    NOTEBOOK.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
