"""Sources of the transcript, evidence-list and diff components."""

from __future__ import annotations

from importlib.resources import files


def transcript_script() -> str:
    """Source of transcript.js."""
    return _read("transcript.js")


def evidence_script() -> str:
    """Source of evidence.js."""
    return _read("evidence.js")


def diff_script() -> str:
    """Source of diff.js."""
    return _read("diff.js")


def list_styles() -> str:
    """Source of lists.css."""
    return _read("lists.css")


def _read(name: str) -> str:
    return files("segviz.frontend").joinpath(name).read_text(encoding="utf-8")
