"""What the environment says about models: keys, each for one server, and where replies are kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from segviz.llm.endpoint import PRESETS, Endpoint

CACHE_BYTES = 1_000_000_000
"""Beyond this the oldest kept replies are dropped, and asked for again when needed."""

NAMES = ("SEGVIZ_BASE_URL", "SEGVIZ_API_KEY", "OPENAI_API_KEY")
"""What is looked at to find a key."""


def key_for(endpoint: Endpoint, known: Mapping[str, str]) -> str:
    """The key that ``known`` (such as ``os.environ``) holds for this very server, or "".

    OPENAI_API_KEY goes to api.openai.com alone and SEGVIZ_API_KEY to the server of
    SEGVIZ_BASE_URL alone: an address somebody types must never receive another's key.
    """
    if endpoint.address == PRESETS["gpt-5.4-mini"].address:
        return known.get("OPENAI_API_KEY", "").strip()
    try:
        meant = Endpoint(known.get("SEGVIZ_BASE_URL", "")).address
    except ValueError:
        return ""
    return known.get("SEGVIZ_API_KEY", "").strip() if meant == endpoint.address else ""


def cache_path(known: Mapping[str, str]) -> Path:
    """The file replies are kept in: below SEGVIZ_CACHE, else the user's cache folder."""
    folder = known.get("SEGVIZ_CACHE")
    if folder is None:
        base = known.get("XDG_CACHE_HOME") or "~/.cache"
        folder = str(Path(base).expanduser() / "segviz")
    return Path(folder) / "models.sqlite"
