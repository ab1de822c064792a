"""Sources of the transcript, evidence-list, node-list and diff components.

Each script is one ES module: the helpers in lines.js and pointing.js, then the component.
"""

from __future__ import annotations

from segviz.frontend.scripts import joined, source


def transcript_script() -> str:
    """Source of transcript.js and its helpers."""
    return joined("lines.js", "pointing.js", "transcript.js")


def evidence_script() -> str:
    """Source of evidence.js and its helpers."""
    return joined("lines.js", "evidence.js")


def nodes_script() -> str:
    """Source of nodes.js and its helpers."""
    return joined("lines.js", "nodes.js")


def diff_script() -> str:
    """Source of diff.js and its helpers."""
    return joined("lines.js", "diff.js")


def list_styles() -> str:
    """Source of lists.css."""
    return source("lists.css")
