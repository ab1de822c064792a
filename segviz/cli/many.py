"""Runs a command over conversations x systems x seeds: options, running, resuming.

``--resume`` keeps a folder with a JSON file for each finished run. Its name is a hash of what the
run measures and of the code, and it is written by rename. So commands may share the folder, and a
killed one goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import metadata
from itertools import product
from pathlib import Path
from typing import Any, Generic, TypeVar

import click

from segviz import files, store
from segviz.cli.build_options import (
    SYSTEM,
    UNIT,
    build_one,
    note_script,
    opened,
    refuse_idle,
    usable,
    variants,
)
from segviz.cli.command import (
    Options,
    Unfinished,
    UsageError,
    either,
    section,
    together,
    user_errors,
    whole_numbers,
)
from segviz.cli.console import Console, plain
from segviz.cli.models import Models
from segviz.cli.source import path_of, read_corpus
from segviz.construct import as_settings
from segviz.conversation import Conversation, Corpus, Lazy, distinct
from segviz.embedding import Cached, Embedder, embedder_key
from segviz.evaluation import Sweep
from segviz.evaluation.compare import Comparison, check_units
from segviz.evaluation.evaluation import ADVERSARIAL
from segviz.evaluation.measures import CHOICES, DEFAULT, TOKENS, UNITS
from segviz.evaluation.parallel import (
    Build,
    Measured,
    WorkersLost,
    code_hash,
    import_extra,
    measure_many,
)
from segviz.handover import HandoverError, own
from segviz.memory import Memory, build
from segviz.memory.factory import parts_of
from segviz.retrieval import RELEVANCE
from segviz.store import recognises

Found = TypeVar("Found", Sweep, Comparison)
_WAIT_SECONDS = 10
"""Time limit for a scheduler to answer, and again for it to have a first worker."""


_measuring = section("Measuring")
_many = section(
    "Many runs",
    "A run is one conversation, built by one system, measured with one seed. Runs know nothing of "
    "each other: the numbers are the same wherever and in whatever order they are done. Models of "
    "a server are used in this process alone, because their key would travel with the work.",
)

_MEASURE = "Measure of the report, and the one settings are judged by: "
_ADVERSARIAL = (
    f"Report without the questions of category {ADVERSARIAL}, whose answer is not in the "
    "conversation; --json has both."
)
_DISPUTED = (
    "Report without the questions that the audit disputes; a further column has the other number, "
    "--json has both."
)
_SEEDS = "Seeds to repeat everything with, for the intervals and, with --share, the units moved."
_SHARE = "Share of the units that change places before building: what time order is worth."
_RESUME = "Keep every finished run as a file in this folder, and measure only what it lacks."
_WORKERS = "Processes of this machine that share the runs; more need the extra segviz[parallel]."
_SCHEDULER = (
    "Let the workers of this Dask scheduler do the runs, such as tcp://host:8786; conversations "
    "are sent to them (extra segviz[cluster])."
)
many_options = together(
    _measuring(
        "--measure",
        f"{_MEASURE}{', '.join(CHOICES)}; --json has all.",
        type=click.Choice(CHOICES),
        default=DEFAULT,
        metavar="NAME",
    ),
    _measuring("--no-adversarial", _ADVERSARIAL, is_flag=True),
    _measuring("--no-disputed", _DISPUTED, is_flag=True),
    _measuring("--units", "Units read for the measure reached.", default=UNITS),
    _measuring("--tokens", "Tokens read for the measure answer_words.", default=TOKENS),
    _many("--seeds", _SEEDS, "0", type=whole_numbers, metavar="N,…"),
    _many("--share", _SHARE, type=click.FloatRange(0, 1), default=0.0),
    _many("--resume", _RESUME, type=click.Path(), metavar="FOLDER"),
    _many("--workers", _WORKERS, default=1),
    _many("--scheduler", _SCHEDULER, metavar="ADDRESS"),
)
"""Options for what is measured, seeds and workers."""


@dataclass(frozen=True)
class Runs:
    """The runs of a command: conversations with gold evidence, and what builds each system's
    memory, by label. ``content`` identifies the memory of a conversation and a label before it is
    built."""

    conversations: Sequence[Conversation]
    builders: dict[str, Build]
    content: Callable[[Conversation, str], bytes]
    seeds: tuple[int, ...] = (0,)
    share: float = 0.0

    def __iter__(self) -> Iterator[tuple[Conversation, str, int]]:
        """Yields conversation, label and seed of every run, in the order of ``measure_many``."""
        for row in range(len(self.conversations)):  # iterating would keep all of them in memory
            yield from product([self.conversations[row]], self.builders, self.seeds)


def runs_of(
    options: Options, console: Console, models: Models, usual: Sequence[str] = (SYSTEM,)
) -> Runs:
    """Returns the runs the options name, of the ``usual`` systems where they name none. Notes what
    is left out. Raises UsageError where nothing can be measured."""
    either(options, "conversation", "all")
    if options.workers != 1:
        either(options, "workers", "scheduler")
    given = options.file if isinstance(options.file, tuple) else (options.file,)
    paths = [path_of(one) for one in given]
    if all(map(recognises, paths)):
        refuse_idle(given[0], options)
        return _of_memories(paths, options, models, console)
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
    note_script(corpus[kept[0]], console, models)
    return Runs(
        Lazy(lambda row: corpus[kept[row]], range(len(kept))),
        {n: _builder(*one, unit, options, console, models) for n, one in systems.items()},
        lambda talk, label: _plan(talk, *systems[label], unit, models),
        tuple(dict.fromkeys(options.seeds or (0,))),
        options.share,
    )


def _of_memories(paths: Sequence[Path], options: Options, models: Models, console: Console) -> Runs:
    """Returns runs of memories built before, of one conversation and one unit rule, by their file
    names; one alone by its system."""
    found = [opened(path, options, models, console) for path in paths]
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
    options: Options,
    console: Console,
    models: Models,
) -> Build:
    """Returns the builder of a system. For workers an offline embedder is passed by its name, so
    that each makes its own; the name is that of the one used here, so that a worker without it
    fails instead of using another."""
    _, callers = usable(name, settings, models)
    if options.workers == 1 and options.scheduler is None:
        return lambda talk: build_one(talk, name, settings, unit, console, models)
    embedder: Any = models.embedder if models.remote else embedder_key(models.embedder)
    chat = models.chat if callers else None
    return partial(build, system=name, unit=unit, embedder=embedder, chat=chat, **settings)


def _plan(
    talk: Conversation, name: str, settings: dict[str, Any], unit: str, models: Models
) -> bytes:
    """Returns a conversation with its questions and how its memory is built, without steps, and
    the source of what is not part of segviz's code."""
    system, callers = usable(name, settings, models)
    chat = models.chat.name if models.chat and callers else ""
    made = as_settings(system)
    empty = store.Saved(talk, unit, name, made, models.embedder.name, (), chat)
    if models.chat and callers:
        empty = replace(empty, provenance={"own_prompts": models.chat.prompts})
    return store.dump(empty) + _source_of(system, *parts_of(system), _inner(models.embedder))


def _inner(embedder: Embedder) -> object:
    return embedder.inner if isinstance(embedder, Cached) else embedder


def _source_of(*parts: object) -> bytes:
    """Returns the source files of the parts that are not segviz's."""
    found = b""
    for part in parts:
        kind = part if isinstance(part, type) else type(part)
        if not own(kind):
            with suppress(OSError, TypeError):  # a class without a source file
                found += inspect.getsource(inspect.getmodule(kind) or kind).encode()
    return found


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


class Results(Generic[Found]):
    """A folder of finished runs, a file for each, named by the identity of the run."""

    def __init__(self, folder: Path, kind: type[Found]) -> None:
        """Makes the folder. Raises UsageError where that fails."""
        from pydantic import TypeAdapter  # takes a quarter of a second to load

        self._folder = folder
        self._adapter: TypeAdapter[Found] = TypeAdapter(kind)
        with user_errors(OSError):
            folder.mkdir(exist_ok=True)

    def get(self, run: str) -> Found | None:
        """Returns a finished run, None for another. Raises UsageError for a damaged file."""
        path = self._folder / f"{run}.json"
        try:
            found: Found = self._adapter.validate_python(json.loads(files.read(path))["result"])
        except FileNotFoundError:
            return None
        except (OSError, KeyError, TypeError, ValueError) as error:
            what = f"cannot be used ({type(error).__name__})"
            raise UsageError(f"{path} {what}; delete it and measure again") from None
        return found

    def keep(self, run: str, one: Measured[Found]) -> None:
        """Writes a finished run. Raises UsageError where that fails."""
        content = {"segviz": metadata.version("segviz"), **plain(one)}
        with user_errors(OSError):
            files.write(self._folder / f"{run}.json", json.dumps(content, allow_nan=False))


# --- running -----------------------------------------------------------------------------------


class _Failures:
    """Systems in which code from outside segviz failed; called with the place of a run and its
    error, notes it once."""

    def __init__(self, runs: Runs, console: Console) -> None:
        self._labels, self._seeds, self._console = [*runs.builders], len(runs.seeds), console
        self._errors: dict[str, HandoverError] = {}

    def __call__(self, place: int, error: HandoverError) -> None:
        label = self._labels[place // self._seeds % len(self._labels)]
        if label not in self._errors:
            self._console.note(f"left out: {label}: {error}")
        self._errors[label] = error

    def others(self, found: tuple[Measured[Found], ...]) -> tuple[Measured[Found], ...]:
        """Returns the runs of systems that were measured on every conversation. Raises the error
        where there are none."""
        if len(self._errors) == len(self._labels):
            raise next(iter(self._errors.values()))
        return tuple(one for one in found if one.system not in self._errors)


def measured(
    runs: Runs,
    measure: Callable[..., Found],
    kind: type[Found],
    settings: dict[str, Any],
    options: Options,
    console: Console,
    **here: Any,
) -> tuple[Measured[Found], ...]:
    """Measures all runs except those that ``--resume`` knows; ``here`` are further settings where
    all of it is done in this process, and change no number. Raises as for one run, and Unfinished
    when workers are lost."""
    results = Results(Path(options.resume).expanduser(), kind) if options.resume else None
    order = [
        (_identity(runs, talk, label, seed, measure, settings), talk.id, label, seed)
        for talk, label, seed in (runs if results else ())
    ]
    known: dict[int, Measured[Found]] = {}
    for place, (run, *_) in enumerate(order):
        found = results.get(run) if results else None
        if found is not None:
            known[place] = Measured(*order[place][1:], found)
    if known:
        console.note(f"{len(known)} of {len(order)} runs are known from {options.resume}")
    apart = options.workers != 1 or options.scheduler is not None

    def keep(place: int, one: Measured[Found]) -> None:
        if results:
            results.keep(order[place][0], one)

    failures = _Failures(runs, console)
    try:
        with (
            _cluster(options.scheduler, console) if options.scheduler else nullcontext(),
            console.progress("measuring", "runs") as progress,
            user_errors(),
            warnings.catch_warnings(),
        ):
            # joblib's advice after Ctrl+C.
            warnings.filterwarnings("ignore", ".*have been cancelled", UserWarning)
            measured_runs = measure_many(
                measure if apart or results else partial(measure, **here),
                runs.conversations,
                runs.builders,
                seeds=runs.seeds,
                share=runs.share,
                workers=None if options.scheduler else options.workers,
                progress=progress,
                known=known,
                keep=keep,
                failed=failures,
                **settings,
            )
            return failures.others(measured_runs)
    except WorkersLost as lost:
        hint = f"What was measured is in {options.resume}; the same command goes on there."
        if not options.resume:
            hint = "With --resume FOLDER nothing that is measured has to be measured again."
        raise Unfinished(f"{lost}. {hint}") from None
    except KeyboardInterrupt:
        if options.resume:
            console.error(
                f"what was measured is in {options.resume}; the same command goes on there"
            )
        raise


@contextmanager
def _cluster(address: str, console: Console) -> Iterator[None]:
    """Makes joblib run on the workers of a Dask scheduler. Raises UsageError for a missing extra,
    and for a scheduler that does not answer or has no workers."""
    with user_errors():
        distributed = import_extra("distributed", "cluster", "a scheduler")
        joblib = import_extra("joblib", "cluster", "a scheduler")
    try:
        client = distributed.Client(address, timeout=_WAIT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"no Dask scheduler answers at {address!r} ({error}); start one with "
            "`dask scheduler` and give the address it prints"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_WAIT_SECONDS)
        except TimeoutError:
            raise UsageError(
                f"the scheduler at {address!r} has no workers; start some with "
                f"`dask worker {address}`"
            ) from None
        console.note(f"conversations are sent to the workers of {address}")
        with joblib.parallel_config(backend="dask", client=client):
            yield


def _identity(
    runs: Runs,
    talk: Conversation,
    label: str,
    seed: int,
    measure: Callable[..., Found],
    settings: Mapping[str, Any],
) -> str:
    """Returns a SHA-256 of a run: its memory, the settings of the measurement, and the code."""
    asked = {"code": code_hash(), "measure": measure.__name__, **settings}
    asked |= {"seed": seed, "share": runs.share}
    wanted = json.dumps(plain(asked), sort_keys=True).encode()
    wanted += _source_of(RELEVANCE.get(str(settings.get("relevance")).partition(":")[0]))
    return hashlib.sha256(runs.content(talk, label) + b"\0" + wanted).hexdigest()
