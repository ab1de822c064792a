"""Chooses a conversation of the open file; shows its load report and how it is read."""

from __future__ import annotations

import streamlit as st

from segviz.conversation import Conversation, Corpus
from segviz.loaders import LOADERS, LoadError
from segviz.ui import keys
from segviz.ui.address import wanted_conversation
from segviz.ui.sidebar.open_file import DATE_ORDERS, GAP_HOURS, OpenFile, column_controls, preview
from segviz.ui.widgets.captions import counted, refusal, unmarked


def choose_conversation(opened: OpenFile) -> tuple[int, Conversation] | None:
    """Returns one of the file's conversations with its position; None where it cannot be read."""
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
            st.session_state[keys.CONVERSATION] = places[0]
        position = st.selectbox(
            "Conversation in the file",
            range(len(entries)),
            format_func=label,
            key=keys.CONVERSATION,
            persist_state="session",
        )
    try:
        conversation = opened.corpus[position]
    except LoadError as error:
        refusal(error, "Choose another conversation of the file.")
        return None
    _about(conversation, alone=len(entries) == 1)
    _load_report(opened.corpus, position)
    _reading_controls(opened)
    return position, conversation


def _about(conversation: Conversation, alone: bool) -> None:
    speakers = conversation.speakers
    names = ", ".join(speakers[:6]) + (" …" if len(speakers) > 6 else "")
    st.text(f"{conversation.id}\n{names}" if alone else names)
    dates = [session.start for session in conversation.sessions if session.start]
    ends = (min(dates), max(dates)) if dates else ()
    days = " – ".join(dict.fromkeys(f"{day:%d %b %Y}" for day in ends))
    when = f", {days}" if days else ""
    st.caption(
        f"{counted(len(conversation.sessions), 'session')}, "
        f"{counted(len(conversation.turns), 'turn')}, "
        f"{counted(len(conversation.questions), 'question')}{when}"
    )


def _load_report(corpus: Corpus, position: int) -> None:
    report = corpus.report_of(position)
    repaired, skipped = report.count("repaired"), report.count("skipped")
    counts = {"kept": report.kept, "repaired": repaired, "skipped": skipped}
    told = [f"{count:,} {what}" for what, count in counts.items() if count or what == "kept"]
    with st.expander(f"Load report of the file: {', '.join(told)}"):
        if not report.findings:
            st.caption("Every record was read as it stands.")
            return
        st.dataframe(
            [{"what": f.kind, "where": f.where, "detail": f.what} for f in report.findings],
            hide_index=True,
            height=min(38 + 35 * len(report.findings), 320),
        )
        if len(report.findings) < repaired + skipped:
            st.caption(f"The first {len(report.findings):,} of {repaired + skipped:,}")


def _reading_controls(opened: OpenFile) -> None:
    """Draws controls for what this format leaves open."""
    label = opened.corpus.report.source_format
    asks = next((loader.asks for loader in LOADERS.values() if loader.label == label), ())
    report = opened.corpus.report
    if report.headers:
        taken = ", ".join(f"{meaning} = {name}" for meaning, name in report.columns.items())
        with st.expander(f"Columns: {unmarked(taken)}"):
            column_controls(opened.file, report.headers, report.columns)
            preview(opened.corpus)
    if "day_first" in asks:
        st.selectbox("Order of dates", list(DATE_ORDERS), key=keys.date_order(opened.file))
    if "gap_hours" in asks:
        st.number_input(
            "A new session after a silence of hours",
            0.5,
            720.0,
            GAP_HOURS,
            0.5,
            key=keys.session_gap(opened.file),
        )
