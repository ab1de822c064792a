"""Defines the settings Streamlit runs with: the theme, no telemetry, no file watcher.

Shared by the ``segviz`` command and, through a test, by ``.streamlit/config.toml``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

SETTINGS: dict[str, Any] = {
    "browser.gatherUsageStats": False,
    "client.toolbarMode": "viewer",
    # Its links would send the error, which may quote the file, to a search engine.
    "client.showErrorLinks": "false",
    # Streamlit sends a large message once and refers to it by hash afterwards. Runs cut
    # short by rapid clicks bring the two ends out of step, and the page dies with
    # "Cached ForwardMsg MISS"; a size that no message reaches turns the references off.
    "global.minCachedMessageSize": 1_000_000_000,
    # No bare expression is meant for the page; without this Streamlit rewrites the script.
    "runner.magicEnabled": False,
    # Else every machine around could open the files of this one.
    "server.address": "127.0.0.1",
    "server.headless": True,
    "server.fileWatcherType": "none",
    "theme.baseRadius": "4px",
    "theme.baseFontSize": 15,
    "theme.headingFontSizes": ["26px", "20px", "16px", "15px", "14px", "13px"],
    "theme.light.primaryColor": "#b43a09",
    "theme.dark.primaryColor": "#ff9457",
}


def flags() -> Iterator[str]:
    """The settings as Streamlit command-line flags."""
    for name, value in SETTINGS.items():
        if isinstance(value, bool):
            yield f"--{name}={str(value).lower()}"
        elif isinstance(value, list):
            # Of a repeated flag Streamlit keeps the last alone; a list travels as JSON.
            yield f"--{name}={json.dumps(value)}"
        else:
            yield f"--{name}={value}"
