"""Page Compare: several systems on the same units, embeddings, K and budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import streamlit as st

from segviz.evaluate.compare import COLLAPSED, OWN, Comparison, compare, overlap
from segviz.figures.compare import overlap_sentence, overlap_strip
from segviz.frontend.palette import ACCENT
from segviz.frontend.payload import tree_payload
from segviz.pipeline import Memory, build
from segviz.protocols import Recalls
from segviz.published import METRICS, SHAPES, SOURCES, reported
from segviz.relevance import RELEVANCE
from segviz.result import Result
from segviz.shape import Shape, shape
from segviz.systems import SYSTEMS
from segviz.ui.canvas import clicked, tree_canvas
from segviz.ui.places import level_label
from segviz.ui.state import Session, fingerprint, known, remember, typed_turns
from segviz.unfold import Unfolded, follows_time, unfold

DEFAULT = ("segment-tree", "clustering", "memtree")
COMPARED_KEPT = 12
RESULTS_KEPT = 4
PER_ROW = 3


@dataclass(frozen=True, eq=False)
class Built:
    """A memory of the comparison, how it is drawn, and the seconds its build took."""

    memory: Memory
    drawn: Unfolded | None
    seconds: float


def render(session: Session) -> None:
    """Draw the page."""
    chosen, settings = _choices(session)
    built = {name: _kept(session, name) for name in chosen}
    missing = [name for name, found in built.items() if found is None]
    if missing:
        _offer(session, missing)
    ready = {name: found for name, found in built.items() if found is not None}
    if not ready:
        return
    st.subheader("Structures", divider="gray")
    _structures(session, ready)
    st.subheader("Shape", divider="gray")
    _shapes(session, ready)
    if session.conversation.questions:
        st.subheader("One question", divider="gray")
        _one_question(session, ready, settings)
        st.subheader("All questions", divider="gray")
        _all_questions(session, ready, settings)
    else:
        st.info("This conversation has no questions to compare by.")
    _published()


def _choices(session: Session) -> tuple[list[str], dict[str, Any]]:
    first, second, third, fourth = st.columns([8, 3, 3, 3], gap="medium")
    default = list(dict.fromkeys([session.memory.system, *DEFAULT]))[:PER_ROW]
    chosen = first.multiselect(
        "Systems",
        list(SYSTEMS),
        default=default,
        format_func=lambda name: SYSTEMS[name].label,
        key="compared-systems",
        persist_state="session",
        help="All with their defaults, over the same leaves and embeddings; the one in the "
        "sidebar with its parameters there.",
    )
    relevance = second.selectbox(
        "Relevance", list(RELEVANCE), key="compare-relevance", persist_state="session"
    )
    k = third.slider("Retrieved K", 1, 30, 10, key="compare-k", persist_state="session")
    budget = fourth.slider(
        "Unit budget",
        5,
        60,
        20,
        key="compare-budget",
        persist_state="session",
        help="Nodes are read in the order of their rank until they cover so many units: a "
        "wide node uses it up at once.",
    )
    st.caption(
        f"Same for all: {len(session.memory.units)} leaves by the rule "
        f"'{session.memory.unit}', the embedder of the sidebar, relevance {relevance}, K {k}, "
        f"{budget} units."
    )
    return chosen, {"relevance": relevance, "k": k, "units": budget}


def _key(session: Session, name: str) -> str:
    memory = session.memory
    typed = typed_turns(session.source)
    if name == memory.system:
        return session.key
    return fingerprint(session.source, typed, memory.unit, name, memory.embedder.name)


def _kept(session: Session, name: str) -> Built | None:
    key = _key(session, name)
    if known("compared", key):
        return remember("compared", key, COMPARED_KEPT, _impossible)
    if name == session.memory.system:
        seconds = sum(step.cost.seconds for step in session.memory.steps)
        return remember("compared", key, COMPARED_KEPT, lambda: _prepared(session.memory, seconds))
    return None


def _keep(session: Session, name: str, built: Built) -> None:
    remember("compared", _key(session, name), COMPARED_KEPT, lambda: built)


def _impossible() -> Built:
    raise RuntimeError("a memory that was just there is gone")


def _prepared(memory: Memory, seconds: float) -> Built:
    structure = memory.structure
    return Built(memory, None if follows_time(structure) else unfold(structure), seconds)


def _offer(session: Session, missing: list[str]) -> None:
    labels = ", ".join(SYSTEMS[name].label for name in missing)
    if not st.button(f"Build {labels}", key="build-compared", icon=":material/play_arrow:"):
        st.caption("Built offline, in seconds for a conversation of a few hundred turns.")
        return
    bar = st.progress(0.0, "Building")
    for number, name in enumerate(missing):
        label = SYSTEMS[name].label

        def progress(done: int, total: int, number: int = number, label: str = label) -> None:
            if done % 20 == 0 or done == total:
                share = (number + done / total) / len(missing)
                bar.progress(share, f"Building {label}: {done} of {total} leaves")

        began = perf_counter()
        memory = build(
            session.conversation,
            name,
            session.memory.unit,
            embedder=session.memory.embedder,
            progress=progress,
        )
        seconds = perf_counter() - began
        _keep(session, name, _prepared(memory, seconds))
    st.rerun()


def _structures(session: Session, ready: Mapping[str, Built]) -> None:
    st.caption(
        "Every memory coloured by session, oldest violet to newest gold. A tree that follows "
        "time lies on the time axis; the others are drawn in the order of their own branches, "
        "so mixed colours in a node are sessions it mixes. Click a node: the other structures "
        "show the smallest node that holds the same turns."
    )
    names = list(ready)
    for row in range(0, len(names), PER_ROW):
        columns = st.columns(min(PER_ROW, len(names)), gap="medium")
        for column, name in zip(columns, names[row : row + PER_ROW], strict=False):
            with column:
                _structure(session, name, ready)


def _structure(session: Session, name: str, ready: Mapping[str, Built]) -> None:
    kind, found = SYSTEMS[name], ready[name]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{kind.label}**")
        with st.popover(kind.fidelity, type="tertiary"):
            st.markdown("\n".join(f"- {d}" for d in kind.departures) or "No departures.")
    structure = found.memory.structure
    st.caption(
        f"{int(structure.active.sum())} nodes, {len(structure.roots)} "
        f"{'root' if len(structure.roots) == 1 else 'roots'}, built in {found.seconds:.1f} s"
        + ("" if found.drawn is None else "; not in order of time")
    )
    _draw(session, name, ready, key=f"compare-{name}", mode="grow")


def _draw(
    session: Session, name: str, ready: Mapping[str, Built], *, key: str, mode: str, **marks: Any
) -> None:
    """One small canvas; a click selects the node's turns in all of them."""
    found = ready[name]
    drawn = found.drawn
    structure = found.memory.structure if drawn is None else drawn.structure
    units = found.memory.units
    order = range(len(units)) if drawn is None else drawn.unit.tolist()
    node = _holder(found.memory, _selected_turns(session))
    shown = node if drawn is None or node is None else next(iter(drawn.copies(node)), None)
    sessions = session.conversation.sessions
    payload = tree_payload(
        structure,
        unit_sessions=[units[index].session for index in order],
        session_labels=[f"S{i + 1}" for i in range(len(sessions))],
        session_dates=[s.start or s.raw_date for s in sessions],
        identity=_key(session, name),
        mode="grow" if mode == "grow" else "scores",
        selected=shown,
        frontier=(),
        gutter=False,
        legend=False,
        title=f"{session.conversation.id}, {SYSTEMS[name].label}",
        **marks,
    )

    def select() -> None:
        here = clicked(key, None)
        if here is None:
            st.session_state["compare-turns"] = (session.source, ())
            return
        original = here if drawn is None else int(drawn.node[here])
        st.session_state["compare-turns"] = (session.source, found.memory.turn_ids(original))

    tree_canvas(payload, key=key, height=300, on_select=select)


def _selected_turns(session: Session) -> tuple[str, ...]:
    source, turns = st.session_state.get("compare-turns", (None, ()))
    return turns if source == session.source else ()


def _holder(memory: Memory, turns: tuple[str, ...]) -> int | None:
    """The node with the fewest units among those that hold all these turns."""
    if not turns:
        return None
    unit_of = {turn: unit.index for unit in memory.units for turn in unit.turn_ids}
    wanted = {unit_of[turn] for turn in turns if turn in unit_of}
    structure = memory.structure
    active = np.flatnonzero(structure.active)
    wide = active[(structure.start[active] <= min(wanted)) & (structure.stop[active] > max(wanted))]
    best = None
    for node in wide[np.lexsort((wide, structure.level[wide]))].tolist():
        covered = structure.coverage(node)
        if wanted.issubset(covered) and (best is None or len(covered) < best[0]):
            best = (len(covered), node)
    return None if best is None else best[1]


def _shapes(session: Session, ready: Mapping[str, Built]) -> None:
    rows: list[dict[str, object]] = []
    for name, found in ready.items():
        rows.append(_shape_row(SYSTEMS[name].label, shape(found.memory.structure)))
    known_data = {row.data for row in SHAPES}
    data = session.conversation.source_format
    for row in (row for row in SHAPES if row.data == data or data not in known_data):
        rows.append(
            {
                "tree": f"{row.method}, {row.data} (published)",
                "leaves": row.leaves,
                "nodes": row.nodes,
                "nodes/leaf": row.nodes / row.leaves,
                "max depth": row.max_depth,
                "mean depth": row.mean_depth,
                "depth std": row.depth_std,
                "branching": row.branching,
            }
        )
    two = st.column_config.NumberColumn(format="%.2f")
    names = ("nodes/leaf", "max depth", "mean depth", "depth std", "branching")
    st.dataframe(rows, hide_index=True, column_config=dict.fromkeys(names, two))
    st.caption(
        "Single-child nodes are counted once. Published rows are SegTreeMem's Table 5: averages "
        "over whole data sets with other embeddings and models, for the shape only."
    )


def _shape_row(name: str, measured: Shape) -> dict[str, object]:
    return {
        "tree": name,
        "leaves": measured.leaves,
        "nodes": measured.nodes,
        "nodes/leaf": measured.nodes_per_leaf,
        "max depth": float(measured.max_depth),
        "mean depth": measured.mean_depth,
        "depth std": measured.depth_std,
        "branching": measured.branching,
    }


def _one_question(session: Session, ready: Mapping[str, Built], settings: dict[str, Any]) -> None:
    questions = session.conversation.questions
    index = st.selectbox(
        "Question",
        range(len(questions)),
        format_func=lambda i: f"{questions[i].category_label} · {questions[i].text}",
        key=f"question-{session.source}",
        label_visibility="collapsed",
        persist_state="session",
    )
    question = questions[index]
    results = {name: _asked(found.memory, question.text, settings) for name, found in ready.items()}
    labels = {name: SYSTEMS[name].label for name in ready}
    order = [turn.id for turn in session.conversation.turns]
    found = overlap(
        {
            labels[name]: {t for item in result.evidence for t in item.turn_ids if item.level == 0}
            | {t for item in result.evidence for t in item.turn_ids if len(item.turn_ids) <= 4}
            for name, result in results.items()
        },
        order,
    )
    dark = st.context.theme.type == "dark"
    sentence = overlap_sentence(found)
    st.plotly_chart(
        overlap_strip(
            found,
            question.evidence,
            accent=ACCENT["dark" if dark else "light"],
            neutral="#9a9690" if dark else "#77736d",
            empty="#2a2825" if dark else "#f0eeea",
        ),
        key="overlap",
        config={"displayModeBar": False},
        alt=sentence,
    )
    st.caption(
        f"{sentence} Turns of retrieved leaves and of retrieved nodes of up to four turns; "
        "wider nodes hold too much to count as an answer. Diamonds are gold."
    )
    names = list(ready)
    for row in range(0, len(names), PER_ROW):
        columns = st.columns(min(PER_ROW, len(names)), gap="medium")
        for column, name in zip(columns, names[row : row + PER_ROW], strict=False):
            with column:
                st.markdown(f"**{labels[name]}**, {_method_label(ready[name].memory)}")
                _evidence_table(ready[name].memory, results[name], set(question.evidence))


def _asked(memory: Memory, text: str, settings: dict[str, Any]) -> Result:
    """By the system's own retrieval where it has one, else collapsed."""
    own = isinstance(memory.model, Recalls)
    how = {"method": OWN} if own else {"policy": "none"}
    return memory.ask(text, k=settings["k"], relevance=settings["relevance"], **how)


def _method_label(memory: Memory) -> str:
    return "its own retrieval" if isinstance(memory.model, Recalls) else "collapsed retrieval"


def _evidence_table(memory: Memory, result: Result, gold: set[str]) -> None:
    rows = [
        {
            "gold": "" if not gold & set(item.turn_ids) else "yes",
            "level": level_label(memory, item.level),
            "turns": len(item.turn_ids),
            "text": item.text,
        }
        for item in result.evidence
    ]
    if not rows:
        st.caption("Nothing was returned.")
        return
    st.dataframe(
        rows,
        hide_index=True,
        height=min(38 + 35 * len(rows), 400),
        column_config={
            "gold": st.column_config.TextColumn(width=45),
            "level": st.column_config.TextColumn(width=75),
            "turns": st.column_config.NumberColumn(width=50),
        },
    )
    if result.stages:
        with st.expander(f"How it went, in {len(result.stages)} stages"):
            for stage in result.stages:
                st.markdown(f"**{stage.name}**")
                st.text(stage.note)


def _all_questions(session: Session, ready: Mapping[str, Built], settings: dict[str, Any]) -> None:
    key = fingerprint([_key(session, name) for name in ready], settings)
    if not known("comparisons", key):
        count = len(session.conversation.questions)
        if not st.button(
            f"Measure over all {count} questions", key="measure", icon=":material/play_arrow:"
        ):
            return
        with st.spinner("Measuring"):
            remember("comparisons", key, RESULTS_KEPT, lambda: _measured(session, ready, settings))
        st.rerun()
    found: Comparison = remember("comparisons", key, RESULTS_KEPT, _no_comparison)
    st.dataframe(
        [
            {
                "system": SYSTEMS[row.system].label,
                "retrieval": row.method,
                f"recall@{found.k}": str(row.recall),
                f"recall in {found.units} units": str(row.budget_recall),
                "answer words found": str(row.coverage),
                "words read": row.words.value,
                "tokens": row.tokens.value,
                "build s": row.build_seconds,
                "ms/question": None if row.query_seconds is None else 1000 * row.query_seconds,
            }
            for row in found.rows
        ],
        hide_index=True,
        column_config={
            "words read": st.column_config.NumberColumn(format="%.0f"),
            "tokens": st.column_config.NumberColumn(format="%.0f"),
            "build s": st.column_config.NumberColumn(format="%.2f"),
            "ms/question": st.column_config.NumberColumn(format="%.1f"),
        },
    )
    st.caption(
        f"Means over {found.questions} questions with 95 % bootstrap intervals. Recall counts "
        "gold leaves among the K best leaves; a system that returns fewer leaves is not "
        "refilled. Seconds are of this machine, with the embeddings of the leaves already "
        "made for all but the first."
    )


def _no_comparison() -> Comparison:
    raise RuntimeError("a comparison that was just there is gone")


def _measured(session: Session, ready: Mapping[str, Built], settings: dict[str, Any]) -> Comparison:
    memories = {name: found.memory for name, found in ready.items()}
    seconds: dict[tuple[str, str], float] = {}
    for name, memory in memories.items():
        methods = {COLLAPSED: {"policy": "none"}}
        if isinstance(memory.model, Recalls):
            methods[OWN] = {"method": OWN}
        sample = session.conversation.questions[:10]
        for method, how in methods.items():
            began = perf_counter()
            for question in sample:
                memory.ask(question.text, k=settings["k"], relevance=settings["relevance"], **how)
            seconds[name, method] = (perf_counter() - began) / len(sample)
    return compare(
        memories,
        session.conversation.questions,
        build_seconds={name: found.seconds for name, found in ready.items()},
        query_seconds=seconds,
        **settings,
    )


def _published() -> None:
    with st.expander("What the papers report", key="published", on_change="rerun") as panel:
        if not panel.open:
            return
        st.markdown(
            "Numbers as printed, for orientation. None of the answer scores compares with the "
            "recall above, and scores of different papers do not compare with each other: they "
            "count different questions, name LoCoMo's categories differently, and use other "
            "models. Each row says what to mind."
        )
        st.dataframe(
            [
                {
                    "system": SYSTEMS[row.system].label if row.system in SYSTEMS else row.system,
                    "variant": row.variant,
                    "data": row.data,
                    "metric": METRICS[row.metric].label,
                    "value": row.value,
                    "from": row.low,
                    "to": row.high,
                    "source": f"{SOURCES[row.source].where}, {row.table}",
                    "mind": " ".join(row.caveats),
                }
                for row in reported()
            ],
            hide_index=True,
            height=420,
        )
