"""Runs a command over conversations x systems x seeds: options, running, resuming.

``--resume`` keeps a file of JSON Lines: a head, then a line for each run as soon as it is measured.
A last line cut short by a killed process is ignored.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from segviz import files, store
from segviz.cli.building import SYSTEM, UNIT, build_one, opened, refuse_idle, usable, variants
from segviz.cli.command import UNFINISHED, Unfinished, UsageError, add_number, user_errors
from segviz.cli.console import Console, plain
from segviz.cli.models import Models
from segviz.cli.retrieval import whole_numbers
from segviz.cli.source import path_of, read_corpus
from segviz.construct import as_settings
from segviz.conversation import Conversation, Corpus, Lazy, distinct
from segviz.embedding import embedder_key
from segviz.evaluation import Sweep
from segviz.evaluation.compare import Comparison, check_units
from segviz.evaluation.evaluation import ADVERSARIAL
from segviz.evaluation.measures import CHOICES, DEFAULT, TOKENS, UNITS
from segviz.evaluation.parallel import Build, Measured, WorkersLost, measure_many
from segviz.memory import Memory, build
from segviz.store import recognises

Found = TypeVar("Found", Sweep, Comparison)
LOST = (UNFINISHED, "a model or the workers gave up; what --resume keeps is not measured again")
"""What this exit code means where runs are shared out."""


def add_many(parser: argparse.ArgumentParser) -> None:
    """Options for what is measured, seeds and workers."""
    _add_measuring(parser.add_argument_group("measuring"))
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
    lost = "what is lost without the order of time"
    moved = f"share of the units that change places before building, 0 to 1: {lost}"
    add_number(group, "--share", 0.0, moved)
    group.add_argument(
        "--resume",
        metavar="PATH",
        help="keep what is measured in this file, run by run, and go on from what it holds",
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


def _add_measuring(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--measure",
        choices=CHOICES,
        default=DEFAULT,
        metavar="NAME",
        help="measure of the report, and the one settings are judged by: %(choices)s "
        "(default: %(default)s); --json has all",
    )
    parser.add_argument(
        "--no-adversarial",
        action="store_true",
        help=f"report without the questions of category {ADVERSARIAL}, whose answer is not in "
        "the conversation; --json has both",
    )
    add_number(parser, "--units", UNITS, "units read for the measure reached")
    add_number(parser, "--tokens", TOKENS, "tokens read for the measure answer_words")


@dataclass(frozen=True)
class Runs:
    """The runs of a command: conversations with gold evidence, and what builds each system's
    memory, by label. ``content`` tells the memory of a conversation and a label apart from all
    others, before it is built."""

    conversations: Sequence[Conversation]
    builders: dict[str, Build]
    content: Callable[[Conversation, str], bytes]
    seeds: tuple[int, ...] = (0,)
    share: float = 0.0


def runs_of(
    options: argparse.Namespace, console: Console, models: Models, usual: Sequence[str] = (SYSTEM,)
) -> Runs:
    """The runs the options name; of the ``usual`` systems where they name none. Notes what is left
    out; UsageError where nothing can be measured."""
    given = options.file if isinstance(options.file, list) else [options.file]
    paths = [path_of(one) for one in given]
    if all(map(recognises, paths)):
        refuse_idle(given[0], options)
        return _of_memories(paths, models, console)
    if len(paths) > 1:
        raise UsageError("give one conversation file, or memories alone")
    options.file = given[0]
    systems = variants(options, usual)
    corpus, unit = read_corpus(options, console), options.unit or UNIT
    with user_errors(ValueError, KeyError):
        places = [corpus.ids.index(corpus[each].id) for each in options.conversation]
    if options.all:
        places = list(range(len(corpus)))
    elif not places and len(corpus) > 1:
        console.note(f"{given[0]} holds {len(corpus)} conversations; this is about {corpus.ids[0]}")
    kept, why = [], ""
    for place in dict.fromkeys(places or [0]):
        why = _unusable(corpus, place, unit)
        if not why:
            kept.append(place)
        elif len(places) > 1:
            console.note(f"left out: {why}")
    if not kept:
        raise UsageError(why if len(places) <= 1 else "no conversation is left to measure by")
    return Runs(
        Lazy(lambda row: corpus[kept[row]], range(len(kept))),
        {n: _builder(*one, unit, options, console, models) for n, one in systems.items()},
        lambda talk, label: store.dump(_plan(talk, *systems[label], unit, models)),
        tuple(dict.fromkeys(options.seeds or (0,))),
        options.share,
    )


def _of_memories(paths: Sequence[Path], models: Models, console: Console) -> Runs:
    """Memories of one conversation and one unit rule, built before, by their file names; one alone
    by its system."""
    found = [opened(path, models, console) for path in paths]
    first = found[0]
    stems = [path.name.removesuffix(".gz").removesuffix(".json") or path.name for path in paths]
    labels = distinct(stems) if len(found) > 1 else [first.system]
    memories = dict(zip(labels, found, strict=True))
    with user_errors():
        check_units(memories)
    if not any(question.evidence for question in first.conversation.questions):
        raise UsageError(
            f"{first.conversation.id} has no questions with gold evidence to measure by"
        )
    return Runs(
        (first.conversation,),
        {label: partial(_as_built, memory) for label, memory in memories.items()},
        lambda talk, label: store.dump(memories[label].saved),
    )


def _as_built(memory: Memory, conversation: Conversation) -> Memory:
    return memory


def _builder(
    name: str,
    settings: dict[str, Any],
    unit: str,
    options: argparse.Namespace,
    console: Console,
    models: Models,
) -> Build:
    """What builds a system. For workers an offline embedder is passed by its name, so that each
    makes its own; the name is that of the one used here, so that a worker without it fails
    instead of using another."""
    _, callers = usable(name, settings, models)
    if options.workers == 1 and options.scheduler is None:
        return lambda talk: build_one(talk, name, settings, unit, console, models)
    embedder: Any = models.embedder if models.remote else embedder_key(models.embedder)
    chat = models.chat if callers else None
    return partial(build, system=name, unit=unit, embedder=embedder, chat=chat, **settings)


def _plan(
    talk: Conversation, name: str, settings: dict[str, Any], unit: str, models: Models
) -> store.Saved:
    """A conversation with its questions and how its memory is built, without steps."""
    system, callers = usable(name, settings, models)
    chat = models.chat.name if models.chat and callers else ""
    made = as_settings(system)
    return store.Saved(talk, unit, name, system.invariants, made, models.embedder.name, (), chat)


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


# --- resuming ----------------------------------------------------------------------------------


class Journal(Generic[Found]):
    """A file of JSON Lines: ``found`` holds its runs by identity, and :meth:`keep` appends new
    ones. Runs not requested now stay in it."""

    HEAD: ClassVar = {"format": "segviz-runs", "version": 4}

    def __init__(self, path: Path, kind: type[Found]) -> None:
        """Open it, or begin it. UsageError where it is damaged or belongs to something else."""
        from pydantic import TypeAdapter  # takes a quarter of a second to load

        with user_errors(OSError, UnicodeDecodeError):
            text = files.read(path).decode("utf-8") if path.exists() else ""
        # Only whole lines count; the file is truncated behind them before it is continued.
        whole = text[: text.rfind("\n") + 1]
        first, *lines = whole.split("\n")[:-1] or [""]
        if text and f"{first}\n" != _line(self.HEAD):
            raise UsageError(f"{path} holds something else; name another file with --resume")
        try:
            told, fits = [json.loads(line) for line in lines], TypeAdapter(kind)
            self.found: dict[str, Found] = {
                one["run"]: fits.validate_python(one["result"])
                for one in told
                if one["measure"] == kind.__name__
            }
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UsageError(f"{path} is damaged; delete it and measure again") from None
        with user_errors(OSError):
            if not whole:
                files.write(path, _line(self.HEAD))
            self._file = path.open("r+", encoding="utf-8", newline="\n")
            self._file.seek(len((whole or _line(self.HEAD)).encode("utf-8")))
            self._file.truncate()

    def keep(self, run: str, result: Found) -> None:
        """Append a run, unless it is known; it is flushed when this returns. UsageError
        where that fails."""
        if run not in self.found:
            self.found[run] = result
            line = _line({"run": run, "measure": type(result).__name__, "result": result})
            with user_errors(OSError):
                self._file.write(line)
                self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _line(content: Any) -> str:
    return json.dumps(plain(content), allow_nan=False) + "\n"


# --- running -----------------------------------------------------------------------------------


def measured(
    runs: Runs,
    measure: Callable[..., Found],
    kind: type[Found],
    settings: dict[str, Any],
    options: argparse.Namespace,
    console: Console,
    **here: Any,
) -> tuple[Measured[Found], ...]:
    """Measure all runs except those that ``--resume`` knows; ``here`` are further settings where
    all of it is done in this process, and change no number. Errors as for one run, and Unfinished
    when workers are lost for good."""
    kept = Journal(options.resume, kind) if options.resume else None
    # One by one: to go through them all would keep them all.
    talks = (runs.conversations[row] for row in range(len(runs.conversations) if kept else 0))
    order = [
        (_identity(runs, talk, label, seed, measure, settings), talk.id, label, seed)
        for talk in talks
        for label in runs.builders
        for seed in runs.seeds
    ]
    known = {
        place: Measured(talk, label, seed, kept.found[name])
        for place, (name, talk, label, seed) in enumerate(order)
        if kept and name in kept.found
    }
    if known:
        console.note(f"{len(known)} of {len(order)} runs are known from {options.resume}")
    if options.scheduler is not None:
        console.note(f"conversations are sent to the workers of {options.scheduler}")
    apart = options.workers != 1 or options.scheduler is not None

    def keep(place: int, one: Measured[Found]) -> None:
        if kept:
            kept.keep(order[place][0], one.result)

    try:
        with (
            closing(kept) if kept else nullcontext(),
            console.progress("measuring", "runs") as progress,
            user_errors(),
        ):
            return measure_many(
                measure if apart or kept else partial(measure, **here),
                runs.conversations,
                runs.builders,
                seeds=runs.seeds,
                share=runs.share,
                workers=options.workers,
                scheduler=options.scheduler,
                progress=progress,
                known=known,
                keep=keep,
                **settings,
            )
    except WorkersLost as lost:
        hint = f"What was measured is in {options.resume}; the same command goes on there."
        if not options.resume:
            hint = "With --resume PATH nothing that is measured has to be measured again."
        raise Unfinished(f"{lost}. {hint}") from None
    except KeyboardInterrupt:
        if options.resume:
            console.error(
                f"what was measured is in {options.resume}; the same command goes on there"
            )
        raise


def _identity(
    runs: Runs,
    talk: Conversation,
    label: str,
    seed: int,
    measure: Callable[..., Found],
    settings: Mapping[str, Any],
) -> str:
    """SHA-256 of a run: its memory, the settings of the measurement, and the version of segviz."""
    told = {"segviz": metadata.version("segviz"), "measure": measure.__name__, **settings}
    told |= {"seed": seed, "share": runs.share}
    wanted = json.dumps(plain(told), sort_keys=True).encode()
    return hashlib.sha256(runs.content(talk, label) + b"\0" + wanted).hexdigest()
