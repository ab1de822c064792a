"""Sources of the transcript, evidence-list, node-list and diff components.

Each script is one ES module: the helpers in lines.js, then the component.
"""

from __future__ import annotations

from importlib.resources import files


def transcript_script() -> str:
    """Source of transcript.js and its helpers."""
    return _read("lines.js", "transcript.js")


def evidence_script() -> str:
    """Source of evidence.js and its helpers."""
    return _read("lines.js", "evidence.js")


def nodes_script() -> str:
    """Source of nodes.js and its helpers."""
    return _read("lines.js", "nodes.js")


def diff_script() -> str:
    """Source of diff.js and its helpers."""
    return _read("lines.js", "diff.js")


def list_styles() -> str:
    """Source of lists.css."""
    return _read("lists.css")


def _read(*names: str) -> str:
    folder = files("segviz.frontend")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)
