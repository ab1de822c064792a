"""Adds the options of retrieval and of the question, with the defaults of ``segviz.ask``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
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
from segviz.conversation import Conversation, Question
from segviz.memory import Memory, settings_for
from segviz.retrieval import METHODS, POLICIES, PRESETS, RELEVANCE, RetrievalSettings

DEFAULTS = RetrievalSettings()


_retrieval = section("Retrieval")


def preset_option(what: str) -> Option:
    """Returns the option ``--preset``; ``what`` names, for the help, the settings it changes."""
    named = ", ".join(map(repr, PRESETS))
    about = f"{what} of a preset; the options below override them: {named}."
    return _retrieval("--preset", about, type=click.Choice(list(PRESETS)), metavar="NAME")


scoring_options = together(
    _retrieval(
        "--relevance",
        f"Relevance of a node to a question: {', '.join(RELEVANCE)}, with parameters as in "
        "contextual:dates=0.",
        f"{DEFAULTS.relevance_for()}; in a system's own retrieval, that of its paper",
        metavar="NAME[:PARAMETER=VALUE,...]",
    ),
    _retrieval("-k", "Nodes retrieved; 1 or more.", default=DEFAULTS.k),
    _retrieval("--budget", "Tokens to retrieve, instead of K nodes.", type=int),
    _retrieval(
        "--deduplicate", "Skip nodes that repeat the text of a better one.", "kept", is_flag=True
    ),
)
SCORING = ("relevance", "k", "budget", "deduplicate")
"""Options of every command that retrieves, and their names among the retrieval settings."""

literal_option = _retrieval(
    "--literal", "Count every node of a same-text chain.", "once", is_flag=True
)

_POLICY = f"Direction of propagation: {', '.join(POLICIES)}."
_ALPHA, _HOPS = "Decay of scores per hop; 0 to below 1.", "Number of hops, H; 0 or more."
_METHOD = "Propagation as above, or the system's own retrieval."
_OWN_FIRST = "native for a system that has one, unless an option above says how nodes are scored"
_STEP = "Ask the memory in its state after this step."
_MOMENT = "the moment of the question, else the last step"
_policies = click.Choice(list(POLICIES))


retrieval_options = together(
    preset_option("Policy, alpha, horizon and relevance"),
    _retrieval("--policy", _POLICY, DEFAULTS.policy, type=_policies, metavar="NAME"),
    _retrieval("--alpha", _ALPHA, DEFAULTS.alpha, type=float),
    _retrieval("--horizon", _HOPS, DEFAULTS.horizon, type=int),
    scoring_options,
    _retrieval("--levels", "Admissible levels.", "all", type=whole_numbers, metavar="N,…"),
    literal_option,
    _retrieval("--step", _STEP, _MOMENT, type=int),
    _retrieval("--method", _METHOD, _OWN_FIRST, type=click.Choice(METHODS)),
)
"""Options for all retrieval settings."""

_NUMBER = "Ask the question of the file with this number, with its gold evidence."
number_option = option("--number", _NUMBER, type=int)


def settings_of(options: Options, memory: Memory) -> RetrievalSettings:
    """Returns the retrieval settings of the options; UsageError for a value out of range."""
    preset = DEFAULTS.with_preset(options.preset) if options.preset else None
    with user_errors():
        return settings_for(memory, preset, given(options, [one.name for one in fields(DEFAULTS)]))


def given(options: Options, names: Iterable[str]) -> dict[str, Any]:
    """Returns those of the named options that have a value, by name."""
    found = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def settings_content(settings: RetrievalSettings) -> dict[str, Any]:
    """Returns retrieval settings as fields of ``--json``.

    Policy, alpha and horizon are those in force, so no propagation for the native method.
    ``distinct`` is the negation of ``literal``.
    """
    content = {item.name: getattr(settings, item.name) for item in fields(settings)}
    content["distinct"] = not content.pop("literal")
    content["policy"], content["alpha"], content["horizon"] = settings.propagation
    return content


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
        found = conversation.question(options.number)
    return found.text, found
