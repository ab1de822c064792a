"""Adds the options of retrieval and of the question, with the defaults of ``segviz.ask``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from segviz.cli.command import (
    Option,
    Options,
    UsageError,
    option,
    section,
    together,
    user_errors,
    whole_numbers,
)
from segviz.construct import Parameter, parameters
from segviz.conversation import Conversation, Question
from segviz.memory import Memory, settings_for
from segviz.retrieval import OPENING, PRESETS, PRESETS_HELP, RERANKED, RetrievalSettings

DEFAULTS = RetrievalSettings()


_retrieval = section("Retrieval")


def preset_option(what: str, default: str = "") -> Option:
    """Returns ``--preset``, which changes ``what``; ``default`` is the preset without any."""
    named = ", ".join(map(repr, PRESETS))
    about = f"{what} of a preset; the options below override them: {named}."
    about += f" Without any of these: {default!r}." * bool(default)
    about += f" {PRESETS_HELP[RERANKED]}"
    return _retrieval("--preset", about, type=click.Choice(list(PRESETS)), metavar="NAME")


def options_for(*names: str) -> Option:
    """Returns the options of some retrieval settings, as the settings declare them."""
    return together(
        *(_option(each) for each in parameters(RetrievalSettings) if each.name in names)
    )


def _option(setting: Parameter) -> Option:
    spec, name, default = setting.spec, setting.name.replace("_", "-"), setting.default
    # None means that an option is not given. For the settings of how nodes are scored this decides
    # whether a system's own retrieval is used, so they have no default but only its words.
    if default is not None and spec.part == "scoring":
        usual: object = spec.words.get(default, default)
    else:
        usual = spec.words.get(default, True)
    more: dict[str, Any] = {"type": setting.kind}
    if setting.kind is bool:
        # None means not given; a preset may then set it.
        more = {"is_flag": True, "default": None if spec.part == "nodes" else False}
    elif spec.choices:
        more = {"type": click.Choice(list(spec.choices))}
        if isinstance(spec.choices, Mapping):  # a registry, which the help lists
            more["metavar"] = "NAME"
    elif setting.kind is tuple:
        more = {"type": whole_numbers, "metavar": "N,…"}
    elif setting.kind is str:
        more = {"metavar": "NAME[:PARAMETER=VALUE,...]"}
    if usual is True and default is not None:
        more["default"] = default
    return _retrieval(f"-{name}" if len(name) == 1 else f"--{name}", spec.help, usual, **more)


SHARED = ("relevance", *RetrievalSettings.names("reading"))
"""Names of the retrieval settings that every command that retrieves has as options."""

_propagated = [name for name in RetrievalSettings.names("scoring") if name != "method"]
retrieval_options = together(
    preset_option("Policy, alpha, horizon, relevance, levels and chains", OPENING),
    options_for(*_propagated),
    *(options_for(*RetrievalSettings.names(part)) for part in ("reading", "nodes", "moment")),
    options_for("method"),  # which the options above decide, if it is not given
)
"""Options for all retrieval settings."""

_NUMBER = "Ask the question of the file with this number, with its gold evidence."
number_option = option("--number", _NUMBER, type=int)


def settings_of(options: Options, memory: Memory) -> RetrievalSettings:
    """Returns the retrieval settings of the options; UsageError for a value out of range."""
    preset = DEFAULTS.with_preset(options.preset) if options.preset else None
    with user_errors():
        names = [each.name for each in parameters(RetrievalSettings)]
        return settings_for(memory, preset, given(options, names))


def given(options: Options, names: Iterable[str]) -> dict[str, Any]:
    """Returns those of the named options that have a value, by name."""
    values = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def settings_content(settings: RetrievalSettings) -> dict[str, Any]:
    """Returns retrieval settings as fields of ``--json``; policy, alpha and horizon as in force.

    A setting that is declared with an ``opposite`` has its name, and comes last.
    """
    content: dict[str, Any] = {}
    negated: dict[str, Any] = {}
    for each in parameters(type(settings)):
        value = getattr(settings, each.name)
        if each.spec.opposite:
            negated[each.spec.opposite] = not value
        else:
            content[each.name] = value
    content["policy"], content["alpha"], content["horizon"] = settings.propagation
    return content | negated


def question_of(options: Options, conversation: Conversation) -> tuple[str | None, Question | None]:
    """Returns the text to ask and, with ``--number``, the question of the data set.

    Each is None if the options do not name it.

    Raises:
        UsageError: both are given, the text is empty, or the number is unknown.
    """
    if options.question is not None and options.number is not None:
        raise UsageError("give a question or --number, not both")
    if options.number is None:
        if options.question is not None and not options.question.strip():
            raise UsageError("the question is empty")
        return options.question, None
    with user_errors():
        question = conversation.question(options.number)
    return question.text, question
