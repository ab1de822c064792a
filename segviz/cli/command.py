"""Base of all commands: options in titled sections, their help, errors, exit codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import reduce, wraps
from inspect import cleandoc
from types import SimpleNamespace
from typing import Any

import click

from segviz.cli.console import Console as Console
from segviz.cli.console import output_errors
from segviz.cli.console import plain as plain

OK, FAILED, USAGE, UNFINISHED, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141

EXITS = (
    ("0", "done"),
    ("1", "the server failed, or the doctor found something missing"),
    ("2", "the file or the options cannot be used; the message says why"),
    (
        "3",
        "a model or the workers gave up; finished work is saved, the same command continues it. "
        "Of segviz audit: a share misses its limit (--fail-under)",
    ),
    ("130", "interrupted (Ctrl+C)"),
)
"""Exit codes of all commands, for the help. Another code, 141, means that the reader of a pipe has
closed it."""

Options = SimpleNamespace
"""Options of a command: an attribute with the value of each."""

Run = Callable[[Options, Console], int]
Option = Callable[[Any], Any]


class UsageError(click.ClickException):
    """Error in the file or the options; the message says why."""

    exit_code = USAGE


class Unfinished(click.ClickException):
    """Error of a model or the workers; the message says why and how to continue."""

    exit_code = UNFINISHED


class Command(click.Command):
    """Command whose help is the docstring of its function; ``more`` writes further sections."""

    more: Callable[[click.HelpFormatter], None] | None = None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses the arguments; on the way click prints help and version."""
        with output_errors():
            return super().parse_args(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the docstring of the command's function; indented examples are not wrapped."""
        for paragraph in cleandoc(self.help or "").split("\n\n"):
            formatter.write_paragraph()
            if "\n    " in paragraph:
                formatter.write("".join(f"  {line}\n" for line in paragraph.splitlines()))
                continue
            with formatter.indentation():
                formatter.write_text(paragraph)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the help of all options, section by section."""
        sections: dict[tuple[str, str], list[tuple[str, str]]] = {_UNTITLED: []}
        for option in self.get_params(ctx):
            row = option.get_help_record(ctx)
            if row is not None and not isinstance(option, click.Argument):
                sections.setdefault(getattr(option, "section", _UNTITLED), []).append(row)
        for (title, about), rows in sections.items():
            with formatter.section(title):
                if about:
                    formatter.write_text(about)
                    formatter.write_paragraph()
                formatter.write_dl(rows)
        if self.more is not None:
            self.more(formatter)


_UNTITLED = ("Options", "")


class _Option(click.Option):
    """Option with the section of the help that lists it: a title and an introduction."""

    def __init__(self, *given: Any, section: tuple[str, str], **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.section = section


def section(title: str, about: str = "") -> Callable[..., Option]:
    """Returns a function that makes options in a section of the help.

    It takes names ("-o --output"), a line of help, ``usual`` (the default in words) and arguments
    of ``click.option``.
    """

    def option(names: str, meaning: str, usual: object = True, **settings: Any) -> Option:
        shown = usual if usual is True else str(usual)
        settings = {"help": meaning, "show_default": shown, **settings}
        return click.option(*names.split(), cls=_Option, section=(title, about), **settings)

    return option


option = section(*_UNTITLED)
"""Function that makes options in the untitled first section; see :func:`section`."""


def together(*options: Option) -> Option:
    """Combines options into one decorator, which adds them in the given order."""
    return lambda run: reduce(lambda made, add: add(made), reversed(options), run)


def command(run: Run) -> Command:
    """Turns a function into a command whose help is the docstring of the function."""

    @wraps(run)
    def called(**given: Any) -> int:
        """Runs the command; an error in what a plug-in hands over becomes a usage error."""
        console = Console(given.get("quiet", False))
        # What a plug-in prints is no part of the result.
        with redirect_stdout(console.err):
            try:
                return run(Options(**given), console)
            except ValueError as error:
                from segviz.handover import HandoverError  # brings numpy along

                if isinstance(error, HandoverError):
                    raise UsageError(str(error)) from error
                raise

    help_names = {"help_option_names": ["-h", "--help"]}
    return click.command(cls=Command, context_settings=help_names)(called)


output_options = together(
    option("--json", "Print JSON, as described above.", is_flag=True),
    option("-q --quiet", "No notes, no progress; errors remain.", is_flag=True),
)


def either(options: Options, *names: str) -> None:
    """Raises UsageError if more than one of the named options is given."""
    given = [f"--{name}" for name in names if getattr(options, name, None)]
    if len(given) > 1:
        raise UsageError(f"give {' or '.join(given)}, not both")


def _list_of(kind: Callable[[str], Any], expected: str) -> Callable[[str], tuple[Any, ...]]:
    """Returns a function that parses a text of different values, separated by commas."""

    def parse(given: str) -> tuple[Any, ...]:
        """Returns the distinct values in a comma-separated text."""
        try:
            values = tuple(kind(part) for part in given.split(","))
        except ValueError:
            raise click.BadParameter(f"{given!r} found; expected {expected}") from None
        if len(set(values)) < len(values):
            raise click.BadParameter(f"{given!r} names one twice; name each once")
        return values

    return parse


names = _list_of(str, "names, as a,b")
whole_numbers = _list_of(int, "whole numbers, as 0,1")
numbers = _list_of(float, "numbers, as 0.1,0.5")


@contextmanager
def user_errors(*kinds: type[Exception]) -> Iterator[None]:
    """Turns exceptions of these ``kinds`` (default: ValueError) in a block into UsageError."""
    expected = kinds or (ValueError,)
    try:
        yield
    except expected as error:
        message = str(error)
        if isinstance(error, OSError):
            message = ": ".join(
                filter(None, (str(error.filename or ""), error.strerror or message))
            )
        elif isinstance(error, KeyError) and error.args:  # str() would give the repr of its message
            message = str(error.args[0])
        raise UsageError(message) from None
