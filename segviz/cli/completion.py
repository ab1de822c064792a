"""``segviz completion``: prints scripts that complete commands, options and their values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from segviz.cli.command import OK, Options, command
from segviz.cli.console import Console

SHELLS = ("bash", "zsh", "fish")


@command
@click.argument("shell", type=click.Choice(SHELLS))
def completion(options: Options, console: Console) -> int:
    """Prints a script that completes commands and options in bash, zsh or fish.

    The script asks segviz for the possible words while you type.

    Examples, for ~/.bashrc, ~/.zshrc (after compinit) and fish:
        eval "$(segviz completion bash)"
        eval "$(segviz completion zsh)"
        segviz completion fish > ~/.config/fish/completions/segviz.fish
    """
    from segviz.cli import COMPLETE, SEGVIZ  # here, because they import this module

    shell = get_completion_class(options.shell)
    assert shell is not None
    console.raw(shell(SEGVIZ, {}, "segviz", COMPLETE).source() + "\n")
    return OK
