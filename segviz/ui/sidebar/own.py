"""Opens files beside the conversation: labels of turns or nodes, and vectors of turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from segviz.conversation import Conversation
from segviz.embedding import Cached
from segviz.loaders import table_rows
from segviz.memory import given_vectors, label_columns, read_labels
from segviz.ui import keys
from segviz.ui.state import Session, fingerprint, remember
from segviz.ui.view_state import read_slices, write_look, write_slices
from segviz.ui.widgets.captions import counted, trouble
from segviz.view.look import Look

_KINDS = ["csv", "tsv", "json", "jsonl", "parquet"]


def _rows(
    what: str, source: str, about: str, draws: bool
) -> tuple[str, Sequence[Mapping[str, Any]]] | None:
    """The rows of an uploaded table with their content key; None where there is none. ValueError
    for what is no table. Where nothing was uploaded it asks only if it ``draws``."""
    place = f"own-{what}-{source}"
    if not draws and not st.session_state.get(place):
        return None
    file = st.file_uploader(what, _KINDS, key=place, help=about)
    if file is None:
        return None
    data = file.getvalue()
    key = fingerprint(data)
    return key, remember(keys.OWN, key, 2, lambda: table_rows(data, file.name))


def own_vectors(
    conversation: Conversation, unit: str, source: str, inner: Any, draws: bool
) -> Cached | None:
    """Asks for vectors that were computed elsewhere; the embedder made of them."""
    about = (
        "A table with columns turn (an id of the transcript) and vector. Rows with a text in place "
        "of an id give a question's. Other texts are placed by regression from the offline vectors."
    )
    try:
        found = _rows("Vectors by turn", source, about, draws)
        if found is None:
            return None
        key, rows = found
        under = fingerprint(key, source, unit)
        made: Cached = remember(
            keys.OWN,
            under,
            4,
            lambda: Cached(given_vectors(conversation, rows, unit, embedder=inner)),
        )
        return made
    except ValueError as error:
        trouble("These vectors are not used.", error, st.warning)
        return None


def own_labels(session: Session, draws: bool) -> None:
    """Asks for labels of turns or nodes, by which nodes are coloured and questions sliced."""
    about = (
        "A table with a column turn, or node, that holds ids as they are shown here, and columns "
        "of labels. A node has the label of most turns below it."
    )
    try:
        found = _rows("Labels by turn or node", session.source, about, draws)
        if found is None:
            st.session_state.pop(keys.OWN_LABELS, None)
            return
        key, rows = found
        columns = label_columns(rows)
        if not columns:
            raise ValueError("the table has no column of labels beside its ids")
        column = st.selectbox("Column", columns, key=keys.own_column(key))
        under = fingerprint(key, session.key, column)
        labels = remember(keys.OWN, under, 4, lambda: read_labels(rows, session.memory, column))
    except ValueError as error:
        st.session_state.pop(keys.OWN_LABELS, None)
        trouble("These labels are not used.", error, st.warning)
        return
    before = st.session_state.get(keys.OWN_LABELS)
    st.session_state[keys.OWN_LABELS] = session.source, labels
    if before is None:
        write_look(Look("own"))
    lost = f"; {counted(labels.unknown, 'id')} of nothing here" if labels.unknown else ""
    st.caption(
        f"{counted(len(labels.turns), 'turn')} and {counted(len(labels.nodes), 'node')} with a "
        f"label{lost}. Choose the colour *own label* above the tree; press a label to see it alone."
    )
    slices = labels.slices(session.conversation)
    if slices:
        st.button(
            "Slice the questions by label",
            key="own-slices",
            on_click=write_slices,
            args=(session, read_slices(session)[0] | slices, next(iter(slices))),
            help="Sweep and Compare then measure those whose evidence has a label.",
        )
