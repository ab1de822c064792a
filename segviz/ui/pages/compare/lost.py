"""Wrong questions first: where each lost its evidence, in any memory or file of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import streamlit as st

from segviz import store
from segviz.evaluation import native_settings
from segviz.evaluation.audit import LostQuestion
from segviz.export import file_name
from segviz.export.audit import TRACK_STYLE, audit_html, lost_sentence, question_html
from segviz.loaders import LoadError
from segviz.loaders.runs import read_run
from segviz.loaders.stored import read_stored
from segviz.memory import from_saved, memory_from, run_memory
from segviz.ui.pages.compare import Comparing
from segviz.ui.pages.compare.stages import Followed
from segviz.ui.state import fingerprint
from segviz.ui.visit import saved_memory, upload_budget, upload_mb
from segviz.ui.widgets import lists
from segviz.ui.widgets.captions import short, trouble, unmarked
from segviz.ui.widgets.charts import meaning
from segviz.ui.widgets.waiting import computed

_KEPT = 2
_TALL = 300  # pixels of the list of questions
_HELP = (
    "The dump of a memory (mem0, Letta, Zep, chroma, any JSON or CSV of texts), a memory saved by "
    "segviz, or a run: records of question_id or question with retrieved (ids or texts), answer, "
    "right; LongMemEval's hypotheses and LoCoMo's predictions are runs."
)


def upload(compared: Comparing) -> Followed | None:
    """Draws the upload of a dump, a saved memory or a run; returns what it holds, if anything."""
    with st.expander("Your own memory or results of this conversation"):
        file = st.file_uploader(
            "A dump, a saved memory or a run",
            key="audited-file",
            help=_HELP,
            max_upload_size=upload_mb(),
        )
    if file is None:
        return None
    data, session = file.getvalue(), compared.session
    key = fingerprint(session.key, data)

    def opened() -> Followed | ValueError:
        """Reads the file; returns the error of one that cannot be used."""
        try:
            return _read(compared, data, file.name)
        except ValueError as error:  # LoadError and StoreError too
            return error

    read = computed("audited-files", key, _KEPT, "Read the file", opened)
    if isinstance(read, ValueError):
        trouble("This file is not used.", read.with_traceback(None), st.warning)
        return None
    if read is None:
        return None
    asked = native_settings(read.memory, compared.settings) or compared.settings
    return replace(read, key=fingerprint(key, repr(asked)), settings=asked)


def _read(compared: Comparing, data: bytes, name: str) -> Followed:
    """Reads a saved memory, a run or a dump, in this order; it has no key yet.

    Raises:
        ValueError: It is none of them, or not of this conversation.
    """
    session, settings = compared.session, compared.settings
    conversation, embedder = session.conversation, session.memory.embedder
    label = f"File {Path(name).name.partition('.')[0]}"
    if store.recognises(data):
        memory = from_saved(saved_memory(data))
        if memory.conversation.turns != conversation.turns:
            raise ValueError(
                f"it is a memory of {memory.conversation.id!r:.60}; expected one of the open "
                f"conversation, {conversation.id!r:.60}"
            )
        asked = replace(memory.conversation, questions=conversation.questions)
        return Followed(label, "", replace(memory, conversation=asked), settings)
    try:
        run = read_run(data, name, upload_budget())
    except LoadError:
        texts = read_stored(data, name, upload_budget())
        memory = memory_from(texts, conversation=conversation, name=label, embedder=embedder)
        return Followed(label, "", memory, settings)
    answers = run.of(conversation, [conversation.id])
    if not answers:
        raise ValueError("it has no record of a question of this conversation")
    memory = run_memory(conversation, answers, name=label, embedder=embedder)
    return Followed(label, "", memory, settings, answers)


def lost_panel(shown: Mapping[str, Followed], opened: Followed | None) -> None:
    """Draws the questions that a memory lost, and for one of them where its evidence went."""
    with st.expander(
        "Wrong questions first", opened is not None, key="lost", on_change="rerun"
    ) as panel:
        if not panel.open:
            return
        labels = [*shown][:: -1 if opened else 1]  # the opened one first
        label = st.selectbox("Memory", labels, key=f"lost-memory-{len(labels)}")
        audit = shown[label].audit()
        if audit is None:
            return
        st.caption(unmarked(lost_sentence(audit)))
        for each in audit.advice:
            st.markdown(f"- {unmarked(each.text)}")
        if not audit.lost:
            return
        by_number = {each.question.index: each for each in audit.lost}
        lost = by_number.get(st.session_state.get("lost-question", -1), audit.lost[0])

        def pick(number: int) -> None:
            st.session_state["lost-question"] = number

        groups = groupby(audit.lost, lambda each: (each.right is True, each.stage))
        lists.node_list(
            [
                (f"{stage}, answered right" if right else stage, [*map(_row, questions)])
                for (right, stage), questions in groups
            ],
            key="lost-list",
            height=_TALL,
            label=f"Questions missed by {label}",
            about=label,
            on_pick=pick,
        )
        st.markdown(f"**{unmarked(lost.question.text)}**")
        colours = f"--gold:{meaning('gold')};--mark:{meaning('control')}"
        st.html(
            f"<style>{TRACK_STYLE}.missed :is(td,th){{font-size:.875rem}}</style>"
            f'<div class="segviz-table missed" style="{colours}">{question_html(audit, lost)}</div>'
        )
        st.download_button(
            "This audit as a page",
            lambda: audit_html(audit),
            file_name=file_name(audit.memory.conversation.id, "audit", "html"),
            mime="text/html",
            key="lost-page",
            on_click="ignore",
        )


def _row(lost: LostQuestion) -> dict[str, Any]:
    """Returns the row of a question in the list."""
    turns = f"{lost.lost} of {len(lost.places)} gold turns missed" if lost.places else ""
    grade = {True: "right", False: "wrong", None: ""}[lost.right]
    head = " · ".join(filter(None, [lost.question.category_label, turns]))
    return {
        "node": lost.question.index,
        "head": head,
        "text": short(lost.question.text),
        "note": grade,
    }
