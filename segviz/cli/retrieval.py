"""Adds the options of retrieval and of the question; the defaults are those of ``ask``."""

from __future__ import annotations

import argparse
from dataclasses import fields, replace
from typing import Any

from segviz.cli.command import UsageError, add_number, user_errors
from segviz.conversation import Conversation, Question
from segviz.retrieval import METHODS, POLICIES, PRESETS, RELEVANCE, RetrievalSettings

DEFAULTS = RetrievalSettings()


def add_preset(parser: argparse._ActionsContainer, what: str) -> None:
    """The name of a preset, which sets ``what`` where the options that follow do not."""
    parser.add_argument(
        "--preset",
        choices=list(PRESETS),
        metavar="NAME",
        help=f"{what} of a named setting, which the options below change: "
        + ", ".join(map(repr, PRESETS)),
    )


def add_scoring(parser: argparse._ActionsContainer, default: Any = DEFAULTS.relevance) -> None:
    """Options of every retrieval: relevance, K and token budget. ``default`` is the
    relevance of options that name none; SUPPRESS leaves it to a preset."""
    parser.add_argument(
        "--relevance",
        default=default,
        metavar="NAME[:PARAMETER=VALUE,...]",
        help=f"how relevant a node is to a question: {', '.join(RELEVANCE)}, with parameters as in "
        f"contextual:dates=0 (default: {DEFAULTS.relevance_for()}; in a system's own retrieval, "
        "that of its paper)",
    )
    add_number(parser, "-k", DEFAULTS.k, "nodes retrieved; 1 or more")
    parser.add_argument(
        "--budget", type=int, metavar="TOKENS", help="retrieve as much as this pays for, not K"
    )


def add_literal(parser: argparse._ActionsContainer) -> None:
    """The paper's literal counting."""
    parser.add_argument(
        "--literal",
        action="store_true",
        help="count nodes that carry the same text each (default: once)",
    )


def add_retrieval(parser: argparse.ArgumentParser) -> None:
    """All settings of ``ask``."""
    group = parser.add_argument_group("retrieval")
    add_preset(group, "policy, alpha, horizon and relevance")
    group.add_argument(
        "--policy",
        choices=list(POLICIES),
        default=argparse.SUPPRESS,
        help=f"where scores spread: %(choices)s (default: {DEFAULTS.policy})",
        metavar="NAME",
    )
    weight = "weight of each further hop; 0 to below 1"
    add_number(group, "--alpha", DEFAULTS.alpha, weight, left_out=True)
    add_number(group, "--horizon", DEFAULTS.horizon, "hops, H; 0 or more", left_out=True)
    add_scoring(group, argparse.SUPPRESS)
    group.add_argument(
        "--levels", type=whole_numbers, metavar="N,…", help="admissible levels (default: all)"
    )
    add_literal(group)
    group.add_argument(
        "--step",
        type=int,
        metavar="N",
        help="ask the memory as it stood after this step (default: at the moment of the "
        "question, else after the last)",
    )
    group.add_argument(
        "--method",
        choices=list(METHODS),
        default=argparse.SUPPRESS,
        help=f"the above, or the retrieval the system came with (default: {DEFAULTS.method})",
    )


def settings_of(options: argparse.Namespace) -> RetrievalSettings:
    """The settings of the options; UsageError names value and range of a bad one."""
    names = [item.name for item in fields(RetrievalSettings) if hasattr(options, item.name)]
    start = DEFAULTS.with_preset(options.preset) if options.preset else DEFAULTS
    with user_errors():
        return replace(start, **{name: getattr(options, name) for name in names})


def settings_content(settings: RetrievalSettings) -> dict[str, Any]:
    """Settings as ``--json`` prints them: policy, alpha and horizon in force, and
    ``distinct`` for what is not ``literal``."""
    content = {item.name: getattr(settings, item.name) for item in fields(settings)}
    content["distinct"] = not content.pop("literal")
    content["policy"], content["alpha"], content["horizon"] = settings.propagation
    return content


def add_question(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """The question: one's own, or one of the data set's."""
    if nargs is None:
        parser.add_argument("--question", metavar="TEXT", help="the question to ask")
    else:
        parser.add_argument("question", nargs=nargs, metavar="QUESTION", help="the question to ask")
    parser.add_argument(
        "--number",
        type=int,
        metavar="N",
        help="ask a question of the file's own by its number, with its gold evidence",
    )


def question_of(
    options: argparse.Namespace, conversation: Conversation
) -> tuple[str | None, Question | None]:
    """The text to ask and the data set's question it is of; None for none. UsageError where
    both or an unknown number are given."""
    if options.question is not None and options.number is not None:
        raise UsageError("give a question or --number, not both")
    if options.number is None:
        if options.question is not None and not options.question.strip():
            raise UsageError("the question is empty")
        return options.question, None
    with user_errors():
        found = conversation.question(options.number)
    return found.text, found


def whole_numbers(given: str) -> tuple[int, ...]:
    """``"0,1"`` as numbers."""
    return tuple(int(part) for part in given.split(","))


def numbers(given: str) -> tuple[float, ...]:
    """``"0.1,0.5"`` as numbers."""
    return tuple(float(part) for part in given.split(","))


whole_numbers.__name__, numbers.__name__ = "list of whole numbers", "list of numbers"
