"""``segviz completion``: scripts that complete commands, options and their values."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

from segviz.cli.command import Command, Parser
from segviz.cli.console import Console
from segviz.cli.exits import OK

Words = dict[str, tuple[str, ...]]
"""Option -> values it may have; () where it takes none or any."""


def options_of(parser: argparse.ArgumentParser) -> Words:
    """The long options of a parser with their values, and under ``""`` those of its
    positional arguments."""
    words: Words = {}
    for action in parser._actions:
        names = [name for name in action.option_strings if name.startswith("--")]
        choices = tuple(map(str, action.choices or ()))
        if not action.option_strings:
            words[""] = (*words.get("", ()), *choices)
        words |= dict.fromkeys(names, choices)
    return words


def bash(commands: Mapping[str, Words]) -> str:
    """A bash function; files are completed where nothing else fits."""
    lines = [
        "_segviz() {",
        '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
        '  local command="${COMP_WORDS[1]}" words=""',
        "  COMPREPLY=()",
        '  if [ "$COMP_CWORD" -eq 1 ]; then',
        f'    words="{" ".join(filter(None, commands))} {_options(commands[""])}"',
        "  else",
        '    case "$command $before" in',
        *(
            f'      "{name} {option}") words="{" ".join(values)}" ;;'
            for name, words in commands.items()
            for option, values in words.items()
            if name and option and values
        ),
        "      *)",
        '        case "$command" in',
        *(
            f'          {name}) words="{_options(words)} {" ".join(words.get("", ()))}" ;;'
            for name, words in commands.items()
            if name
        ),
        f'          *) words="{_options(commands[""])}" ;;',
        "        esac ;;",
        "    esac",
        "  fi",
        '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
        "}",
        "complete -o default -F _segviz segviz",
    ]
    return "\n".join(lines) + "\n"


def _options(words: Words) -> str:
    return " ".join(filter(None, words))


def zsh(commands: Mapping[str, Words]) -> str:
    """The bash function, by zsh's own bridge to such functions."""
    return "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n" + (
        bash(commands)
    )


def fish(commands: Mapping[str, Words]) -> str:
    """A line for each command and option."""
    names = " ".join(filter(None, commands))
    first = f"not __fish_seen_subcommand_from {names}"
    lines = [f"complete -c segviz -n '{first}' -a '{names}'"]
    for name, words in commands.items():
        seen = f"__fish_seen_subcommand_from {name}" if name else first
        for option, values in words.items():
            if option:
                value = f" -xa '{' '.join(values)}'" if values else ""
                lines.append(f"complete -c segviz -n '{seen}' -l {option[2:]}{value}")
            elif values:
                lines.append(f"complete -c segviz -n '{seen}' -xa '{' '.join(values)}'")
    return "\n".join(lines) + "\n"


SHELLS: dict[str, Callable[[Mapping[str, Words]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=list(SHELLS), help="the shell to complete in")


def _run(options: argparse.Namespace, console: Console) -> int:
    from segviz.cli.registry import APP, COMMANDS  # the registry holds this command too

    known = {"": APP, **COMMANDS}
    words = {name: options_of(Parser("segviz", command)) for name, command in known.items()}
    console.raw(SHELLS[options.shell](words))
    return OK


COMMAND = Command(
    "print a script that completes commands and options in a shell",
    """\
Prints a script for bash, zsh or fish. It holds the commands, options and values of this
version and runs nothing of segviz while you type; make it anew after an upgrade.""",
    _arguments,
    _run,
    (
        ("bash, in ~/.bashrc", 'eval "$(segviz completion bash)"'),
        ("zsh, in ~/.zshrc", 'eval "$(segviz completion zsh)"'),
        ("fish, once", "segviz completion fish > ~/.config/fish/completions/segviz.fish"),
    ),
)
