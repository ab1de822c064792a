"""The sidebar: which conversation, how it is cut, which system with which parameters."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from segviz import loaders
from segviz.assemble import COMPONENTS
from segviz.conversation import Conversation, Corpus, with_typed_turns
from segviz.loaders import LoadError
from segviz.samples import TITLES, sample_path
from segviz.systems import SYSTEMS
from segviz.ui.address import wanted_conversation
from segviz.ui.building import Order, obtain
from segviz.ui.controls import component_controls
from segviz.ui.models import Models, models_panel
from segviz.ui.spending import show_spending
from segviz.ui.state import (
    CORPORA_KEPT,
    Session,
    fingerprint,
    remember,
    typed_turns,
)
from segviz.ui.words import counted
from segviz.units import UNIT_RULES

UNIT_HELP = {
    "exchange": "two speakers' consecutive runs, nothing lost",
    "turn": "one leaf per turn",
    "paper": "as in the SegTreeMem paper; drops turns",
}


def sidebar() -> Session | None:
    """Draw the sidebar; None when there is nothing to show yet (it has said why)."""
    with st.sidebar:
        corpus = _source()
        if corpus is None:
            return None
        key, loaded = corpus
        original = _conversation(loaded)
        _load_report(loaded)
        source = fingerprint(key, original.id)
        typed = typed_turns(source)
        conversation = with_typed_turns(original, typed)
        unit = _unit(conversation)
        system, settings = _system()
        models = models_panel()
        _embedding_note(models)
    order = Order(conversation, unit, system, settings, models)
    built = obtain(order, fingerprint(source, typed), fingerprint(source, []), bool(typed))
    show_spending()
    if built is None:
        return None
    return Session(built[0], source, loaded, conversation, built[1], models.chat)


def _source() -> tuple[str, Corpus] | None:
    """The open file. A file that cannot be read leaves the previous one open."""
    st.subheader("Conversation")
    options = ["Sample", "Upload", "Path"]
    start = "Path" if os.environ.get("SEGVIZ_FILE") else "Sample"
    source = st.segmented_control(
        "Source",
        options,
        default=start,
        required=True,
        key="source",
        label_visibility="collapsed",
        persist_state="session",
    )
    try:
        opened = {"Sample": _sample, "Upload": _upload, "Path": _path}[source or "Sample"]()
    except LoadError as error:
        opened = None
        _refusal(error)
    if opened is not None:
        st.session_state["last"] = opened
        return opened
    previous: tuple[str, Corpus] | None = st.session_state.get("last")
    if previous is None:
        # Upload or Path was chosen before anything was open: start from the sample.
        previous = _open_file(str(sample_path(next(iter(TITLES)))))
        st.session_state["last"] = previous
    return previous


def _refusal(error: LoadError) -> None:
    """Say why a file was not opened. The text may quote the file, so it is shown literally."""
    with st.container(border=True, key="refusal"):
        st.markdown(":material/error: **Not opened.** The previous conversation is still here.")
        st.text(str(error))


def _sample() -> tuple[str, Corpus]:
    name = st.selectbox(
        "Sample",
        list(TITLES),
        format_func=lambda n: TITLES[n],
        key="sample",
        label_visibility="collapsed",
        persist_state="session",
    )
    return _open_file(str(sample_path(name)))


def _upload() -> tuple[str, Corpus] | None:
    file = st.file_uploader("Upload", key="upload", label_visibility="collapsed")
    if file is None:
        names = ", ".join(loader.label for loader in loaders.LOADERS.values())
        st.caption(f"JSON in one of these formats: {names}.")
        return None
    return _opened(file.getvalue(), lambda data: loaders.parse(data, file.name))


def _path() -> tuple[str, Corpus] | None:
    path = st.text_input(
        "Path of a file on the machine that runs segviz",
        value=os.environ.get("SEGVIZ_FILE", ""),
        key="path",
        placeholder="~/data/locomo10.json",
        persist_state="session",
    )
    return _open_file(path) if path.strip() else None


def _open_file(path: str) -> tuple[str, Corpus]:
    try:
        facts = Path(path).expanduser().stat()
        version = fingerprint(path, facts.st_mtime_ns, facts.st_size)
    except (OSError, ValueError, RuntimeError):
        version = fingerprint(path)  # loading says what is wrong with it
    return version, remember("corpora", version, CORPORA_KEPT, lambda: loaders.load(path))


def _opened(data: bytes, parse: Callable[[bytes], Corpus]) -> tuple[str, Corpus]:
    key = fingerprint(data)
    return key, remember("corpora", key, CORPORA_KEPT, lambda: parse(data))


def _conversation(corpus: Corpus) -> Conversation:
    def label(position: int) -> str:
        found = corpus[position]
        sessions, turns = counted(len(found.sessions), "session"), counted(len(found.turns), "turn")
        return f"{found.id} · {sessions} · {turns}"

    if len(corpus) == 1:
        position = 0
    else:
        wanted = wanted_conversation()
        places = [i for i in range(len(corpus)) if corpus[i].id == wanted]
        if places:
            st.session_state["conversation"] = places[0]
        position = st.selectbox(
            "Conversation in the file",
            range(len(corpus)),
            format_func=label,
            key="conversation",
            persist_state="session",
        )
    found = corpus[position]
    if len(corpus) == 1:
        st.text(found.id)
    st.text(", ".join(found.speakers[:6]) + (" …" if len(found.speakers) > 6 else ""))
    dates = [session.start for session in found.sessions if session.start]
    days = list(dict.fromkeys(f"{day:%d %b %Y}" for day in sorted({d.date() for d in dates})))
    when = f", {' – '.join(days[:1] + days[1:][-1:])}" if days else ""
    st.caption(
        f"{counted(len(found.sessions), 'session')}, {counted(len(found.turns), 'turn')}, "
        f"{counted(len(found.questions), 'question')}{when}"
    )
    return found


def _load_report(corpus: Corpus) -> None:
    report = corpus.report
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


def _unit(conversation: Conversation) -> str:
    st.subheader("Leaves")
    rule: str = st.selectbox(
        "One leaf per",
        list(UNIT_RULES),
        format_func=lambda name: f"{name}: {UNIT_HELP.get(name, '')}",
        key="unit",
        label_visibility="collapsed",
        persist_state="session",
    )
    dropped = len(conversation.dropped(rule))
    count = len(conversation.units(rule))
    if dropped:
        touched = set(conversation.dropped(rule))
        lost = sum(
            bool(q.evidence) and touched.issuperset(q.evidence) for q in conversation.questions
        )
        st.warning(
            f"{count} leaves; {dropped} of {len(conversation.turns)} turns are in none of them, "
            f"and {lost} questions lose all their evidence."
        )
    else:
        st.caption(f"{counted(count, 'leaf', 'leaves')}, no turn left out")
    return rule


def _system() -> tuple[str, dict[str, Any]]:
    st.subheader("Memory")
    name: str = st.selectbox(
        "System",
        list(SYSTEMS),
        format_func=lambda key: SYSTEMS[key].label,
        key="system",
        label_visibility="collapsed",
        persist_state="session",
    )
    settings = component_controls(SYSTEMS[name], COMPONENTS, prefix=name)
    return name, settings


def _embedding_note(models: Models) -> None:
    if models.embedder.name.startswith("hashing"):
        st.warning(
            "The offline language model is not installed for this platform; similarity is "
            "by spelling only (hashing embedder)."
        )
    else:
        st.caption("Similarity by")
        st.text(models.embedder.name)
