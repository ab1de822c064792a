"""Explains why one system wins a question that another loses.

It compares the best-ranked node with the deciding gold turn, and the words behind its rank.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from segviz.conversation import Question
from segviz.evaluation.why import Holder, ahead, deciding_turn, rank_of, ranks_without_words
from segviz.memory import Memory
from segviz.retrieval import Result, RetrievalSettings
from segviz.retrieval.gold import GoldEvidence
from segviz.ui.state import AppSession, fingerprint
from segviz.ui.widgets.captions import counted, level_label, short, unmarked
from segviz.ui.widgets.lists import node_list
from segviz.ui.widgets.waiting import computed, labels

_KEPT = 4

# Nodes listed ahead of the deciding one, and words of the question.
_AHEAD, _WORDS = 3, 3
_TALL = 330


@dataclass(frozen=True, slots=True)
class Asked:
    """Memory under a ``name``, with its retrieval settings."""

    name: str
    memory: Memory
    settings: RetrievalSettings


@dataclass(frozen=True, slots=True)
class _Side:
    asked: Asked
    result: Result
    gold: GoldEvidence
    holder: Holder
    without: Mapping[str, int]


def why_panel(session: AppSession, question: Question, pair: Sequence[Asked], key: str) -> None:
    """Explains side by side how the two systems of ``pair`` rank a question's deciding gold turn.

    ``key`` identifies the memories.
    """
    st.markdown(f"**Why**: {unmarked(question.text)}")
    if not question.evidence:
        st.caption("The question has no gold turns, so there is no deciding node.")
        return
    # Asking again without each word takes long, so it is a job that can be stopped.
    named = fingerprint(key, [(one.name, str(one.settings)) for one in pair], question.index)
    asked = partial(_explained, question, pair)
    explained = computed("why", named, _KEPT, "Ask again without each word of the question", asked)
    if explained is None:
        return
    if not explained:
        st.caption("No gold turn of the question is in the conversation.")
        return
    turn, sides = explained
    gold = next(one for one in session.conversation.turns if one.id == turn)
    st.caption(f"The gold turn that differs most is {unmarked(f'{turn}, {gold.speaker}')}:")
    st.text(short(gold.content))
    with st.container(key="beside-why"):
        columns = st.columns(2, gap="medium")
    for column, side in zip(columns, sides, strict=True):
        with column:
            _draw(side, turn, question)


def _explained(question: Question, pair: Sequence[Asked]) -> tuple[str, list[_Side]] | tuple[()]:
    """Returns the turn whose rank differs most, and both sides; () if no node holds it."""
    results = [one.memory.ask(question, one.settings) for one in pair]
    golds = [
        one.memory.gold(question, result.structure)
        for one, result in zip(pair, results, strict=True)
    ]
    deciding = deciding_turn(results, golds)
    if deciding is None or all(holder.node is None for holder in deciding[1]):
        return ()
    turn, holders = deciding
    sides = []
    for asked, result, gold, holder in zip(pair, results, golds, holders, strict=True):
        without: Mapping[str, int] = {}
        if holder.node is not None:
            ask = partial(asked.memory.ask, settings=result.settings)
            without = ranks_without_words(ask, question.text, holder.node)
        sides.append(_Side(asked, result, gold, holder, without))
    return turn, sides


def _draw(side: _Side, turn: str, question: Question) -> None:
    """Draws one side: the node that holds the turn, and the wide nodes ahead of it."""
    result, holder, name = side.result, side.holder, side.asked.name
    wide: list[int] = []
    if holder.node is not None:
        wide = ahead(result, holder.node)[0][:_AHEAD]
    st.markdown(f"**{unmarked(name)}**")
    st.caption(f"{_rank(side)} {_words(side)}")
    # Words of the question that each listed node matches, to mark them and to choose the excerpt.
    matches = result.matches([*wide, *([] if holder.node is None else [holder.node])])
    titles = labels(side.asked.memory, result.structure)

    def row(node: int) -> dict[str, Any]:
        turns = side.asked.memory.turn_ids(node, result.structure)
        level = level_label(side.asked.memory, int(result.structure.level[node]))
        title = titles[node] if result.structure.level[node] else ""  # a leaf has its own words
        rank = str(rank_of(result, node) or "not returned")
        head = [rank, *[title] * bool(title), level, counted(len(turns), "turn")]
        gold = ["gold"] * (node in side.gold.by_node)
        words = matches.get(node, {})
        text = _excerpt(result.structure.text[node], words)
        return {"head": " · ".join(head + gold), "text": text, "matches": words}

    node_list(
        [
            (f"Holds {turn}", [] if holder.node is None else [row(holder.node)]),
            ("Ahead of it, the widest first", list(map(row, wide))),
        ],
        key=f"why-{name}",
        height=_TALL,
        label=f"Deciding nodes of {name}",
        about=f"{turn} {question.text}",
        on_pick=lambda _: None,
    )


def _rank(side: _Side) -> str:
    """Returns the rank of the node that holds the turn, as a sentence."""
    result, holder = side.result, side.holder
    if holder.node is None:
        return "No node contains or quotes it."
    if not holder.rank:
        return "The system's own retrieval does not return it."
    among = "among" if holder.node in result.after else "not among"
    units = counted(int(holder.units), "unit")
    return f"Rank {holder.rank}, after {units}, {among} the {len(result.after)} retrieved nodes."


def _words(side: _Side) -> str:
    """Returns a sentence with the node's ranks if the question lacked each of its telling words."""
    if side.holder.node is None:
        return ""
    ranked = list(side.without.items())[:_WORDS]
    changed = [
        f"{f'rank {rank}' if rank else 'not returned'} without **{unmarked(word)}**"
        for word, rank in ranked
    ]
    if not changed:
        return "No single word of the question changes its rank."
    return f"Were a word missing from the question: {', '.join(changed)}."


def _excerpt(text: str, words: Mapping[str, float]) -> str:
    """Returns the line of a text with the highest sum of matched words."""
    lines = [line for line in text.splitlines() if line.strip()] or [text]

    def matched(line: str) -> float:
        return sum(words.get(word, 0.0) for word in set(re.findall(r"\w+", line.lower())))

    return short(max(lines, key=matched))
