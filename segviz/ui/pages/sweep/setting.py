"""Shows one setting of a sweep in full, question by question, with a way to Ask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from segviz.conversation import category_label
from segviz.evaluate import MEASURES, Cell, Outcomes, Sweep, evaluate
from segviz.evaluate.measures import sees
from segviz.evaluate.outcomes import ADVERSARIAL
from segviz.evaluate.traffic import Traffic, traffic
from segviz.figures.judged import Judged, blind_sentence, number
from segviz.figures.sweep import category_figure, category_rows, category_sentence
from segviz.retrieval import RetrievalSettings
from segviz.ui import keys
from segviz.ui.pages.sweep.charts import chosen
from segviz.ui.settings import read_settings, write_moment, write_settings
from segviz.ui.state import Session, fingerprint, remember
from segviz.ui.widgets.atlas import draw_atlas
from segviz.ui.widgets.captions import named, spread
from segviz.ui.widgets.charts import chart, pair, picked, table, tall
from segviz.ui.widgets.measures import measured
from segviz.ui.widgets.tree import draw_canvas, scene

TRAFFIC_KEPT = 4


def setting_panel(session: Session, judged: Judged) -> None:
    """Draws the clicked setting, or the best."""
    setting = chosen(judged)
    if setting is None:
        return
    cell, relevance = judged.verdicts[setting].cell, judged.sweep.settings.relevance
    with st.container(horizontal=True, vertical_alignment="center"):
        what = f"{_spelled(cell)}, relevance {relevance}"
        st.subheader(what, anchor=False, width="stretch")
        open_it = st.button(
            "Open this setting in Ask", icon=":material/open_in_new:", key="open-ask"
        )
    st.markdown("**By category** of question")
    chart(
        category_figure(judged, setting, **pair()),
        category_sentence(judged, setting),
        "categories",
        rows=lambda: category_rows(judged, setting),
    )
    _measures(cell, judged.sweep.baseline.outcomes)
    if open_it:
        _write(session, judged.sweep, cell)
        st.switch_page(st.session_state[keys.PAGES]["ask"])


def _measures(cell: Cell, base: Outcomes) -> None:
    """Draws every measure that can see the policy: all questions, those without category 5, each
    category."""
    st.markdown("**All measures**")
    outcomes, policy = cell.outcomes, cell.policy
    known = outcomes.known_categories
    rows = []
    for name, measure in MEASURES.items():
        mean = outcomes.mean(name)
        if not sees(name, policy) or not mean.n:
            continue
        brief = _whole if name == "words" else number
        row: dict[str, str | int] = {
            "measure": measure.label,
            "all questions": brief(mean.value) if name == "words" else spread(mean),
            "n": mean.n,
        }
        if ADVERSARIAL in known:
            without = outcomes.mean(name, adversarial=False)
            row["without 5"] = brief(without.value) if name == "words" else spread(without)
            row["n without 5"] = without.n
        row["no propagation"] = brief(base.value(name))
        for category in known:
            row[category_label(category)] = brief(outcomes.value(name, category=category))
        rows.append(row)
    table(rows, about="All measures by category of question")
    blind = [name for name in MEASURES if not sees(name, policy)]
    st.caption(
        "Means, with 95 % bootstrap intervals where all questions count. Categories go by LoCoMo's "
        f"ids; papers permute the names. {blind_sentence(blind[0], [policy]) if blind else ''}"
        + (f" Nor can {', '.join(MEASURES[n].label for n in blind[1:])}." if blind[1:] else ""),
        help="\n".join(f"- **{m.label}**: {m.meaning}" for m in MEASURES.values()),
    )


def _whole(value: float) -> str:
    return "" if value != value else f"{value:,.0f}"


def _moving(judged: Judged) -> Cell:
    """Returns the setting in full; where under it no score travels, the one that rescues most."""
    setting, swept = chosen(judged), judged.sweep
    cell = setting and swept.cell(*setting)
    if cell is not None and cell.moves:
        return cell
    rescued = swept.rescue()
    return rescued[1] if rescued else swept.cells[-1]


def atlas_panel(session: Session, judged: Judged) -> None:
    """Draws every question without propagation, over α at the policy and hops of one setting, and
    for each other policy at the same α and hops."""
    swept, cell = judged.sweep, _moving(judged)
    policy, alpha, horizon = cell.policy, cell.alpha, cell.horizon
    settings = {f"α {one:g}": (policy, one, horizon) for one in swept.alphas}
    settings |= {name: (name, alpha, horizon) for name in swept.policies if name != policy}
    cells = {"none": swept.baseline}
    for name, one in settings.items():
        found = swept.cell(*one)
        if found is not None:
            cells[name] = found
    more = {_spelled(one): one for one in swept.cells if one.moves}

    def choose(name: str) -> None:
        if name != AS_ON_ASK:
            _write(session, swept, more.get(name) or cells[name])

    st.markdown(
        f"**Question atlas**: {policy}, H {horizon}, over α, beside other policies at α {alpha:g}"
    )
    draw_atlas(
        session,
        {name: one.outcomes for name, one in cells.items()},
        f"α {alpha:g}",
        key="sweep-atlas",
        adversarial=judged.adversarial,
        choose=choose,
        more={AS_ON_ASK: _as_on_ask(session), **{name: one.outcomes for name, one in more.items()}},
    )


AS_ON_ASK = "as on Ask"


def _as_on_ask(session: Session) -> Outcomes:
    """Measures the setting that questions are asked with on Ask, whatever it is."""
    questions, settings = measured(session), read_settings(session)
    found: Outcomes = remember(
        "as-on-ask",
        fingerprint(session.key, str(settings), [question.index for question in questions]),
        TRAFFIC_KEPT,
        lambda: evaluate(session.memory, questions, replace(settings, levels=None)).outcomes,
    )
    return found


def nodes_panel(session: Session, judged: Judged) -> None:
    """Draws what passes through every node over all questions under the setting of the atlas; a
    ticked node is selected in the tree."""
    cell = _moving(judged)
    title = f"Every node over all questions, {_spelled(cell)}: hubs and dead nodes"
    with st.expander(title, key="traffic-panel", on_change="rerun") as panel:
        if not panel.open:
            return
        questions = measured(session)
        asked = _asked(judged.sweep, cell)
        found: Traffic = remember(
            "traffic",
            fingerprint(session.key, str(asked), [question.index for question in questions]),
            TRAFFIC_KEPT,
            lambda: traffic(session.memory, questions, asked),
        )
        structure = session.shown(session.memory.structure)
        nodes = np.flatnonzero(structure.active)
        nodes = nodes[np.argsort(-found.retrieved[nodes], kind="stable")].tolist()
        rows = [
            {
                "node": named(session, structure, node),
                "retrieved": int(found.retrieved[node]),
                "on gold": int(found.on_gold[node]),
                "score given": float(found.given[node]),
                "score taken": float(found.taken[node]),
            }
            for node in nodes
        ]

        def pick() -> None:
            ticked = picked(keys.TRAFFIC_TABLE)
            session.select(None if ticked is None else nodes[ticked])

        counts = found.retrieved[nodes]
        share = counts[:10].sum() / max(1, counts.sum())
        sentence = (
            f"{(counts == 0).sum():,} of {len(rows):,} nodes are retrieved for none of "
            f"{found.questions} questions; the ten most retrieved fill {share:.0%} of all places. "
            "Scores of a question sum to at most 1. Tick a node to see it in the tree; press a "
            "heading to sort."
        )
        st.dataframe(
            rows,
            hide_index=True,
            height=tall(len(rows), 10),
            key=keys.TRAFFIC_TABLE,
            on_select=pick,
            selection_mode="single-row",
            column_config={
                "node": st.column_config.TextColumn(width=460),
                **{n: st.column_config.NumberColumn(format="%.3f") for n in list(rows[0])[3:]},
            },
            alt=sentence,
        )
        st.caption(sentence)
        levels = int(structure.level.max(initial=0)) + 1
        draw_canvas(
            session, scene(session, structure), key="traffic-tree", height=174 + 40 * levels
        )


def _spelled(cell: Cell) -> str:
    return f"{cell.policy}, α {cell.alpha:g}, H {cell.horizon}"


def _asked(found: Sweep, cell: Cell) -> RetrievalSettings:
    """Returns the settings questions were asked with in this cell of a sweep."""
    return replace(found.settings, policy=cell.policy, alpha=cell.alpha, horizon=cell.horizon)


def _write(session: Session, found: Sweep, cell: Cell) -> None:
    wanted = _asked(found, cell)
    write_settings(wanted, session.memory.system)
    write_moment(wanted, session)
