"""Finds an installed browser of the Chromium family; it is never downloaded.

Unlike the core, this module reads the environment and the disk.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

VARIABLE = "SEGVIZ_BROWSER"
"""Environment variable with the path of the browser to use."""

NAMES = (
    "chromium chromium-browser google-chrome google-chrome-stable chrome microsoft-edge "
    "microsoft-edge-stable msedge brave-browser brave"
).split()
"""Programs looked for, in this order."""

INSTEAD = (
    "The interactive page (html) needs none here: opened in any browser it saves PNG and SVG "
    "and prints to PDF."
)
"""Advice if no browser can be run."""

_MAC = ("Chromium", "Google Chrome", "Microsoft Edge", "Brave Browser")
_WINDOWS = (
    "Google/Chrome/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
    "Chromium/Application/chrome.exe",
    "BraveSoftware/Brave-Browser/Application/brave.exe",
)


class BrowserError(Exception):
    """Error of a picture that cannot be drawn; its message says why and what to do."""


def find_browser(environ: Mapping[str, str] = os.environ) -> Path:
    """Returns the browser: SEGVIZ_BROWSER, else the first of ``NAMES`` on the PATH.

    Without one on the PATH, it looks in the usual places of macOS and Windows. BrowserError if
    there is no browser.
    """
    wanted = environ.get(VARIABLE, "").strip()
    path = environ.get("PATH")
    if wanted:
        program = shutil.which(os.path.expanduser(wanted), path=path)
        if program is None:
            raise BrowserError(
                "PNG and SVG cannot be drawn: "
                f"{VARIABLE} names {wanted!r}, which is no program here. {INSTEAD}"
            )
        return Path(program)
    for name in NAMES:
        if program := shutil.which(name, path=path):
            return Path(program)
    for place in _usual(environ):
        if place.is_file():
            return place
    raise BrowserError(
        "PNG and SVG are drawn by Chromium, Chrome, Edge or Brave, and none was found on this "
        f"machine; install one, or set {VARIABLE} to its program. {INSTEAD}"
    )


def _usual(environ: Mapping[str, str], platform: str = sys.platform) -> Iterator[Path]:
    """Yields the places where browsers are usually installed, on macOS and Windows."""
    if platform == "darwin":
        for root in (Path("/Applications"), Path.home() / "Applications"):
            for name in _MAC:
                yield root / f"{name}.app" / "Contents" / "MacOS" / name
    elif platform == "win32":
        for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
            if folder := environ.get(variable):
                yield from (Path(folder, place) for place in _WINDOWS)
