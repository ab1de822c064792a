"""Asking for one of a set of labels, and reading the answer leniently but exactly."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_FENCE = re.compile(r"\A```[\w-]*\s*(.*?)\s*```\Z", re.DOTALL)
_QUOTES = ('""', "''", "``", "**", "“”", "‘’", "«»")


def response_format(labels: Sequence[str]) -> dict[str, Any]:
    """The structured output that allows exactly ``{"label": <one of labels>}``."""
    schema = {
        "type": "object",
        "properties": {"label": {"type": "string", "enum": list(dict.fromkeys(labels))}},
        "required": ["label"],
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "label", "strict": True, "schema": schema},
    }


def instruction(labels: Sequence[str]) -> str:
    """What a server without structured output is told, and any server after a wrong answer."""
    listed = ", ".join(json.dumps(label, ensure_ascii=False) for label in dict.fromkeys(labels))
    return f"Answer with exactly one of these labels and nothing else: {listed}"


def without_thoughts(text: str) -> str:
    """The answer without the reasoning some local models write in front of it."""
    return _THOUGHTS.sub("", text, count=1).strip()


def find(text: str, labels: Sequence[str]) -> str | None:
    """The label ``text`` gives: as JSON, bare, quoted, fenced, in other letter case or with
    a full stop; None where it gives none of them, or more than one."""
    said = _unwrapped(text)
    if said in labels:
        return said
    same = {label for label in labels if label.casefold() == said.casefold()}
    return same.pop() if len(same) == 1 else None


def _unwrapped(text: str) -> str:
    said = text.strip()
    fenced = _FENCE.match(said)
    said = fenced.group(1) if fenced else said
    said = _from_json(said)
    for pair in _QUOTES:
        if len(said) > 1 and said[0] == pair[0] and said[-1] == pair[1]:
            said = said.strip(pair).strip()
    return said.removesuffix(".").strip()


def _from_json(said: str) -> str:
    try:
        value = json.loads(said)
    except (ValueError, RecursionError):
        return said
    if isinstance(value, dict):
        value = value.get("label", said)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return said
    return str(value).strip()
