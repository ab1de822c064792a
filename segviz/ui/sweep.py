"""Page Sweep: every setting over all questions of the conversation."""

from __future__ import annotations

from typing import Any

import streamlit as st

from segviz.conversation import CATEGORY_NAMES
from segviz.evaluate import Aggregate, Cell, Evaluation, Mean, Sweep, evaluate, sweep
from segviz.figures import sweep as charts
from segviz.figures.categories import category_bars, category_sentence
from segviz.frontend.palette import ACCENT, LEVEL_COLOURS, SCORE_RAMP_DARK, SCORE_RAMP_LIGHT
from segviz.propagate import POLICIES
from segviz.relevance import RELEVANCE
from segviz.ui.exports import sweep_export
from segviz.ui.permutation import permutation_panel
from segviz.ui.places import level_names
from segviz.ui.state import Session, fingerprint, known, remember

SWEEPS_KEPT = 6
SWEPT = [name for name in POLICIES if name != "none"]


def render(session: Session) -> None:
    """Draw the page."""
    counted = [q for q in session.conversation.questions if q.evidence]
    if not counted:
        st.info(
            "This conversation has no questions with gold evidence, so settings cannot be "
            "compared. The bundled samples, LoCoMo, LongMemEval and RealMem files have them."
        )
        return
    st.markdown(
        f"**Evidence recall** of {len(counted)} questions under every setting",
        help=(
            "A question's gold leaves are those that hold its evidence turns; the K best "
            "leaves are retrieved; recall is gold leaves returned / gold leaves, averaged over "
            "all questions with evidence."
        ),
    )
    settings = _settings()
    key = fingerprint(session.key, settings)
    _sweep(session, settings, key)
    permutation_panel(session, settings["relevance"], settings["k"])


def _sweep(session: Session, settings: dict[str, Any], key: str) -> None:
    done = _measured_so_far(key)
    label = f"Resume the sweep, {len(done)} settings are done" if done else "Run the sweep"
    if not known("sweeps", key) and st.button(label, icon=":material/grid_on:", key="run-sweep"):
        st.session_state["sweep-wanted"] = key
    if not known("sweeps", key) and st.session_state.get("sweep-wanted") != key:
        st.caption("One run takes a second or two for a few hundred questions.")
        return
    found: Sweep = remember("sweeps", key, SWEEPS_KEPT, lambda: _run(session, settings, key))
    _overview(found)
    sweep_export(session, found)
    _heatmaps(session, found)
    _curves_and_levels(session, found)
    cell = _chosen(found)
    _setting(session, found, *cell)


def _measured_so_far(key: str) -> dict[tuple[str, float, int], Cell]:
    """Cells of a sweep that was cut short, by their setting."""
    cells: dict[tuple[str, float, int], Cell] = remember("sweep-cells", key, SWEEPS_KEPT, dict)
    return cells


def _settings() -> dict[str, Any]:
    first, second, third = st.columns([5, 3, 3], gap="medium")
    policies = first.multiselect(
        "Policies",
        SWEPT,
        default=["top-down", "bottom-up", "both"],
        key="sweep-policies",
        persist_state="session",
    )
    relevance = second.selectbox(
        "Relevance", list(RELEVANCE), key="sweep-relevance", persist_state="session"
    )
    k = third.slider("Retrieved K", 1, 30, 10, key="sweep-k", persist_state="session")
    return {"policies": policies or SWEPT[:1], "relevance": relevance, "k": k}


def _run(session: Session, settings: dict[str, Any], key: str) -> Sweep:
    done = _measured_so_far(key)
    place = st.empty()
    with place.container():
        bar = st.progress(0.0, "Sweeping")
        # Any click ends this run at the next report; what was measured by then is kept.
        st.button("Cancel", key="cancel-sweep", on_click=_cancel)

    def keep(cell: Cell) -> None:
        done[cell.policy, cell.alpha, cell.horizon] = cell

    def progress(count: int, total: int) -> None:
        bar.progress(count / total, f"Sweeping: {count} of {total} settings")

    found = sweep(
        session.memory,
        session.conversation.questions,
        progress=progress,
        known=tuple(done.values()),
        keep=keep,
        **settings,
    )
    place.empty()
    return found


def _cancel() -> None:
    st.session_state["sweep-wanted"] = None


def _spread(mean: Mean) -> str:
    return f"{mean.value:.3f} [{mean.low:.3f}, {mean.high:.3f}]"


def _overview(found: Sweep) -> None:
    best = found.best()
    st.markdown(
        f"Best: **{best.policy}**, α {best.alpha:g}, H {best.horizon}: "
        f"recall@{found.k} **{_spread(best.recall)}** against {_spread(found.baseline.recall)} "
        "without propagation (95 % bootstrap intervals)."
    )


def _dark() -> bool:
    return bool(st.context.theme.type == "dark")


def _heatmaps(session: Session, found: Sweep) -> None:
    """One heatmap per policy; a click chooses the setting."""
    ramp = SCORE_RAMP_DARK if _dark() else SCORE_RAMP_LIGHT
    policies = [policy for policy in found.policies if policy != "none"]
    for row in range(0, len(policies), 2):
        for column, policy in zip(
            st.columns(2, gap="medium"), policies[row : row + 2], strict=False
        ):
            with column:
                sentence = charts.heatmap_sentence(found, policy)
                st.markdown(f"**{policy}**")
                event = st.plotly_chart(
                    charts.heatmap(found, policy, ramp=ramp, accent=_accent()),
                    key=f"heat-{policy}",
                    on_select="rerun",
                    selection_mode="points",
                    config={"displayModeBar": False},
                    alt=sentence,
                )
                st.caption(sentence)
                _take(event)


def _take(event: Any) -> None:
    """Copy a click at once: selections vanish with the next run."""
    points = event.selection.points if event else []
    custom = points[0].get("customdata") if points else None
    if not custom:
        return
    values = list(custom.values()) if isinstance(custom, dict) else list(custom)
    st.session_state["sweep-cell"] = (str(values[0]), float(values[1]), int(values[2]))


def _accent() -> str:
    return ACCENT["dark" if _dark() else "light"]


def _curves_and_levels(session: Session, found: Sweep) -> None:
    left, right = st.columns(2, gap="medium")
    neutral = "#9a9690" if _dark() else "#77736d"
    with left:
        st.markdown("**Recall over α**, one line per policy and H")
        sentence = charts.curves_sentence(found)
        figure = charts.curves(
            found, colours=[_accent(), LEVEL_COLOURS[5], LEVEL_COLOURS[2], neutral], neutral=neutral
        )
        st.plotly_chart(figure, key="curves", config={"displayModeBar": False}, alt=sentence)
        st.caption(sentence)
    with right:
        policies = [policy for policy in found.policies if policy != "none"]
        horizons = [h for h in found.horizons if h > 0]
        if not horizons:
            return
        policy = st.segmented_control(
            "Retrieved levels under",
            policies,
            default=policies[0],
            required=True,
            key="levels-policy",
            persist_state="session",
        )
        policy = policy if policy in policies else policies[0]
        horizon = 2 if 2 in horizons else horizons[0]
        figure = charts.level_bars(
            found,
            horizon,
            policy,
            level_colours=LEVEL_COLOURS,
            accent=_accent(),
            level_names=level_names(session.memory),
        )
        sentence = charts.level_bars_sentence(found, horizon, policy)
        st.plotly_chart(figure, key="level-bars", config={"displayModeBar": False}, alt=sentence)
        st.caption(f"H {horizon}. {sentence}")


def _chosen(found: Sweep) -> tuple[str, float, int]:
    """The clicked setting, or the best."""
    best = found.best()
    chosen = st.session_state.get("sweep-cell")
    if chosen and found.cell(*chosen) is not None:
        policy, alpha, horizon = chosen
        return policy, alpha, horizon
    return best.policy, best.alpha, best.horizon


def _setting(session: Session, found: Sweep, policy: str, alpha: float, horizon: int) -> None:
    """One setting in full: categories, and the questions it fails on."""
    measured = evaluate(
        session.memory,
        session.conversation.questions,
        policy=policy,
        alpha=alpha,
        horizon=horizon,
        k=found.k,
        relevance=found.relevance,
    )
    st.subheader(f"{policy}, α {alpha:g}, H {horizon}")
    open_it = st.button("Open this setting in Ask", icon=":material/open_in_new:", key="open-ask")
    left, right = st.columns([9, 11], gap="medium")
    with left:
        _categories(measured)
    with right:
        question = _failures(session, measured)
    if open_it or question is not None:
        _to_ask(session, found, policy, alpha, horizon, question)


def _categories(measured: Evaluation) -> None:
    st.markdown("**By category**")
    neutral = "#9a9690" if _dark() else "#77736d"
    figure = category_bars(measured, accent=_accent(), neutral=neutral)
    sentence = category_sentence(measured)
    st.plotly_chart(figure, key="categories", config={"displayModeBar": False}, alt=sentence)
    st.caption(sentence)
    rows = []
    groups: list[tuple[str | int | None, Aggregate]] = [("all", measured.overall)]
    groups += measured.by_category.items()
    for name, group in groups:
        rows.append(
            {
                "category": name if isinstance(name, str) else _category(name),
                "questions": group.questions,
                "recall": _spread(group.recall),
                f"recall in {measured.units} units": _spread(group.budget_recall),
                "MRR": _spread(group.reciprocal_rank),
                "nDCG": _spread(group.ndcg),
                "answer words": _spread(group.coverage),
                "words read": f"{group.words.value:.0f}",
            }
        )
    st.dataframe(rows, hide_index=True)
    st.caption(
        "Means with 95 % bootstrap intervals. Answer words: share of the gold answer's content "
        "words found in the retrieved texts of all levels. LoCoMo's category ids; papers permute "
        "the names."
    )


def _category(number: int | None) -> str:
    return "none" if number is None else f"{number} {CATEGORY_NAMES.get(number, 'other')}"


def _failures(session: Session, measured: Evaluation) -> int | None:
    """Worst questions first; the one picked."""
    questions = {q.index: q for q in session.conversation.questions}
    worst = measured.worst()
    st.markdown("**Worst questions first**; pick one to open it in Ask")
    event = st.dataframe(
        [
            {
                "recall": row.recall,
                "category": questions[row.index].category_label,
                "question": questions[row.index].text,
                "answer": questions[row.index].answer or "",
            }
            for row in worst
        ],
        hide_index=True,
        height=320,
        key="failures",
        on_select="rerun",
        selection_mode="single-row",
        column_config={"recall": st.column_config.NumberColumn(format="%.2f", width=60)},
    )
    picked = event.selection.rows if event else []
    return worst[picked[0]].index if picked else None


def _to_ask(
    session: Session,
    found: Sweep,
    policy: str,
    alpha: float,
    horizon: int,
    question: int | None,
) -> None:
    """Go to Ask with this setting, and with the question where one was picked."""
    st.session_state.update(
        policy=policy, alpha=alpha, horizon=horizon, relevance=found.relevance, k=found.k
    )
    if question is not None:
        indices = [q.index for q in session.conversation.questions]
        st.session_state["origin"] = "Dataset question"
        st.session_state[f"question-{session.source}"] = indices.index(question)
    st.switch_page(st.session_state["pages"]["ask"])
