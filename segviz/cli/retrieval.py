"""Options of retrieval, and the question that is asked; the defaults are those of ``ask``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from inspect import signature
from typing import Any

from segviz.cli.exits import UsageError
from segviz.conversation import Conversation, Question
from segviz.memory import ask
from segviz.retrieval import POLICIES, RELEVANCE
from segviz.retrieval.adaptive import ADAPTIVE

DEFAULTS: dict[str, Any] = {
    name: parameter.default for name, parameter in signature(ask).parameters.items()
}
NAMES = ("policy", "alpha", "horizon", "k", "budget", "levels", "relevance", "distinct", "step")


def _add_number(
    parser: argparse._ActionsContainer, flag: str, kind: Callable[[str], Any], meaning: str
) -> None:
    """A setting of ``ask`` that is a number, with the default it has there."""
    parser.add_argument(
        flag,
        type=kind,
        default=DEFAULTS[flag.lstrip("-")],
        metavar="N",
        help=f"{meaning} (default: %(default)s)",
    )


def add_scoring(parser: argparse._ActionsContainer) -> None:
    """What counts for every retrieval: relevance, K, token budget, repeated texts."""
    parser.add_argument(
        "--relevance",
        choices=list(RELEVANCE),
        default=DEFAULTS["relevance"],
        help="how relevant a node is to a question (default: %(default)s)",
    )
    _add_number(parser, "-k", int, "nodes retrieved; 1 or more")
    parser.add_argument(
        "--budget", type=int, metavar="TOKENS", help="retrieve as much as this pays for, not K"
    )


def add_distinct(parser: argparse._ActionsContainer) -> None:
    """The paper's literal counting."""
    parser.add_argument(
        "--literal",
        dest="distinct",
        action="store_false",
        help="count nodes that carry the same text each (default: once)",
    )


def add_retrieval(parser: argparse.ArgumentParser) -> None:
    """All settings of ``ask``."""
    group = parser.add_argument_group("retrieval")
    group.add_argument(
        "--policy",
        choices=[*POLICIES, ADAPTIVE],
        default=DEFAULTS["policy"],
        help="where scores spread: %(choices)s (default: %(default)s)",
        metavar="NAME",
    )
    _add_number(group, "--alpha", float, "weight of each further hop; 0 to below 1")
    _add_number(group, "--horizon", int, "hops, H; 0 or more")
    add_scoring(group)
    group.add_argument(
        "--levels", type=whole_numbers, metavar="N,…", help="admissible levels (default: all)"
    )
    add_distinct(group)
    group.add_argument(
        "--step", type=int, metavar="N", help="ask the memory as it stood after this step"
    )
    group.add_argument(
        "--method",
        choices=["propagate", "own"],
        default=DEFAULTS["method"],
        help="the above, or the retrieval the system came with (default: %(default)s)",
    )


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """Keywords for ``memory.ask``."""
    return {name: getattr(options, name) for name in (*NAMES, "method")}


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
    questions = {question.index: question for question in conversation.questions}
    if options.number not in questions:
        there = f"0 to {max(questions)}" if questions else "none at all"
        raise UsageError(f"there is no question {options.number}; {conversation.id} has {there}")
    found = questions[options.number]
    return found.text, found


def whole_numbers(given: str) -> tuple[int, ...]:
    """``"0,1"`` as numbers."""
    return tuple(int(part) for part in given.split(","))


def numbers(given: str) -> tuple[float, ...]:
    """``"0.1,0.5"`` as numbers."""
    return tuple(float(part) for part in given.split(","))


whole_numbers.__name__, numbers.__name__ = "list of whole numbers", "list of numbers"
