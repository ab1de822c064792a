"""Sidebar panel: has texts written elsewhere, by prompts to download and replies to upload.

Usable replies are kept in the session by conversation and unit rule. So a memory that is built anew
gets them again, wherever its nodes have the same turns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from segviz.export import file_name
from segviz.llm import Endpoint, ModelError
from segviz.memory import Memory, MissingEmbedder
from segviz.memory.written import (
    NOTHING_TO_WRITE,
    batch_file,
    can_be_written,
    left,
    read_replies,
    with_replies,
)
from segviz.tree import Span
from segviz.ui import keys
from segviz.ui.state import MEMORIES_KEPT, fingerprint, remember
from segviz.ui.widgets.captions import counted, trouble

_NAMED = 5  # refused replies that are named
_ABOUT = (
    "Any model can write titles and summaries, in a batch or in a chat window. The prompts are an "
    "OpenAI batch file. A reply is a line of the batch's output, or "
    '`{"custom_id": …, "title": …, "text": …}`. Each level quotes the texts of the one below.'
)


@dataclass
class _Kept:
    """Texts of the replies for one conversation and unit rule, by author.

    ``message`` is about the replies uploaded last, ``refused`` names those that were not used.
    """

    texts: dict[str, dict[Span, tuple[str, str]]] = field(default_factory=dict)
    message: str = ""
    refused: dict[str, str] = field(default_factory=dict)


def _kept(source: str, memory: Memory) -> _Kept:
    everything: dict[tuple[str, str], _Kept] = st.session_state.setdefault(keys.TEXT_REPLIES, {})
    return everything.setdefault((source, memory.unit), _Kept())


def written_elsewhere(place: Any, source: str, key: str, memory: Memory) -> tuple[str, Memory]:
    """Puts the replies so far on a memory, and draws prompts and upload in the panel Models.

    Args:
        place: the container to draw in.
        source: identifies the conversation.
        key: identifies the memory.
        memory: the memory as it was built or opened.

    Returns:
        The key and the memory with the texts of the replies.
    """
    if isinstance(memory.embedder, MissingEmbedder):  # new texts could not be compared
        return key, memory
    kept = _kept(source, memory)
    if kept.texts:
        listed = [
            [by, *span, *pair] for by, texts in kept.texts.items() for span, pair in texts.items()
        ]
        with_texts = fingerprint(key, listed)
        try:
            memory = remember(
                keys.MEMORIES, with_texts, MEMORIES_KEPT, partial(_with, memory, kept)
            )
            key = with_texts
        except ModelError as error:  # of a server that embeds the texts
            trouble("The texts written elsewhere cannot be embedded.", error)
    if st.session_state.get(keys.MODELS_PANEL):  # counting takes a while, so only if it is open
        with (
            place,
            st.popover(
                "Write the texts elsewhere", icon=":material/edit_document:", width="stretch"
            ),
        ):
            _exchange(kept, source, memory)
    return key, memory


def _with(memory: Memory, kept: _Kept) -> Memory:
    for by, texts in kept.texts.items():
        memory = memory.with_texts(texts, by=by, partly=True)
    return memory


def _exchange(kept: _Kept, source: str, memory: Memory) -> None:
    """Draws the download of prompts, the upload of replies, and what became of them."""
    st.caption(_ABOUT)
    remaining = left(memory)
    if remaining:
        level = min(remaining)
        number, total = remaining[level], sum(remaining.values())
        here = f"{number} of them " if number < total else ""
        st.markdown(f"**{counted(total, 'text')} left**, {here}on level {level}")
        model = st.text_input("Model named in the prompts", "MODEL", key="text-model")
        st.download_button(
            f"Prompts of level {level}",
            lambda: batch_file(memory.prompts(), model, Endpoint.max_tokens),
            file_name=file_name(memory.conversation.id, f"level-{level}", "jsonl"),
            mime="application/jsonl",
            key="text-prompts",
            icon=":material/download:",
            on_click="ignore",
        )
    elif can_be_written(memory):
        st.markdown("**Every text is written**")
    else:
        st.markdown(NOTHING_TO_WRITE)
        return
    upload = f"{keys.TEXT_UPLOAD}-{source}"
    st.file_uploader(
        "Replies",
        ["jsonl", "json", "txt"],
        key=upload,
        on_change=_take,
        args=(kept, memory, upload),
    )
    # Replies are foreign text, so they are shown as they are.
    if kept.message:
        st.text(kept.message)
    for name, reason in [*kept.refused.items()][:_NAMED]:
        st.text(f"{name}: {reason}")
    if len(kept.refused) > _NAMED:
        st.caption(f"and {len(kept.refused) - _NAMED} more")
    if kept.texts:
        st.caption("Reloading the page loses these texts. *Export* saves the memory with them.")
        st.button("Remove these texts", key="text-remove", on_click=_remove, args=(kept,))


def _take(kept: _Kept, memory: Memory, upload: str) -> None:
    """Adds the usable texts of an uploaded file to those of the conversation."""
    file = st.session_state[upload]
    if file is None:
        return
    try:
        _, result = with_replies(memory, read_replies(file.getvalue().decode("utf-8", "replace")))
    except (ValueError, ModelError) as error:
        kept.message, kept.refused = f"{error}.", {}
        return
    put = 0
    for by, texts in result.texts.items():
        put += len(texts)
        for former in kept.texts.values():
            for span in texts:
                former.pop(span, None)
        kept.texts.setdefault(by, {}).update(texts)
    kept.message = f"{counted(put, 'text')} put, {len(result.refused)} refused"
    kept.refused = result.refused


def _remove(kept: _Kept) -> None:
    kept.texts, kept.message, kept.refused = {}, "", {}
