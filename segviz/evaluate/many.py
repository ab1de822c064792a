"""Many conversations, systems and seeds, one after the other or on many workers.

A task is one conversation built by one system and measured with one seed. Tasks do not know
of each other, so it does not matter where one runs: the numbers are the same in one
process, under joblib (extra ``parallel``) and on a Dask cluster (extra ``cluster``), and
come back in the order of the tasks. Only a task goes out and only its measures come back;
what a lost worker had begun is done again by another. Builders that hold a chat model are
refused beyond this process, because its key would travel with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import product
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from segviz.conversation import Conversation
from segviz.evaluate.evaluation import Evaluation, evaluate
from segviz.evaluate.grid import Sweep, sweep
from segviz.evaluate.permutation import reordered
from segviz.retrieve import check_count

if TYPE_CHECKING:
    from segviz.memory import Memory

Build = Callable[[Conversation], "Memory"]
Result = TypeVar("Result")
Progress = Callable[[int, int], None]

_RETRIES = 3


@dataclass(frozen=True)
class Measured(Generic[Result]):
    """What was measured of a conversation, built by a system, with a seed."""

    conversation: str
    system: str
    seed: int
    result: Result


@dataclass(frozen=True)
class _Task:
    conversation: Conversation
    system: str
    seed: int
    build: Build
    share: float
    measure: Callable[..., Any]
    settings: dict[str, Any]

    def run(self) -> Any:
        spoken = self.conversation
        if self.share:
            spoken = reordered(spoken, self.share, self.seed)
        memory = self.build(spoken)
        return self.measure(memory, spoken.questions, seed=self.seed, **self.settings)


def evaluate_many(
    conversations: Sequence[Conversation],
    builders: Mapping[str, Build],
    *,
    seeds: Sequence[int] = (0,),
    share: float = 0.0,
    workers: int = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> tuple[Measured[Evaluation], ...]:
    """:func:`evaluate` for every conversation x system x seed, in this order.

    ``builders`` turn a conversation into a memory, by the system's name
    (``partial(segviz.build, system=name)``). A seed draws the intervals and, with a
    ``share`` above 0, which units change places (``segviz.evaluate.permutation``).
    ``workers`` above 1 are processes of this machine; ``scheduler`` is the address of a
    Dask scheduler, whose workers need segviz installed. ``progress(done, total)`` is called
    after every task. ``settings`` are those of ``evaluate``.

    ValueError for a bad setting, a missing extra (naming it), a scheduler that does not
    answer, or a chat model beyond this process. An error in a task is raised here.
    """
    tasks = _tasks(conversations, builders, seeds, share, evaluate, settings)
    return _measured(tasks, workers, scheduler, progress)


def sweep_many(
    conversations: Sequence[Conversation],
    builders: Mapping[str, Build],
    *,
    seeds: Sequence[int] = (0,),
    share: float = 0.0,
    workers: int = 1,
    scheduler: str | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> tuple[Measured[Sweep], ...]:
    """As :func:`evaluate_many`, with :func:`sweep`, whose settings are taken."""
    tasks = _tasks(conversations, builders, seeds, share, sweep, settings)
    return _measured(tasks, workers, scheduler, progress)


def _tasks(
    conversations: Sequence[Conversation],
    builders: Mapping[str, Build],
    seeds: Sequence[int],
    share: float,
    measure: Callable[..., Any],
    settings: dict[str, Any],
) -> list[_Task]:
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share!r}; it must lie between 0 and 1")
    return [
        _Task(conversation, name, seed, builders[name], share, measure, settings)
        for conversation, name, seed in product(conversations, builders, seeds)
    ]


def _measured(
    tasks: Sequence[_Task], workers: int, scheduler: str | None, progress: Progress | None
) -> tuple[Measured[Any], ...]:
    check_count("workers", workers)
    if scheduler is not None or workers > 1:
        _refuse_models(tasks)
    if scheduler is not None:
        results = _on_cluster(tasks, scheduler)
    elif workers > 1:
        results = _on_processes(tasks, workers)
    else:
        results = (task.run() for task in tasks)
    found = []
    for task, result in zip(tasks, results, strict=True):
        found.append(Measured(task.conversation.id, task.system, task.seed, result))
        if progress is not None:
            progress(len(found), len(tasks))
    return tuple(found)


def _refuse_models(tasks: Sequence[_Task]) -> None:
    for task in tasks:
        if isinstance(task.build, partial) and task.build.keywords.get("chat") is not None:
            raise ValueError(
                f"the builder of {task.system!r} holds a chat model, whose key would be sent to "
                "the workers; build in one process (workers=1), or offline"
            )


def _on_processes(tasks: Sequence[_Task], workers: int) -> Iterator[Any]:
    joblib = _extra("joblib", "parallel", "more than one worker")
    parallel = joblib.Parallel(n_jobs=workers, return_as="generator")
    yield from parallel(joblib.delayed(_Task.run)(task) for task in tasks)


def _on_cluster(tasks: Sequence[_Task], scheduler: str) -> Iterator[Any]:
    distributed = _extra("distributed", "cluster", "a scheduler")
    try:
        client = distributed.Client(scheduler, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"no Dask scheduler answers at {scheduler!r} ({error}); start one with "
            "`dask scheduler` and give the address it prints"
        ) from None
    with client:
        # Equal tasks must not be taken for one: every one gets its own key.
        futures = client.map(_Task.run, tasks, pure=False, retries=_RETRIES)
        for future in futures:
            yield future.result()


def _extra(module: str, extra: str, purpose: str) -> Any:
    """An optional package; ValueError names the extra that brings it."""
    try:
        return import_module(module)
    except ImportError:
        raise ValueError(
            f"{purpose} needs {module}, which is not installed: pip install 'segviz[{extra}]'"
        ) from None
