"""Writes results to standard output and everything else to standard error.

Foreign text (conversations, file names, answers of models) reaches the terminal with escaped
control and bidi characters. So it can neither control the terminal nor imitate another line.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TextIO

import click

from segviz.waiting import heartbeat

if TYPE_CHECKING:
    from segviz.evaluation.aggregate import Mean, Row
    from segviz.llm import Chat

_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
_REDRAW_SECONDS = 0.1


def visible(text: str) -> str:
    """Returns ``text`` in one line, with escaped control and bidi characters."""
    return _CONTROLS.sub(lambda match: repr(match[0])[1:-1], text)


def plain(value: Any) -> Any:
    """Converts ``value`` to JSON values.

    Dataclasses become objects, arrays become lists, NaN and infinity become null. Keys become
    strings, the key None becomes ``"none"``.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, dict):
        return {"none" if key is None else str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):  # numpy, without importing it when only the app starts
        return plain(value.tolist())
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value


class OutputError(Exception):
    """Failure to write standard output, with the OSError as its cause."""


@contextmanager
def output_errors() -> Iterator[None]:
    """Turns an OSError in a block that writes standard output into OutputError."""
    try:
        yield
    except OSError as error:
        raise OutputError from error


class Console:
    """Output of a command; ``quiet`` suppresses notes and progress, never errors."""

    def __init__(self, quiet: bool = False) -> None:
        # Both are None if the caller closed them.
        self.out, self.err = sys.stdout or StringIO(), sys.stderr or StringIO()
        self.quiet = quiet

    def line(self, text: str = "") -> None:
        """Writes a line of the result."""
        with output_errors():
            _write(self.out, visible(text))

    def block(self, text: str, indent: str = "    ") -> None:
        """Writes the lines of a text as part of the result, each indented by ``indent``."""
        for part in text.split("\n"):
            self.line(indent + part)

    def rows(self, rows: Sequence[Row]) -> None:
        """Writes the columns that all rows have, text at the left, numbers at the right."""
        names = [name for name in rows[0] if all(name in row for row in rows)]
        columns = []
        for name in names:
            cells = [visible(_cell(name, row[name])) for row in rows]
            width = max(8, *map(len, cells))
            heading = wrap(name, width, break_long_words=False, break_on_hyphens=False)
            columns.append(heading + cells)
        deep = max(map(len, columns))
        for place, (name, cells) in enumerate(zip(names, columns, strict=True)):
            width = max(map(len, cells))
            left = all(isinstance(row[name], str) for row in rows)
            cells = [""] * (deep - len(cells)) + cells  # headings end on the same line
            columns[place] = [cell.ljust(width) if left else cell.rjust(width) for cell in cells]
        for line in zip(*columns, strict=True):
            with output_errors():
                _write(self.out, "  ".join(line).rstrip())

    def json(self, command: str, content: dict[str, Any]) -> None:
        """Writes the result as one JSON object in ASCII; ``command`` is its first member."""
        document = plain({"command": command, **content})
        with output_errors():
            _write(self.out, json.dumps(document, indent=1, allow_nan=False))

    def raw(self, content: str | bytes) -> None:
        """Writes the content of a file unchanged, for example into a pipe."""
        with output_errors():
            data = content if isinstance(content, bytes) else content.encode()
            click.echo(data, file=self.out, nl=False)

    def flush(self) -> None:
        """Writes buffered standard output; raises OutputError if that fails."""
        with output_errors():
            self.out.flush()

    def note(self, text: str) -> None:
        """Writes a note to standard error, unless the console is quiet."""
        if not self.quiet:
            _write(self.err, visible(text))

    def error(self, text: str) -> None:
        """Writes an error message to standard error."""
        _write(self.err, f"segviz: {visible(text)}")

    @contextmanager
    def progress(
        self,
        what: str,
        noun: str,
        log_seconds: float = 10.0,
        chat: Chat | None = None,
        replies: float = 0,
    ) -> Iterator[Callable[[int, int], None]]:
        """Yields a function ``(done, total)`` that updates a progress line on standard error.

        Without a terminal it writes a new line every ``log_seconds``. While a model, ``chat``, is
        waited for, the line goes on, with the number of its replies, of about ``replies``. The
        progress bar of click would leave its last line on the terminal.
        """
        from segviz.llm.usage import Pace  # the app starts without it

        shown = not self.quiet and self.err.isatty()
        began = last = time.monotonic()
        if chat is not None and not shown:
            last -= log_seconds
        pace = Pace(chat, replies)
        at: tuple[int, int] | None = None

        def show(done: int, total: int) -> None:
            """Writes the progress, unless it was written a moment ago."""
            nonlocal last, at
            at = done, total
            now = time.monotonic()
            # A terminal is redrawn a few times a second, a log gets a line every few seconds.
            pace_text = pace.phrase(done, total, now)
            if self.quiet or (shown and done < total and now - last < _REDRAW_SECONDS):
                return
            if not shown and (done == total or now - last < log_seconds):
                return
            last = now
            line = f"{visible(what)}: {done} of {total} {noun}{pace_text}"
            self.err.write(f"\r{line}\x1b[K" if shown else f"{line}\n")
            self.err.flush()

        def beat() -> None:
            if at is not None:
                show(*at)

        try:
            with heartbeat(beat):
                yield show
        finally:
            if shown and last != began:
                self.err.write("\r\x1b[K")
                self.err.flush()


def _cell(name: str, value: str | int | float | Mean) -> str:
    """Formats a cell: a mean with its interval, numbers to three decimals."""
    from segviz.evaluation.aggregate import Mean  # already loaded if there are rows

    sign = "+" if name == "gain" else ""
    if isinstance(value, Mean):
        interval = f" [{value.low:{sign}.3f}, {value.high:{sign}.3f}]" if value.has_interval else ""
        return f"{value.value:{sign}.3f}{interval}" if value.n else ""
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3f}"
    return str(value)


def _write(stream: TextIO, text: str) -> None:
    """Writes a line to ``stream``, with escapes for characters that its encoding lacks."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
