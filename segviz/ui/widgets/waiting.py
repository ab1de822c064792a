"""Long work of a page: started at once or by a click, with a note of progress and a Stop button.

Streamlit ends a run only when the run draws something. So long work runs in a thread
(``waited_for``), and the run redraws the note meanwhile. After a click the run ends at once; the
thread finishes unseen. ``waiting`` draws the note of any wait, ``Job`` also keeps the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Generic, Literal, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz.handover import HandoverError
from segviz.memory import Memory
from segviz.tree import Structure
from segviz.ui.state import keep, peek
from segviz.ui.visit import building
from segviz.ui.widgets.captions import trouble, unmarked
from segviz.view.captions import shown_labels
from segviz.waiting import check_cancelled, heartbeat, waited_for

T = TypeVar("T")

SILENT = 0.5
"""Seconds after which a wait gets a note; waits that follow each other sooner count as one."""

_UNNOTED = "unnoted-wait"  # beginning and end of the last waits, if they had no note

PLAY, GRID = ":material/play_arrow:", ":material/grid_on:"
"""Icons of buttons that start work."""

Progress = Callable[[int, int], None]
"""Takes the numbers of finished and of all items."""


@contextmanager
def waiting(
    what: str | Callable[[], str],
    key: str,
    stop: Callable[[], None] | None = None,
    *,
    place: DeltaGenerator | None = None,
    share: Callable[[], float] | None = None,
) -> Iterator[None]:
    """Draws a note and a Stop button while ``waited_for`` or a model takes long.

    Args:
        what: text of the note, or a function that returns it.
        key: key of the button; "" for no button.
        stop: called after a click on the button. Without it the button only ends the run.
        place: slot of the note and the button; by default a new one.
        share: returns the finished share, for a progress bar that is drawn at once. Without it the
            note says the seconds, and appears after ``SILENT``.
    """
    place, began, state = place or st.empty(), monotonic(), st.session_state
    note = None
    since, ended = state.pop(_UNNOTED, (began, began))
    if began - ended > SILENT:
        since = began

    def beat() -> None:
        nonlocal note
        seconds = monotonic() - began
        if share is None and monotonic() - since < SILENT:
            return
        # Drawn once; later beats only change the text.
        if note is None:
            with place.container(horizontal=share is None, vertical_alignment="center"):
                note = st.empty()
                if key:
                    st.button("Stop", icon=":material/stop:", key=key, on_click=stop)
        text = what if isinstance(what, str) else what()
        if share is None:
            note.caption(f"{unmarked(text)} … {seconds:.0f} s", width="content")
        else:
            note.progress(share(), text)

    if share is not None:
        beat()
    with heartbeat(beat):
        yield
    if note is None:
        state[_UNNOTED] = since, monotonic()
    place.empty()


def noted(what: str, work: Callable[[], T]) -> T:
    """Calls ``work`` in a thread and returns its result; ``what`` is noted here if it is long."""
    with waiting(what, ""):
        return waited_for(work)


def labels(memory: Memory, structure: Structure) -> tuple[str, ...]:
    """Returns the labels of a structure's nodes as ``shown_labels`` does, with a note."""
    return noted("Name the nodes", partial(shown_labels, memory, structure))


@dataclass(frozen=True)
class JobPart(Generic[T]):
    """Value that a job computes.

    Attributes:
        key: content key of the value.
        work: computes the value in a thread; it gets a function that takes its progress.
        text: returns the note for the progress, which is 0 of 0 at the beginning.
    """

    key: str
    work: Callable[[Progress], T]
    text: Callable[[int, int], str]


@dataclass(frozen=True)
class Job:
    """Long work whose values are kept in the session, by content key.

    A click on Stop, or on anything else, ends the run. Finished values are kept, so the next run
    computes the rest.

    Attributes:
        cache: name of the cache of values, and of the entries about clicks.
        kept: most values in the cache.
        request: identifies the values that a click on the button starts.
        label: text of the button.
        button: key of the button.
        icon: icon of the button.
        heading: Markdown before the button, in one row with it and the note.
        note: returns a caption with the expected duration, below the button.
        automatic: returns True to start without a click, unless the work was stopped.
        lasting: True if a click holds until Stop, also after other clicks; False for one run.
        scope: identifies the requests that wait for a click after Stop; this one by default.
        stop: key of the Stop button; "" for none.
        on_stop: called after a click on Stop, instead of noting the stop.
        bar: True for a progress bar, False for a note.
        leaves: leaves that a part builds, which a public server limits; None without a limit.
        label_of: returns the name of a part; if it is given, parts that fail are named and left
            out. Otherwise the error is raised.
    """

    cache: str
    kept: int
    request: str
    label: str = ""
    button: str = ""
    icon: str | None = None
    heading: str = ""
    note: Callable[[], str] = str
    automatic: Callable[[], bool] = lambda: False
    lasting: bool = False
    scope: str = ""
    stop: str = ""
    on_stop: Callable[[], None] | None = None
    bar: bool = True
    leaves: int | None = None
    label_of: Callable[[str], str] | None = None

    def started(self, place: DeltaGenerator) -> bool:
        """Returns True if the work is to start now; else draws the button that starts it."""
        state, entry = st.session_state, f"wanted-{self.cache}"
        wanted = state.get(entry) if self.lasting else state.pop(entry, None)
        stopped = state.get(f"stopped-{self.cache}") == (self.scope or self.request)
        if wanted == self.request or (not stopped and self.automatic()):
            return True
        width: Literal["content", "stretch"] = "content" if self.heading else "stretch"
        with place.container(horizontal=bool(self.heading), vertical_alignment="center"):
            if self.heading:
                st.markdown(self.heading, width=width)
            st.button(self.label, key=self.button, icon=self.icon, on_click=self._start)
            if note := self.note():
                st.caption(note, width=width)
        return False

    def _start(self) -> None:
        st.session_state[f"wanted-{self.cache}"] = self.request
        st.session_state.pop(f"stopped-{self.cache}", None)

    def stop_now(self) -> None:
        """Has the next run wait for a click; the callback of Stop buttons."""
        if self.on_stop is not None:
            self.on_stop()
            return
        st.session_state[f"stopped-{self.cache}"] = self.scope or self.request
        st.session_state.pop(f"wanted-{self.cache}", None)

    def value(self, part: JobPart[T], place: DeltaGenerator | None = None) -> T | None:
        """Returns the value of one part; None before the click that starts it, or if it failed."""
        return (self.values({"": part}, place) or {}).get("")

    def values(
        self, parts: Mapping[str, JobPart[T]], place: DeltaGenerator | None = None
    ) -> dict[str, T] | None:
        """Returns the values of all parts that did not fail; None before the click that starts.

        Missing values are computed one after the other. The button and then the progress are in
        the slot ``place``, by default a new one.
        """
        values: dict[str, T] = {}
        for name, part in parts.items():
            if (known := peek(self.cache, part.key)) is not None:
                values[name] = known
        if len(values) == len(parts):
            return values
        place = place or st.empty()
        if not self.started(place):
            return None
        for name, failure in self._compute(parts, values, place).items():
            what = self.label_of(name) if self.label_of else name
            trouble(f"Left out: {what}.", failure, st.warning)
        return {name: values[name] for name in parts if name in values}

    def _compute(
        self, parts: Mapping[str, JobPart[T]], values: dict[str, T], place: DeltaGenerator
    ) -> dict[str, HandoverError]:
        """Adds the missing values of ``parts`` to ``values``; returns the errors of parts."""
        number = done = total = 0
        errors: dict[str, HandoverError] = {}

        def progress(finished: int, every: int) -> None:
            nonlocal done, total
            check_cancelled()
            done, total = finished, every

        def text() -> str:
            return list(parts.values())[number].text(done, total)

        def share() -> float:
            return (number + (done / total if total else 0.0)) / len(parts)

        # One note serves all parts. After the error of one, the others are computed all the same.
        bar = share if self.bar else None
        with waiting(text, self.stop, self.stop_now, place=place, share=bar):
            for number, (name, part) in enumerate(parts.items()):  # noqa: B007
                if name in values:
                    continue
                done = total = 0
                try:
                    with nullcontext() if self.leaves is None else building(self.leaves):
                        value = waited_for(partial(part.work, progress))
                except HandoverError as error:
                    if self.label_of is None:
                        raise
                    errors[name] = error
                else:
                    values[name] = keep(self.cache, part.key, self.kept, value)
        return errors


def computed(name: str, key: str, kept: int, what: str, work: Callable[[], T]) -> T | None:
    """Returns the value stored under ``key``, or computes it in a thread.

    ``name``, ``key`` and ``kept`` are as in ``remember``; ``what`` says what is computed. After
    Stop it returns None and draws a button that computes the value after all.
    """
    job = Job(
        name,
        kept,
        key,
        what,
        f"again-{name}",
        automatic=lambda: True,
        stop=f"stop-{name}-{key}",  # one run may compute several values of one name
        bar=False,
    )
    return job.value(JobPart(key, lambda _: work(), lambda _, __: what))
