"""Many runs by one command: conversations x systems x seeds, shared out to workers."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

from segviz.cli.building import SYSTEM, UNIT, names_of
from segviz.cli.console import Console
from segviz.cli.exits import UNFINISHED, UsageError, user_errors
from segviz.cli.retrieval import whole_numbers
from segviz.cli.settings import settings_of
from segviz.cli.source import read_corpus
from segviz.conversation import Conversation, Corpus

LOST = (UNFINISHED, "a model or the workers gave up; what --resume keeps is not measured again")
"""What this exit code means where runs are shared out."""


def add_many(parser: argparse.ArgumentParser) -> None:
    """Seeds, and where the runs are done."""
    group = parser.add_argument_group(
        "many runs",
        "A run is one conversation, built by one system, measured with one seed. Runs know\n"
        "nothing of each other: the numbers are the same wherever and in whatever order\n"
        "they are done. Models of a server are used in this process alone, because their\n"
        "key would travel with the work.",
    )
    group.add_argument(
        "--seeds",
        type=whole_numbers,
        metavar="N,…",
        help="seeds to repeat everything with; they draw the intervals, and with --share "
        "which units change places (default: 0)",
    )
    group.add_argument(
        "--share",
        type=float,
        default=0.0,
        metavar="N",
        help="share of the units that change places before building, 0 to 1: what is lost "
        "without the order of time (default: %(default)g)",
    )
    where = group.add_mutually_exclusive_group()
    where.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="processes of this machine that share the runs (default: %(default)s; more "
        "need the extra segviz[parallel])",
    )
    where.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="let the workers of this Dask scheduler do the runs, such as tcp://host:8786; "
        "conversations are sent to them (extra segviz[cluster])",
    )


def spread(options: argparse.Namespace) -> bool:
    """Whether more than one conversation or seed is asked for."""
    several = options.all or len(options.conversation or ()) > 1
    return bool(several or options.seeds or options.share)


def apart(options: argparse.Namespace) -> bool:
    """Whether work is to be done beyond this process."""
    return options.workers != 1 or options.scheduler is not None


def idle_many(options: argparse.Namespace) -> list[str]:
    """Those of the options above that are given, and can change nothing on a built memory."""
    given = {
        "--all": options.all,
        "--systems": options.systems,
        "--seeds": options.seeds,
        "--share": options.share,
        "--workers": options.workers != 1,
        "--scheduler": options.scheduler,
    }
    return [name for name, value in given.items() if value]


def single(options: argparse.Namespace) -> None:
    """Have ``options`` name one conversation, as commands on one read it."""
    named: list[str] = options.conversation or []
    options.conversation = named[0] if named else None


@dataclass(frozen=True)
class Chosen(Sequence[Conversation]):
    """Some conversations of a corpus, read when they are asked for."""

    corpus: Corpus
    places: tuple[int, ...]

    def __len__(self) -> int:
        """How many."""
        return len(self.places)

    @overload
    def __getitem__(self, key: int) -> Conversation: ...
    @overload
    def __getitem__(self, key: slice) -> Chosen: ...
    def __getitem__(self, key: int | slice) -> Conversation | Chosen:
        """One of them, or some."""
        if isinstance(key, slice):
            return replace(self, places=self.places[key])
        return self.corpus[self.places[key]]


@dataclass(frozen=True)
class Runs:
    """What is to be run: conversations with gold evidence, and systems with settings."""

    conversations: Chosen
    systems: dict[str, dict[str, Any]]
    unit: str
    seeds: tuple[int, ...]
    share: float


def runs_of(options: argparse.Namespace, console: Console, several: Sequence[str] = ()) -> Runs:
    """The runs that are asked for; by default of one system with its settings, else of
    ``several``. UsageError where nothing can be measured; says what is left out."""
    if several:
        systems: dict[str, dict[str, Any]] = {name: {} for name in several}
    elif options.systems:
        if options.settings:
            raise UsageError("--set is for one --system; several have their defaults")
        systems = {name: {} for name in names_of(options.systems)}
    else:
        name = options.system or SYSTEM
        systems = {name: settings_of(name, options.settings)}
    corpus, unit = read_corpus(options, console), options.unit or UNIT
    with user_errors(ValueError, KeyError):
        places = [corpus.ids.index(corpus[each].id) for each in options.conversation or ()]
    if options.all:
        places = list(range(len(corpus)))
    kept, why = [], ""
    for place in dict.fromkeys(places or [0]):
        why = _unusable(corpus, place, unit)
        if not why:
            kept.append(place)
        elif len(places) > 1:
            console.note(f"left out: {why}")
    if not kept:
        raise UsageError(why if len(places) <= 1 else "no conversation is left to measure by")
    seeds = tuple(dict.fromkeys(options.seeds or (0,)))
    return Runs(Chosen(corpus, tuple(kept)), systems, unit, seeds, options.share)


def _unusable(corpus: Corpus, place: int, unit: str) -> str:
    try:
        conversation = corpus[place]
    except ValueError as error:  # of a large file an item is read only now
        return str(error)
    if not any(question.evidence for question in conversation.questions):
        return f"{conversation.id} has no questions with gold evidence to measure by"
    with user_errors():
        units = conversation.units(unit)
    return "" if units else f"the rule {unit!r} makes no leaf from {conversation.id}"
