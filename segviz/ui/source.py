"""Where the conversation comes from: a sample, an upload, a path, pasted text."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st

from segviz import loaders, store
from segviz.conversation import Conversation, Corpus, LoadReport
from segviz.loaders import LOADERS, LoadError
from segviz.loaders.columns import ALIASES, guess
from segviz.loaders.errors import NeedsColumns
from segviz.loaders.locomo_source import LICENCE, NAME, PAGE, SIZE, fetch_locomo
from segviz.models.environment import cache_path
from segviz.samples import TITLES, sample_path
from segviz.ui.address import wanted_conversation
from segviz.ui.state import CORPORA_KEPT, fingerprint, remember
from segviz.ui.words import counted

UPLOAD_MB = 200
"""As Streamlit's own limit; beyond it a path on the server's machine is the way."""


@dataclass(frozen=True, eq=False)
class Opened:
    """What is open: a content key, the conversations, and the memory where the file was a
    saved one. ``file`` is the key of the file alone, however it was read."""

    key: str
    corpus: Corpus
    saved: store.Saved | None = None
    file: str = ""


def choose_source() -> Opened | None:
    """The open file. A file that cannot be read leaves the previous one open."""
    st.subheader("Conversation")
    sources: dict[str, Callable[[], Opened | None]] = {
        "Sample": _sample,
        "Upload": _upload,
        "Path": _path,
        "Paste": _paste,
    }
    source = st.segmented_control(
        "Source",
        list(sources),
        default="Path" if os.environ.get("SEGVIZ_FILE") else "Sample",
        required=True,
        key="source",
        label_visibility="collapsed",
        persist_state="session",
    )
    try:
        opened = sources[source or "Sample"]()
    except (LoadError, store.StoreError) as error:
        opened = None
        _refusal(error)
    if opened is not None:
        st.session_state["last"] = opened
        return opened
    previous: Opened | None = st.session_state.get("last")
    if previous is None:
        # Upload, Path or Paste was chosen before anything was open: start from the sample.
        previous = _open_file(str(sample_path(next(iter(TITLES)))))
        st.session_state["last"] = previous
    return previous


def _refusal(error: ValueError) -> None:
    """Say why a file was not opened. The text may quote the file, so it is shown literally."""
    with st.container(border=True, key="refusal"):
        st.markdown(":material/error: **Not opened.** The previous conversation is still here.")
        st.text(str(error))


def _sample() -> Opened:
    name = st.selectbox(
        "Sample",
        list(TITLES),
        format_func=lambda n: TITLES[n],
        key="sample",
        label_visibility="collapsed",
        persist_state="session",
    )
    return _open_file(str(sample_path(name)))


def _upload() -> Opened | None:
    file = st.file_uploader(
        "Upload", key="upload", label_visibility="collapsed", max_upload_size=UPLOAD_MB
    )
    if file is None:
        names = ", ".join(loader.label for loader in loaders.LOADERS.values())
        st.caption(f"A saved memory, or a conversation: {names}; also zipped.")
        return None
    data = file.getvalue()
    return _opened(
        fingerprint(data),
        lambda how: loaders.parse(data, file.name, **how),
        lambda: store.parse(data) if store.recognises(data[: store.HEAD]) else None,
    )


def _path() -> Opened | None:
    path = st.text_input(
        "Path of a file on the machine that runs segviz",
        value=os.environ.get("SEGVIZ_FILE", ""),
        key="path",
        placeholder="~/data/locomo10.json",
        persist_state="session",
    )
    _get_locomo()
    return _open_file(path) if path.strip() else None


def _get_locomo() -> None:
    """Fetch the public LoCoMo file on request, after saying whose it is."""
    with st.expander("Get LoCoMo", key="get-locomo"):
        st.caption(
            f"Ten long conversations with questions, published by Snap Research under "
            f"{LICENCE} (non-commercial use, with attribution). The button downloads {NAME} "
            f"({SIZE / 1e6:.1f} MB) from GitHub to your cache folder and checks its sum; nothing "
            "else is sent. You may also download it yourself and give its path above."
        )
        st.text(PAGE)

        def fetch() -> None:
            try:
                found = fetch_locomo(cache_path(os.environ).parent)
            except LoadError as error:
                st.session_state["locomo-fault"] = str(error)
            else:
                st.session_state.update({"path": str(found), "locomo-fault": ""})

        st.button("I agree, download it", key="fetch-locomo", on_click=fetch)
        fault = st.session_state.get("locomo-fault")
        if fault:
            st.text(fault)


def _paste() -> Opened | None:
    text = st.text_area(
        "Conversation",
        key="paste",
        height=160,
        placeholder="Ada: Did you find the key?\nBen: Under the third stone.",
        help="One turn per line with the speaker before a colon, or any text a supported "
        "file could hold.",
        persist_state="session",
    )
    if not text.strip():
        return None
    data = text.encode("utf-8", "replace")
    return _opened(fingerprint(data), lambda how: loaders.parse(data, "pasted text", **how))


def _open_file(path: str) -> Opened:
    try:
        facts = Path(path).expanduser().stat()
        version = fingerprint(path, facts.st_mtime_ns, facts.st_size)
    except (OSError, ValueError, RuntimeError):
        version = fingerprint(path)  # loading says what is wrong with it
    return _opened(
        version,
        lambda how: loaders.load(path, **how),
        lambda: store.read(path) if _holds_memory(path) else None,
    )


def _holds_memory(path: str) -> bool:
    try:
        with Path(path).expanduser().open("rb") as file:
            return store.recognises(file.read(store.HEAD))
    except (OSError, ValueError, RuntimeError):
        return False


Load = Callable[[dict[str, Any]], Corpus]


def _opened(
    key: str, load: Load, read_memory: Callable[[], store.Saved | None] = lambda: None
) -> Opened:
    """Read once; a table whose columns do not tell is asked about."""
    how = _reading(key)

    def read(options: dict[str, Any]) -> Opened:
        saved = read_memory()
        if saved is None:
            return Opened(key, load(options))
        report = LoadReport("", "segviz memory", len(saved.conversation.turns))
        return Opened(key, Corpus((saved.conversation,), report), saved)

    def opened(options: dict[str, Any]) -> Opened:
        under = fingerprint(key, options)
        found = remember("corpora", under, CORPORA_KEPT, lambda: read(options))
        return replace(found, key=under if options else key, file=key)

    try:
        return opened(how)
    except NeedsColumns as error:
        return opened(how | {"columns": _columns(error, key)})


DATE_ORDERS = {"as the file tells": None, "day before month": True, "month before day": False}
GAP_HOURS = 8.0


def _reading(key: str) -> dict[str, Any]:
    """What the user said about how to read this file; only what differs from the default."""
    order = DATE_ORDERS[st.session_state.get(f"dates-{key}", next(iter(DATE_ORDERS)))]
    gap = st.session_state.get(f"gap-{key}", GAP_HOURS)
    said = {} if order is None else {"day_first": order}
    return said if gap == GAP_HOURS else said | {"gap_hours": float(gap)}


def _reading_controls(opened: Opened) -> None:
    """Ask what this format leaves open."""
    label = opened.corpus.report.source_format
    asks = next((loader.asks for loader in LOADERS.values() if loader.label == label), ())
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


def _columns(error: NeedsColumns, key: str) -> dict[str, str]:
    """Ask which column holds what."""
    st.caption("Which column holds what?")
    guessed = guess(error.headers)
    chosen: dict[str, str] = {}
    for meaning in ALIASES:
        options = [None, *error.headers]
        header = st.selectbox(
            meaning.capitalize(),
            options,
            index=options.index(guessed.get(meaning)),
            format_func=lambda name: "none" if name is None else name,
            key=f"column-{key}-{meaning}",
        )
        if header is not None:
            chosen[meaning] = header
    if "text" not in chosen:
        raise error
    return chosen


def choose_conversation(opened: Opened) -> tuple[int, Conversation] | None:
    """One of the file's conversations with its position; None where it cannot be read."""
    entries = opened.corpus.entries

    def label(position: int) -> str:
        found = entries[position]
        parts = [found.id]
        if found.sessions is not None:
            parts.append(counted(found.sessions, "session"))
        if found.turns is not None:
            parts.append(counted(found.turns, "turn"))
        return " · ".join([*parts, found.about] if found.about else parts)

    position = 0
    if len(entries) > 1:
        wanted = wanted_conversation()
        places = [i for i, entry in enumerate(entries) if entry.id == wanted]
        if places:
            st.session_state["conversation"] = places[0]
        position = st.selectbox(
            "Conversation in the file",
            range(len(entries)),
            format_func=label,
            key="conversation",
            persist_state="session",
        )
    try:
        conversation = opened.corpus[position]
    except LoadError as error:
        _refusal(error)
        return None
    _about(conversation, alone=len(entries) == 1)
    _load_report(opened.corpus, position)
    _reading_controls(opened)
    return position, conversation


def _about(conversation: Conversation, alone: bool) -> None:
    if alone:
        st.text(conversation.id)
    speakers = conversation.speakers
    st.text(", ".join(speakers[:6]) + (" …" if len(speakers) > 6 else ""))
    dates = [session.start for session in conversation.sessions if session.start]
    days = list(dict.fromkeys(f"{day:%d %b %Y}" for day in sorted({d.date() for d in dates})))
    when = f", {' – '.join(days[:1] + days[1:][-1:])}" if days else ""
    st.caption(
        f"{counted(len(conversation.sessions), 'session')}, "
        f"{counted(len(conversation.turns), 'turn')}, "
        f"{counted(len(conversation.questions), 'question')}{when}"
    )


def _load_report(corpus: Corpus, position: int) -> None:
    report = corpus.report_of(position)
    title = (
        f"Load report of the file: {report.kept} kept, {len(report.repaired)} repaired, "
        f"{len(report.skipped)} skipped"
    )
    with st.expander(title):
        if not report.findings:
            st.caption("Every record was read as it stands.")
            return
        st.dataframe(
            [{"what": f.kind, "where": f.where, "detail": f.what} for f in report.findings],
            hide_index=True,
            height=min(38 + 35 * len(report.findings), 320),
        )
