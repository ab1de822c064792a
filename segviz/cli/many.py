"""Runs a measurement over conversations x systems: options, running, resuming.

``--resume`` names a folder with a JSON file for each finished run, named by a hash of memory,
measurement and code and written at once. So several commands may share the folder, and a killed
command continues when it is started again.
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
from itertools import product
from pathlib import Path
from typing import Any, Generic, NamedTuple

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
    written_texts,
)
from segviz.cli.command import (
    Console,
    Options,
    Unfinished,
    UsageError,
    either,
    plain,
    section,
    together,
    user_errors,
)
from segviz.cli.models import Models
from segviz.cli.source import output_folder, path_of, read_corpus
from segviz.cli.tables import Measurement, check_disputed, measuring_options
from segviz.construct import as_settings
from segviz.conversation import Conversation, Corpus, Lazy, Question, distinct
from segviz.embedding import embedder_key
from segviz.evaluation import MEASURES, ONE_WRITER, check_units, measure_many
from segviz.evaluation.parallel import Build, Measured, WorkersLost, code_hash, import_extra
from segviz.handover import HandoverError, built_in
from segviz.memory import CallEstimate, Memory, build, parts_of, reference, rehearse
from segviz.memory.written import Texts, instead_of_extracts
from segviz.retrieval import RELEVANCE
from segviz.text.words import content_tokens
from segviz.version import __version__

_WAIT_SECONDS = 10
"""Seconds to wait for a Dask scheduler to answer, and then for its first worker."""


_many = section(
    "Many runs",
    "A run is one conversation, built by one system. Runs are independent: the order and the place "
    "of a run do not change the numbers. Models of a server are called by this process alone, "
    "because other workers would need their key.",
)

_RESUME = "Save every finished run as a file in this folder, and measure only the missing runs."
_WORKERS = "Processes on this machine; more than one needs joblib."
_SCHEDULER = (
    "Run on the workers of this Dask scheduler, such as tcp://host:8786; conversations "
    "are sent to them (needs joblib and distributed)."
)
many_options = together(
    measuring_options,
    _many("--resume", _RESUME, type=click.Path(), metavar="FOLDER"),
    _many("--workers", _WORKERS, default=1),
    _many("--scheduler", _SCHEDULER, metavar="ADDRESS"),
)
"""Options of commands with many runs: measure, questions, workers, resumption."""


class Countable(NamedTuple):
    """Property that a question needs to be measured: its name, and a test for it."""

    name: str
    has: Callable[[Question], bool]


EVIDENCE = Countable("gold evidence", lambda question: bool(question.evidence))
ANSWERS = Countable("gold answers", lambda question: reference(question) is not None)
WORDS = Countable("gold answers", lambda question: bool(content_tokens(question.answer or "")))


@dataclass(frozen=True)
class Runs:
    """Runs of a command: each builds a memory of a conversation and measures it.

    Attributes:
        conversations: the conversations to measure.
        builders: functions that build the memory of a conversation, by the label of the system.
        content: maps a conversation and a label to bytes that identify that memory, without
            building it.
        rehearse: maps a conversation and a label to the model calls that the build is expected to
            need, and to a similar memory that is built without a model.
    """

    conversations: Sequence[Conversation]
    builders: dict[str, Build]
    content: Callable[[Conversation, str], bytes]
    rehearse: Callable[[Conversation, str], tuple[dict[str, CallEstimate], Memory]]

    def __iter__(self) -> Iterator[tuple[Conversation, str]]:
        """Yields conversation and label of every run, in the order of ``measure_many``."""
        for row in range(len(self.conversations)):  # an iterator would load all conversations
            yield from product([self.conversations[row]], self.builders)


def runs_of(
    options: Options,
    console: Console,
    models: Models,
    usual: Sequence[str] = (SYSTEM,),
    counts: Countable | None = None,
) -> Runs:
    """Returns the runs that the options describe, by default with the ``usual`` systems.

    A conversation is left out, with a note, if none of its questions has the property ``counts``,
    by default what ``--measure`` needs.

    Raises:
        UsageError: nothing can be measured.
    """
    counts = counts or (EVIDENCE if MEASURES[options.measure].evidence else WORDS)
    either(options, "conversation", "all")
    if options.workers != 1:
        either(options, "workers", "scheduler")
    # Built memories are measured as they are.
    given = options.file if isinstance(options.file, tuple) else (options.file,)
    paths = [path_of(one) for one in given]
    if all(map(store.recognises, paths)):
        refuse_idle(given[0], options)
        return _of_memories(paths, options, models, console, counts)
    if len(paths) > 1:
        raise UsageError("give one conversation file, or memories alone")
    options.file = given[0]
    # Else every chosen system is built from every chosen conversation.
    systems = variants(options, usual)
    corpus, unit = read_corpus(options, console), options.unit or UNIT
    texts = _texts(options, unit, len(systems), console)
    with user_errors(ValueError, KeyError):
        places = [corpus.ids.index(corpus[each].id) for each in options.conversation]
    if options.all:
        places = list(range(len(corpus)))
    elif not places and len(corpus) > 1:
        console.note(f"{given[0]} holds {len(corpus)} conversations; this is about {corpus.ids[0]}")
    # Leave out what cannot be measured.
    usable_places = []
    why = ""  # the last reason
    for place in dict.fromkeys(places or [0]):
        why = _unusable(corpus, place, unit, counts)
        if not why:
            usable_places.append(place)
        elif len(places) > 1:
            console.note(f"left out: {why}")
    if not usable_places:
        raise UsageError(why if len(places) <= 1 else "no conversation is left to measure by")
    check_disputed(options, (each for place in usable_places for each in corpus[place].questions))
    note_script(corpus[usable_places[0]], console, models)
    return Runs(
        Lazy(lambda row: corpus[usable_places[row]], range(len(usable_places))),
        {
            label: _builder(name, settings, texts, options, console, models)
            for label, (name, settings) in systems.items()
        },
        lambda talk, label: _plan(talk, *systems[label], unit, models) + repr(texts).encode(),
        lambda talk, label: _rehearsed(talk, *systems[label], unit, models),
    )


def _texts(options: Options, unit: str, systems: int, console: Console) -> Texts:
    """Returns the written texts of the memories; {} for extracts, usual for several systems."""
    texts = written_texts(options, unit)
    if texts and systems > 1 and options.texts is None:
        console.note(ONE_WRITER)
        return {}
    return texts


def _of_memories(
    paths: Sequence[Path], options: Options, models: Models, console: Console, counts: Countable
) -> Runs:
    """Returns the runs of memory files; a label is that of the file or, of one, its system."""
    opened_memories = [opened(path, options, models, console) for path in paths]
    first = opened_memories[0]
    stems = [path.name.removesuffix(".gz").removesuffix(".json") or path.name for path in paths]
    labels = distinct(stems) if len(opened_memories) > 1 else [first.system]
    memories = dict(zip(labels, opened_memories, strict=True))
    with user_errors():
        check_units(memories)
    if lacks := _lacking(first.conversation, counts):
        raise UsageError(lacks)
    check_disputed(options, first.conversation.questions)
    return Runs(
        (first.conversation,),
        {label: partial(lambda built, _: built, memory) for label, memory in memories.items()},
        lambda talk, label: store.dump(memories[label].saved),
        lambda talk, label: ({}, memories[label]),
    )


def _builder(
    name: str,
    settings: dict[str, Any],
    texts: Texts,
    options: Options,
    console: Console,
    models: Models,
) -> Build:
    """Returns a function that builds the memory of a conversation with one system and ``texts``.

    Workers get the name of the offline embedder, and fail if they lack it.
    """
    _, callers = usable(name, settings, models)
    unit = options.unit or UNIT
    if options.workers == 1 and options.scheduler is None:
        return lambda talk: instead_of_extracts(
            build_one(talk, name, settings, unit, console, models), texts
        )
    embedder: Any = models.embedder if models.remote else embedder_key(models.embedder)
    chat = models.chat if callers else None
    given = {"system": name, "unit": unit, "embedder": embedder, "chat": chat, **settings}
    return partial(_with_texts, texts, **given)


def _with_texts(texts: Texts, talk: Conversation, **given: Any) -> Memory:
    """Builds the memory of a conversation, with written texts instead of extracts."""
    return instead_of_extracts(build(talk, **given), texts)


def _plan(
    talk: Conversation, name: str, settings: dict[str, Any], unit: str, models: Models
) -> bytes:
    """Returns bytes that identify a memory: conversation, settings, source code of plug-ins."""
    system, callers = usable(name, settings, models)
    chat = models.chat.name if models.chat and callers else ""
    made = as_settings(system)
    empty = store.Saved(talk, unit, name, made, models.embedder.name, (), chat)
    if models.chat and callers:
        empty = replace(empty, provenance={"own_prompts": models.chat.prompts})
    written = getattr(system, "make_store", system)
    embedder = getattr(models.embedder, "inner", models.embedder)
    return store.dump(empty) + _source_of(written, *parts_of(system).values(), embedder)


def _rehearsed(
    talk: Conversation, name: str, settings: dict[str, Any], unit: str, models: Models
) -> tuple[dict[str, CallEstimate], Memory]:
    """Returns the expected model calls of a build, and its memory without a model."""
    system, callers = usable(name, settings, models)
    return rehearse(talk, system, unit, models.embedder, models.chat if callers else None)


def _source_of(*parts: object) -> bytes:
    """Returns the source code of the modules of those ``parts`` that do not belong to segviz."""
    source = b""
    for part in parts:
        kind = part if isinstance(part, type) else type(part)
        if not built_in(kind):
            with suppress(OSError, TypeError):  # a class without a source file
                source += inspect.getsource(inspect.getmodule(kind) or kind).encode()
    return source


def _lacking(conversation: Conversation, counts: Countable) -> str:
    """Returns an error message if no question has the property ``counts``, else ""."""
    if any(map(counts.has, conversation.questions)):
        return ""
    return f"{conversation.id} has no questions with {counts.name} to measure by"


def _unusable(corpus: Corpus, place: int, unit: str, counts: Countable) -> str:
    """Returns why the conversation at ``place`` in the corpus cannot be measured, "" if it can."""
    try:
        conversation = corpus[place]
    except ValueError as error:  # a large file is parsed lazily
        return str(error)
    if lacks := _lacking(conversation, counts):
        return lacks
    with user_errors():
        units = conversation.units(unit)
    return "" if units else f"the rule {unit!r} makes no leaf from {conversation.id}"


# --- resuming ----------------------------------------------------------------------------------


class Results(Generic[Measurement]):
    """Folder with a file for each finished run, named by the hash that identifies the run.

    A file has a checksum. A damaged file is named in a note, and its run is measured again.
    """

    def __init__(self, folder: Path, kind: type[Measurement], console: Console) -> None:
        """Creates the folder; raises UsageError if that fails."""
        from pydantic import TypeAdapter  # takes a quarter of a second to load

        self._folder, self._console = folder, console
        self._adapter: TypeAdapter[Measurement] = TypeAdapter(kind)
        with user_errors(OSError):
            folder.mkdir(exist_ok=True)

    def get(self, run: str) -> Measurement | None:
        """Returns the result of a finished run; None without one or with a damaged file."""
        path = self._folder / f"{run}.json"
        try:
            content = json.loads(files.read(path))
            if content.pop("sha256") != _checksum(content):
                raise ValueError("its checksum does not match its content")
            return self._adapter.validate_python(content["result"])
        except FileNotFoundError:
            return None
        except (OSError, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
            self._console.note(f"{path} is damaged ({type(error).__name__}); measured again")
            return None

    def keep(self, run: str, one: Measured[Measurement]) -> None:
        """Writes the result of a finished run; raises UsageError if that fails."""
        content = {"segviz": __version__, **plain(one)}
        content["sha256"] = _checksum(content)
        with user_errors(OSError):
            files.write(self._folder / f"{run}.json", json.dumps(content, allow_nan=False))


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()


# --- running -----------------------------------------------------------------------------------


class _Failures:
    """Record of systems from outside segviz that failed; a call prints a note, once for each."""

    def __init__(self, runs: Runs, console: Console) -> None:
        self._labels, self._console = [*runs.builders], console
        self._errors: dict[str, HandoverError] = {}

    def __call__(self, place: int, error: HandoverError) -> None:
        label = self._labels[place % len(self._labels)]
        if label not in self._errors:
            self._console.note(f"left out: {label}: {error}")
        self._errors[label] = error

    def others(self, runs: tuple[Measured[Measurement], ...]) -> tuple[Measured[Measurement], ...]:
        """Returns the runs of the systems that did not fail; raises an error if all failed."""
        if len(self._errors) == len(self._labels):
            raise next(iter(self._errors.values()))
        return tuple(one for one in runs if one.system not in self._errors)


def measured(
    runs: Runs,
    measure: Callable[..., Measurement],
    kind: type[Measurement],
    settings: dict[str, Any],
    options: Options,
    console: Console,
    **here: Any,
) -> tuple[Measured[Measurement], ...]:
    """Returns the results of all runs; measures those that the ``--resume`` folder lacks.

    Args:
        runs: the runs.
        measure: measures one memory.
        kind: class of the results.
        settings: settings of the measurement.
        options: options of the command.
        console: output.
        here: further arguments of ``measure``, passed only if all runs are measured in this
            process and none is saved. They must not change a number.

    Raises:
        UsageError: a run cannot be measured.
        Unfinished: a model gave up, or workers were lost.
    """
    # Take from the folder the runs that are finished.
    folder = options.resume and output_folder(options.resume)
    results = Results(folder, kind, console) if folder else None
    order = [
        (_identity(runs, talk, label, measure, settings), talk.id, label)
        for talk, label in (runs if results else ())
    ]
    known: dict[int, Measured[Measurement]] = {}
    for place, (run, conversation, label) in enumerate(order):
        if results and (result := results.get(run)) is not None:
            known[place] = Measured(conversation, label, 0, result)
    if known:
        console.note(f"{len(known)} of {len(order)} runs are known from {options.resume}")
    apart = options.workers != 1 or options.scheduler is not None

    def keep(place: int, one: Measured[Measurement]) -> None:
        if results:
            run, _, _ = order[place]
            results.keep(run, one)

    # Measure the others, here or on workers, and save each when it is finished.
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
                workers=None if options.scheduler else options.workers,
                progress=progress,
                known=known,
                keep=keep,
                failed=failures,
                **settings,
            )
            return failures.others(measured_runs)
    except WorkersLost as lost:
        hint = f"The finished runs are in {options.resume}; the same command continues there."
        if not options.resume:
            hint = "With --resume FOLDER finished runs are saved."
        raise Unfinished(f"{lost}. {hint}") from None
    except KeyboardInterrupt:
        if options.resume:
            console.error(
                f"the finished runs are in {options.resume}; the same command continues there"
            )
        raise


@contextmanager
def _cluster(address: str, console: Console) -> Iterator[None]:
    """Makes joblib run a block on a Dask scheduler's workers; UsageError if that is impossible."""
    with user_errors():
        distributed = import_extra("distributed", "cluster", "a scheduler")
        joblib = import_extra("joblib", "cluster", "a scheduler")
    # Connect, wait for the first worker, then let joblib use them in the block.
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
    measure: Callable[..., Measurement],
    settings: Mapping[str, Any],
) -> str:
    """Returns a SHA-256 of all that determines a run: memory, measurement settings, code."""
    asked = {"code": code_hash(), "measure": measure.__name__, **settings}
    wanted = json.dumps(plain(asked), sort_keys=True).encode()
    wanted += _source_of(RELEVANCE.get(str(settings.get("relevance")).partition(":")[0]))
    return hashlib.sha256(runs.content(talk, label) + b"\0" + wanted).hexdigest()
