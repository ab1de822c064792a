"""Runs a command over conversations x systems x seeds: options, running, resuming.

``--resume`` keeps a file of JSON Lines: a head that identifies the measurement, then a line for
each piece as soon as it is measured: a cell of one sweep, or a whole run where there are many.
A last line cut short by a killed process is ignored.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from importlib import metadata
from itertools import product
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from segviz import files, store
from segviz.cli.building import SYSTEM, UNIT, Variant, usable, variants
from segviz.cli.console import Console, plain
from segviz.cli.exits import UNFINISHED, Unfinished, UsageError, user_errors
from segviz.cli.models import Models
from segviz.cli.retrieval import whole_numbers
from segviz.cli.source import read_corpus
from segviz.construct import as_settings
from segviz.conversation import Conversation, Corpus
from segviz.embedding import embedder_key
from segviz.evaluate import Cell, Sweep
from segviz.evaluate.compare import Comparison
from segviz.evaluate.many import Measured, WorkersLost, measure_many
from segviz.evaluate.measures import CHOICES, TOKENS, UNITS
from segviz.evaluate.outcomes import ADVERSARIAL
from segviz.llm import LastingFault
from segviz.memory import BuildPaused, Memory, build

Piece = TypeVar("Piece")
Found = TypeVar("Found", Sweep, Comparison)
LOST = (UNFINISHED, "a model or the workers gave up; what --resume keeps is not measured again")
"""What this exit code means where runs are shared out."""


def add_many(parser: argparse.ArgumentParser) -> None:
    """Options for seeds and workers."""
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


def add_measuring(parser: argparse._ActionsContainer, default: str) -> None:
    """Options for what is measured; ``default`` is the measure of the report."""
    parser.add_argument(
        "--measure",
        choices=CHOICES,
        default=default,
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
    parser.add_argument(
        "--units",
        type=int,
        default=UNITS,
        metavar="N",
        help="units read for the measure reached (default: %(default)s)",
    )
    parser.add_argument(
        "--tokens",
        type=int,
        default=TOKENS,
        metavar="N",
        help="tokens read for the measure answer_words (default: %(default)s)",
    )


def spread(options: argparse.Namespace) -> bool:
    """Whether more than one conversation or seed is asked for."""
    several = options.all or len(options.conversation or ()) > 1
    return bool(several or options.seeds or options.share)


def apart(options: argparse.Namespace) -> bool:
    """Whether tasks run outside this process."""
    return options.workers != 1 or options.scheduler is not None


def idle_many(options: argparse.Namespace) -> list[str]:
    """The given options of the above that have no effect on a built memory."""
    given = {
        "--all": options.all,
        "--system": options.system,
        "--systems": options.systems,
        "--set": options.settings,
        "--vary": options.vary,
        "--seeds": options.seeds,
        "--share": options.share,
        "--workers": options.workers != 1,
        "--scheduler": options.scheduler,
    }
    return [name for name, value in given.items() if value]


def single(options: argparse.Namespace) -> None:
    """Reduce ``options.conversation`` to one name, as commands on one conversation read it."""
    named: list[str] = options.conversation or []
    options.conversation = named[0] if named else None


@dataclass(frozen=True)
class Chosen(Sequence[Conversation]):
    """Some conversations of a corpus, read on access."""

    corpus: Corpus
    places: tuple[int, ...]

    def __len__(self) -> int:
        """How many."""
        return len(self.places)

    def __getitem__(self, key: Any) -> Any:
        """One of them."""
        return self.corpus[self.places[key]]


@dataclass(frozen=True)
class Runs:
    """The runs of a command: conversations with gold evidence, and systems with settings by
    label."""

    conversations: Chosen
    systems: dict[str, Variant]
    unit: str
    seeds: tuple[int, ...]
    share: float


def runs_of(
    options: argparse.Namespace, console: Console, usual: Sequence[str] = (SYSTEM,)
) -> Runs:
    """The runs the options name; of the ``usual`` systems where they name none. Notes what is left
    out; UsageError where nothing can be measured."""
    systems = variants(options, usual)
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


# --- resuming ----------------------------------------------------------------------------------


class Journal(Generic[Piece]):
    """A file of JSON Lines behind a ``head``: ``found`` holds its pieces by key, and
    :meth:`keep` appends new ones. ``read`` makes key and piece of a line."""

    def __init__(
        self,
        path: Path,
        head: dict[str, Any],
        read: Callable[[dict[str, Any]], tuple[Hashable, Piece]],
    ) -> None:
        """Open it, or begin it. UsageError where it is damaged or belongs to something
        else."""
        with user_errors(OSError, UnicodeDecodeError):
            text = files.read(path).decode("utf-8") if path.exists() else ""
        # Only whole lines count; the file is truncated behind them before it is continued.
        whole = text[: text.rfind("\n") + 1]
        first, *lines = whole.split("\n")[:-1] or [""]
        if text and _parsed_object(first) != head:
            other = _parsed_object(first).get("format") == head["format"]
            what = "another memory or other settings" if other else "something else"
            raise UsageError(f"{path} holds {what}; name another file with --resume")
        try:
            self.found = dict(read(_parsed_object(line)) for line in lines)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UsageError(f"{path} is damaged; delete it and measure again") from None
        with user_errors(OSError):
            if not whole:
                files.write(path, _line(head))
            self._file = path.open("r+", encoding="utf-8", newline="\n")
            self._file.seek(len((whole or _line(head)).encode("utf-8")))
            self._file.truncate()

    def keep(self, key: Hashable, piece: Piece, line: Any) -> None:
        """Append a piece, unless it is known; it is flushed when this returns. UsageError
        where that fails."""
        if key not in self.found:
            self.found[key] = piece
            self._write(line)

    def _write(self, content: Any) -> None:
        with user_errors(OSError):
            self._file.write(_line(content))
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _line(content: Any) -> str:
    return json.dumps(plain(content), allow_nan=False) + "\n"


def cells_journal(path: Path, memory: Memory, settings: Mapping[str, Any]) -> Journal[Cell]:
    """The journal of one sweep: of a memory and all settings but the axes."""
    content = hashlib.sha256(store.dump(memory.saved)).hexdigest()
    head = {"format": "segviz-sweep", "version": 2, "memory": content}
    return Journal(path, head | {"settings": plain(dict(settings))}, _keyed_cell)


def runs_journal(path: Path) -> Journal[Sweep | Comparison]:
    """The journal of whole runs by identity. Runs not requested now stay in it."""
    return Journal(path, {"format": "segviz-runs", "version": 3}, _keyed_run)


def cell_key(cell: Cell) -> tuple[str, float, int]:
    """The key of a cell within its sweep: policy, alpha, horizon."""
    return cell.policy, cell.alpha, cell.horizon


def _keyed_cell(content: dict[str, Any]) -> tuple[Hashable, Cell]:
    cell: Cell = _record(Cell, content)
    return cell_key(cell), cell


def _keyed_run(content: dict[str, Any]) -> tuple[Hashable, Sweep | Comparison]:
    kind = Sweep if content["measure"] == "sweep" else Comparison
    return content["run"], _record(kind, content["result"])


def _record(kind: type, content: dict[str, Any]) -> Any:
    """The dataclass that :func:`plain` made ``content`` of. ValueError where it does not fit."""
    return _adapter(kind).validate_python(content)


@cache
def _adapter(kind: type) -> Any:
    from pydantic import TypeAdapter  # takes a quarter of a second to load

    return TypeAdapter(kind)


def _parsed_object(line: str) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


# --- running -----------------------------------------------------------------------------------


def measured(
    runs: Runs,
    measure: Callable[..., Found],
    settings: dict[str, Any],
    options: argparse.Namespace,
    console: Console,
    models: Models,
    journal: Path | None,
) -> tuple[Measured[Found], ...]:
    """Measure all runs except those in the ``journal``; errors as for one run, and Unfinished
    when workers are lost for good."""
    builders = {
        label: partial(
            build, system=name, unit=runs.unit, **_builder_models(name, chosen, models), **chosen
        )
        for label, (name, chosen) in runs.systems.items()
    }
    kept = runs_journal(journal) if journal else None
    names = _run_identities(runs, measure, settings, models) if kept else []
    order = list(product(runs.conversations.places, builders, runs.seeds))
    ids = runs.conversations.corpus.ids
    known = {
        place: Measured(ids[order[place][0]], *order[place][1:], cast("Found", kept.found[name]))
        for place, name in enumerate(names)
        if kept and name in kept.found
    }
    if known:
        console.note(f"{len(known)} of {len(order)} runs are known from {journal}")
    if options.scheduler is not None:
        console.note(f"conversations are sent to the workers of {options.scheduler}")

    def keep(place: int, one: Measured[Found]) -> None:
        if kept:
            kind = "sweep" if isinstance(one.result, Sweep) else "compare"
            line = {"run": names[place], "measure": kind, "result": one.result}
            kept.keep(names[place], one.result, line)

    try:
        with (
            closing(kept) if kept else nullcontext(),
            console.progress("measuring", "runs") as progress,
            user_errors(),
        ):
            return measure_many(
                measure,
                runs.conversations,
                builders,
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
        raise Unfinished(f"{lost}.{_resume_hint(journal)}") from None
    except BuildPaused as pause:
        more = " The same command with --waive goes on without this one answer."
        more = more if isinstance(pause.fault, LastingFault) else " The same command goes on there."
        raise Unfinished(f"{pause}{more}") from None
    except KeyboardInterrupt:
        if journal:
            console.error(f"what was measured is in {journal}; the same command goes on there")
        raise


def _resume_hint(journal: Path | None) -> str:
    if journal:
        return f" What was measured is in {journal}; the same command goes on there."
    return " With --resume PATH nothing that is measured has to be measured again."


def _builder_models(name: str, settings: dict[str, Any], models: Models) -> dict[str, Any]:
    """The models of a builder. An offline embedder is passed by its name, so that a worker
    makes its own; the name is that of the one used here, so that a worker without it fails
    instead of using another."""
    _, callers = usable(name, settings, models)
    embedder: Any = models.embedder
    if not models.remote:
        embedder = embedder_key(embedder)
    return {"embedder": embedder, "chat": models.chat if callers else None}


def _run_identities(
    runs: Runs, measure: Callable[..., Found], settings: dict[str, Any], models: Models
) -> list[str]:
    """The identity of every run, in order; it covers the version of segviz."""
    found = []
    version = metadata.version("segviz")
    wanted = {"segviz": version, "measure": measure.__name__, **settings}
    for conversation in runs.conversations:
        for name, chosen in runs.systems.values():
            system, callers = usable(name, chosen, models)
            chat = models.chat.name if models.chat and callers else ""
            plan = store.Saved(
                conversation,
                runs.unit,
                name,
                system.invariants,
                as_settings(system),
                models.embedder.name,
                (),
                chat,
            )
            for seed in runs.seeds:
                drawn = {"seed": seed, "share": runs.share}
                found.append(_run_identity(plan, {**wanted, **drawn}))
    return found


def _run_identity(plan: store.Saved, settings: Mapping[str, Any]) -> str:
    """SHA-256 of a run: its conversation with questions and how its memory is built (``plan``,
    without steps), and the settings of the measurement."""
    wanted = json.dumps(plain(dict(settings)), sort_keys=True).encode()
    return hashlib.sha256(store.dump(plan) + b"\0" + wanted).hexdigest()
