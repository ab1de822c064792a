"""Draws PNG, SVG and WebP of a view with an installed browser of the Chromium family.

The browser opens the exported page, whose canvas draws every script and emoji. It has a profile of
its own, no network, a time limit and no key of a model server, and leaves no file. Unlike the
layers below, this module runs a process and writes temporary files.
"""

from __future__ import annotations

import base64
import io
import os
import re
import signal
import struct
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import BoundedSemaphore

from segviz.export.browser import INSTEAD, VARIABLE, BrowserError, find_browser
from segviz.export.formats import Format
from segviz.export.html import FILM
from segviz.export.sheet import Sheet
from segviz.export.text import one_line
from segviz.export.view import View

SECONDS = 60
"""Time limit of the browser; a picture takes one to four seconds."""

_OTHER = f"Set {VARIABLE} to another browser. {INSTEAD}"

_AT_ONCE = BoundedSemaphore(2)  # each takes some 300 MB; a server may have many visitors

_DOTS = {"png": 2, "webp": 1}
"""Dots for each pixel of a picture, in both directions."""

_FRAME, _REST = 200, 1500  # milliseconds of a frame, and of the first and the last

_FLAGS = (
    "--headless",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-extensions",
    # No request leaves: no host name resolves, every connection, even to this machine, goes to a
    # proxy that does not exist, and the browser's own background requests are off.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    # Containers have little shared memory; crash reports and key rings are not needed.
    "--disable-dev-shm-usage",
    "--disable-breakpad",
    "--password-store=basic",
    "--use-mock-keychain",
)

# The page's script leaves the picture in the first tag, before any foreign text.
_DRAWN = re.compile(rb'(?:<!DOCTYPE html>)?\s*<html[^>]* data-picture="([A-Za-z0-9+/=]+)"', re.I)


def made(offer: Format, view: View, *, dark: bool = False) -> str | bytes:
    """Returns an export, perhaps by a browser, in ``dark`` colours; ValueError, BrowserError."""
    content = offer.make(view, dark=dark) if offer.needs_browser else offer.make(view)
    return draw(content) if isinstance(content, Sheet) else content


def draw(sheet: Sheet, *, browser: Path | None = None) -> bytes:
    """Draws a sheet as PNG with two dots for each pixel, as WebP with one, or as SVG.

    The same sheet gives the same bytes. BrowserError if the browser fails.
    """
    scale = _DOTS.get(sheet.kind, 0)
    dots = (sheet.width * scale, sheet.height * scale)
    program = browser or find_browser()
    if not _AT_ONCE.acquire(timeout=SECONDS):
        raise BrowserError("other pictures are being drawn; try again in a minute")
    try:
        with TemporaryDirectory(prefix="segviz-", dir=_shared_with(program)) as folder:
            content = _draw(sheet, scale, program, Path(folder))
    finally:
        _AT_ONCE.release()
    if scale and (content[:4] != b"\x89PNG" or struct.unpack(">II", content[16:24]) != dots):
        raise BrowserError(f"{program} drew the picture in another size. {_OTHER}")
    if sheet.kind != "webp":
        return content
    # The frames of an animation lie side by side; it is endless.
    from PIL import Image

    with Image.open(io.BytesIO(content)) as image:
        wide, high = image.width // FILM[0], image.height // FILM[1]
        corners = [(x * wide, y * high) for y in range(FILM[1]) for x in range(FILM[0])]
        frames = [image.convert("RGB").crop((x, y, x + wide, y + high)) for x, y in corners]
    made = io.BytesIO()
    times = [_REST, *[_FRAME] * (len(frames) - 2), _REST]
    frames[0].save(
        made, "WebP", save_all=True, append_images=frames[1:], duration=times, loop=0, quality=80
    )
    return made.getvalue()


def _draw(sheet: Sheet, scale: int, program: Path, folder: Path) -> bytes:
    """Runs the browser on a sheet; returns the picture, or raises BrowserError."""
    kind = "png" if sheet.kind == "webp" else sheet.kind  # its frames, side by side
    page, target, messages = folder / "sheet.html", folder / f"made.{kind}", folder / "messages"
    page.write_text(sheet.html, encoding="utf-8")
    wanted = {
        "png": (
            f"--screenshot={target}",
            f"--window-size={sheet.width},{sheet.height}",
            f"--force-device-scale-factor={scale}",
        ),
        "svg": ("--dump-dom",),  # to the standard output
    }
    # Chromium refuses to run as root in its sandbox; it only opens this one page of ours.
    root = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
    command = [str(program), *_FLAGS, *root, f"--user-data-dir={folder / 'profile'}"]
    command += [*wanted[kind], page.as_uri() + sheet.fragment]
    try:
        code = _run(command, messages, target if kind == "svg" else None)
    except OSError as error:
        raise BrowserError(f"{program} does not start ({error.strerror}). {_OTHER}") from None
    except subprocess.TimeoutExpired:
        why = f"{program} took more than {SECONDS} seconds and was stopped. {_OTHER}"
        raise BrowserError(why) from None
    content = target.read_bytes() if target.is_file() else b""
    if kind == "svg":
        match = _DRAWN.match(content)
        content = base64.b64decode(match[1]) if match else b""
    if not content:
        # The browser's fatal error, or its last message.
        lines = list(filter(str.strip, messages.read_text("utf-8", "replace").splitlines()))
        telling = [line for line in lines if "FATAL" in line] or lines
        why = f": {one_line(telling[-1], 300)}" if telling else ""
        raise BrowserError(f"{program} made no picture (exit code {code}{why}). {_OTHER}")
    return content


def _run(command: Sequence[str], messages: Path, printed: Path | None = None) -> int:
    """Runs the browser, its messages and its output into these files; returns its exit code."""
    environ = {name: text for name, text in os.environ.items() if not name.endswith("_API_KEY")}
    with ExitStack() as files:  # no pipes: helpers that outlive the browser would keep them open
        output = files.enter_context(messages.open("wb"))
        target = files.enter_context(printed.open("wb")) if printed else output
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=target,
            stderr=output,
            env=environ,
            start_new_session=True,
        )
        try:
            return process.wait(SECONDS)
        finally:
            # Its helpers end too, so that none writes to the folder any more.
            if sys.platform == "win32":
                process.kill()  # its helpers follow by themselves
            else:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _shared_with(program: Path) -> Path | None:
    """Returns a folder for temporary files that a browser from a snap can read; else None."""
    if program.resolve().name != "snap":
        return None
    common = Path.home() / "snap" / program.name / "common"
    return common if common.is_dir() else Path.home()
