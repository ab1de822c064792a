"""Opens the chosen file, stores it by its content, and lets the user choose a conversation."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from segviz import loaders, store
from segviz.conversation import AuditReport, Conversation, Corpus, LoadReport
from segviz.loaders import (
    GAP_HOURS,
    JOINED,
    LOADERS,
    LazyCorpus,
    LoadError,
    NeedsColumns,
    joined,
    with_audit,
)
from segviz.loaders.columns import ALIASES, guess
from segviz.memory import sound
from segviz.text.captions import size
from segviz.ui import keys
from segviz.ui.address import wanted_conversation
from segviz.ui.security import JOIN
from segviz.ui.state import CORPORA_KEPT, fingerprint, forget, remember, starts
from segviz.ui.visit import check_turns, upload_budget
from segviz.ui.widgets.captions import counted, refusal, trouble, unmarked
from segviz.ui.widgets.waiting import Job, JobPart, Progress, computed


@dataclass(frozen=True, eq=False)
class OpenFile:
    """Open file: its content key, its conversations, and its memory if it was a saved one.

    ``how`` are the options of ``load`` that the user has chosen; ``file`` is the content key of the
    file alone, without these. ``sample`` is True for a bundled sample, whatever source is chosen.
    """

    key: str
    corpus: Corpus
    saved: store.Saved | None = None
    file: str = ""
    how: Mapping[str, Any] = field(default_factory=dict)
    sample: bool = False


def open_file(path: str, asks: bool = True) -> OpenFile:
    """Opens the file or folder at a path, and reads it again when it has changed.

    ``asks`` is that of :func:`opened_as`.
    """
    folder = False
    try:
        file = Path(path).expanduser()
        status, folder = file.stat(), file.is_dir()
        version = fingerprint(path, status.st_mtime_ns, status.st_ctime_ns, status.st_size)
    except (OSError, ValueError, RuntimeError):
        version = fingerprint(path)  # loading says what is wrong with it

    return opened_as(
        version,
        lambda how, progress: loaders.load(path, **how, progress=progress),
        lambda: store.read(path) if store.recognises(path) else None,
        # What is wrong inside a folder may be mended without a trace on the folder.
        lasting=not folder,
        asks=asks,
    )


Load = Callable[[dict[str, Any], Progress], Corpus]


def opened_as(
    key: str,
    load: Load,
    read_memory: Callable[[], store.Saved | None] = lambda: None,
    lasting: bool = True,
    asks: bool = True,
) -> OpenFile:
    """Returns the file, which is read once; raises the error of a file that is refused.

    Args:
        key: content key of the file.
        load: reads its conversations, with options of ``load`` and a progress function.
        read_memory: returns the content of a memory file, None for any other file.
        lasting: True to keep a refusal, so that the file is not read again.
        asks: True to ask the user for the meaning of unknown columns of a table, False to refuse
            the table.
    """
    how = _options(key)

    # A refusal is a result, too, so that the file is not read again.
    def tried(options: dict[str, Any], progress: Progress) -> OpenFile | ValueError:
        """Reads the file, or returns the error that refuses it."""
        try:
            saved = read_memory()
            file = (
                OpenFile(key, load(options, progress))
                if saved is None
                else _memory(key, sound(saved))
            )
            if len(file.corpus) == 1:  # of several another can be chosen
                check_turns(file.corpus[0])
            return file
        except (LoadError, store.StoreError) as error:
            return error

    def opened(options: dict[str, Any]) -> OpenFile:
        """Returns the file read with these options, from the cache if possible."""
        under = fingerprint(key, options)
        job = Job(
            "corpora",
            CORPORA_KEPT,
            under,
            automatic=lambda: True,
            stop=f"stop-reading-{under}",
            on_stop=lambda: st.session_state.update({keys.SOURCE: "Sample"}),
            bar=False,
        )
        result = job.value(JobPart(under, partial(tried, options), _reading_note))
        if isinstance(result, OpenFile):
            return replace(result, key=under if options else key, file=key, how=options)
        if not lasting:
            forget("corpora", under)
        raise cast(ValueError, result).with_traceback(None)

    try:
        return opened(how)
    except NeedsColumns as error:
        columns = _columns(key, error) if asks else {}
        if "text" not in columns:
            raise
        return opened(how | {"columns": columns})


def _reading_note(done: int, total: int) -> str:
    return "Reading the file" + (f", {size(done)} of {size(total)}" if total else "")


def _memory(key: str, saved: store.Saved) -> OpenFile:
    if not saved.steps:
        raise store.StoreError("this memory has no steps, so there is nothing to look at")
    report = LoadReport("", "segviz memory", len(saved.conversation.turns), saved.findings)
    return OpenFile(key, Corpus((saved.conversation,), report), saved)


def _columns(key: str, error: NeedsColumns) -> Mapping[str, str]:
    """Returns the columns of a file without usual names, and draws their choice if need be.

    They are those chosen for a file of the same keys, else guessed from the values.
    """
    columns: Mapping[str, str] = st.session_state.get(_same_keys(error.headers), error.mapping)
    if "text" not in columns or f"columns-{key}" in st.session_state:
        return column_controls(key, error.headers, guess(error.headers))
    st.session_state[f"columns-{key}"] = st.session_state[_guessed(key)] = dict(columns)
    return columns


def _same_keys(headers: Sequence[str]) -> str:
    return f"columns-of-{fingerprint(sorted(headers))}"


def _guessed(key: str) -> str:
    return f"guessed-columns-{key}"


DATE_ORDERS = {"as the file tells": None, "day before month": True, "month before day": False}


def _options(key: str) -> dict[str, Any]:
    """Returns the options of ``load`` that the user has changed for this file."""
    order = DATE_ORDERS[st.session_state.get(f"dates-{key}", next(iter(DATE_ORDERS)))]
    gap = st.session_state.get(f"gap-{key}", GAP_HOURS)
    options: dict[str, Any] = {} if order is None else {"day_first": order}
    if gap != GAP_HOURS:
        options["gap_hours"] = float(gap)
    columns = st.session_state.get(f"columns-{key}", {})
    return options | {"columns": columns} if "text" in columns else options


def column_controls(key: str, headers: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Draws a choice of column for every meaning, now ``columns``; returns the choices."""
    st.caption("Which column holds what?")

    def chosen() -> dict[str, str]:
        headers = {m: st.session_state.get(f"column-{key}-{m}") for m in ALIASES}
        return {meaning: header for meaning, header in headers.items() if header is not None}

    def choose() -> None:
        st.session_state[f"columns-{key}"] = st.session_state[_same_keys(headers)] = chosen()

    for meaning in ALIASES:
        st.selectbox(
            meaning.capitalize(),
            [None, *headers],
            format_func=lambda header: "none" if header is None else header,
            on_change=choose,
            **starts(f"column-{key}-{meaning}", columns.get(meaning)),
        )
    return chosen()


_PREVIEWED = 5
_IN_SIGHT = 5  # findings in a load report; more are scrolled


def preview(corpus: Corpus) -> None:
    """Draws the first turns, which show whether the columns are chosen rightly."""
    turns = [turn for session in corpus[0].sessions[:_PREVIEWED] for turn in session.turns]
    st.caption("So the first turns are")
    st.text("\n".join(f"{turn.speaker}: {turn.content}"[:120] for turn in turns[:_PREVIEWED]))


def audit_panel(opened: OpenFile) -> OpenFile:
    """Draws the upload of an audit; returns the file with the disputed questions marked.

    The marked file has a key of its own. A file without questions draws nothing.
    """
    corpus = opened.corpus
    if isinstance(corpus, LazyCorpus) or not any(talk.questions for talk in corpus):
        return opened
    with st.expander("Audit of the questions"):
        file = st.file_uploader(
            "A file that disputes gold evidence or answers",
            ["json", "jsonl", "csv", "tsv"],
            key=f"audit-{opened.file or opened.key}",
            help="Objects with question, error_type, correct_evidence and correct_answer, as in "
            "github.com/dial481/locomo-audit. Disputed questions are marked; Sweep and Compare "
            "can leave them out.",
        )
        if file is None:
            return opened
        data = file.getvalue()
        key = fingerprint(opened.key, data)
        # An audit that cannot be used leaves the questions as they are.
        try:
            marked = remember(
                "audited", key, 2, lambda: with_audit(corpus, data, file.name, upload_budget())
            )
        except LoadError as error:
            trouble("This audit is not used.", error, st.warning)
            return opened
        report = cast(AuditReport, marked.report.audit)
        st.caption(unmarked(str(report)))
        if report.findings:
            st.dataframe(
                [{"where": f.where, "detail": f.what} for f in report.findings], hide_index=True
            )
    saved = opened.saved and replace(opened.saved, conversation=marked[0])
    return replace(opened, key=key, corpus=marked, saved=saved)


# --- its conversations ----------------------------------------------------------------


def joined_conversations(opened: OpenFile) -> OpenFile:
    """Draws the switch that makes all conversations of the file one; returns that, or the file."""
    corpus, key = opened.corpus, f"join-{opened.file or opened.key}"
    if len(corpus) < 2:
        return opened
    if wanted_conversation() == JOINED:
        st.session_state[key] = True
    whole = st.toggle(
        f"All {len(corpus)} conversations as one",
        help="One memory of all conversations, their sessions in the order of time. Each session "
        "keeps the name of its conversation.",
        **starts(key, JOIN in os.environ),
    )

    def tried() -> Corpus | LoadError:
        """Joins the conversations, or returns the error that refuses it."""
        try:
            return joined(corpus)
        except LoadError as error:
            return error

    made = computed("joined", opened.key, 1, "Join the conversations", tried) if whole else None
    if isinstance(made, LoadError):
        trouble("The conversations stay apart.", made, st.warning)
    if not isinstance(made, Corpus):
        return opened
    how = {**opened.how, "join": True}
    return replace(opened, key=fingerprint(opened.key, JOINED), corpus=made, how=how)


def choose_conversation(opened: OpenFile, panel: DeltaGenerator) -> Conversation | None:
    """Draws the choice of a conversation in a panel; returns it, None if it cannot be read.

    Errors and guessed columns are below the panel, which may be closed.
    """
    entries = opened.corpus.entries

    def label(position: int) -> str:
        entry = entries[position]
        parts = [entry.id]
        if entry.sessions is not None:
            parts.append(counted(entry.sessions, "session"))
        if entry.turns is not None:
            parts.append(counted(entry.turns, "turn"))
        return " · ".join([*parts, entry.about] if entry.about else parts)

    # A link may name the conversation.
    position, key = 0, f"conversation-{opened.key}"
    if len(entries) > 1:
        wanted = wanted_conversation()
        places = [i for i, entry in enumerate(entries) if entry.id == wanted]
        if places:
            st.session_state[key] = places[0]
        position = panel.selectbox(
            "Conversation in the file",
            range(len(entries)),
            format_func=label,
            key=key,
            persist_state="session",
        )
    try:
        conversation = opened.corpus[position]
        check_turns(conversation)
    except LoadError as error:
        refusal(error, "Choose another conversation of the file.")
        return None
    with panel:
        _about(conversation, alone=len(entries) == 1)
    guessed = _guessed(opened.file) in st.session_state
    with nullcontext() if guessed else panel:
        _load_report(opened, position, guessed)
    return conversation


def _about(conversation: Conversation, alone: bool) -> None:
    """Draws id, speakers, dates and counts of a conversation."""
    speakers = conversation.speakers
    names = ", ".join(speakers[:6]) + (" …" if len(speakers) > 6 else "")
    st.text(f"{conversation.id}\n{names}" if alone else names)
    ends = conversation.period or ()
    days = " – ".join(dict.fromkeys(f"{day:%d %b %Y}" for day in ends))
    when = f", {days}" if days else ""
    st.caption(
        f"{counted(len(conversation.sessions), 'session')}, "
        f"{counted(len(conversation.turns), 'turn')}, "
        f"{counted(len(conversation.questions), 'question')}{when}"
    )


def _load_report(opened: OpenFile, position: int, guessed: bool) -> None:
    """Draws what was repaired or skipped in the file, and how it was read; open if ``guessed``."""
    report = opened.corpus.report_of(position)
    repaired, skipped = report.count("repaired"), report.count("skipped")
    counts = {"kept": report.kept, "repaired": repaired, "skipped": skipped}
    phrases = [f"{count:,} {what}" for what, count in counts.items() if count or what == "kept"]
    with st.expander(f"Load report of the file: {', '.join(phrases)}", expanded=guessed):
        _reading_controls(opened)
        if report.lacks:
            st.caption(f"The file has no {' and no '.join(report.lacks)}.")
        if not report.findings:
            st.caption("No record was repaired or skipped.")
            return
        said = [f"{each.kind.capitalize()} ({each.where}): {each.what}" for each in report.findings]
        with st.container(height=320 if len(said) > _IN_SIGHT else "content"):
            st.caption("\n\n".join(map(unmarked, said)))
        if len(report.findings) < repaired + skipped:
            st.caption(f"The first {len(report.findings):,} of {repaired + skipped:,}")


def _reading_controls(opened: OpenFile) -> None:
    """Draws controls for what the file's format leaves open: columns, order of dates, silence."""
    label = opened.corpus.report.source_format
    asks = next((loader.asks for loader in LOADERS.values() if loader.label == label), ())
    report = opened.corpus.report
    if report.headers:
        columns = ", ".join(f"{meaning} = {name}" for meaning, name in report.columns.items())
        guessed = st.session_state.get(_guessed(opened.file)) == report.columns
        with st.expander(f"Columns: {unmarked(columns)}", expanded=guessed):
            if guessed:
                st.caption("No key has a usual name; these are guessed from the values.")
            column_controls(opened.file, report.headers, report.columns)
            preview(opened.corpus)
    if "day_first" in asks:
        st.selectbox("Order of dates", list(DATE_ORDERS), key=f"dates-{opened.file}")
    if "gap_hours" in asks:
        st.number_input(
            "A new session after a silence of hours",
            0.5,
            720.0,
            GAP_HOURS,
            0.5,
            key=f"gap-{opened.file}",
        )
