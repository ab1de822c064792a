"""The tables and figures of the papers that are measured by a function of their own.

Each takes a :class:`~segviz.evaluation.bench.Bench` and the settings of its entries in
``reproduce.toml``, and returns table rows: most are means of a function of one memory
(``paper_measures``) for a system with some settings.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from segviz.conversation import UNANSWERABLE, Category, category_label, category_order
from segviz.evaluation import GRADES, MEASURES, Outcomes, Row, averaged, pooled, summary
from segviz.evaluation import paper_measures as measures
from segviz.evaluation.bench import BATCH, JUDGED_BY, WRITTEN, Bench, Variants
from segviz.evaluation.published import DATA, REPORTED
from segviz.evaluation.sweep import ALPHAS, Sweep, pooled_sweep, sweep
from segviz.systems import SYSTEMS

_OWN = {"method": "native", "relevance": "dense"}

_COSINE: dict[str, Any] = {"compatibility": {"name": "cosine"}}
CONSTRUCTIONS: Variants = {
    "clusters, no time": ("clustering", {}),
    "segment tree, cosine": ("segment-tree", _COSINE),
    "segment tree, calibrated": ("segment-tree", {}),
}

_POINTWISE = {**BATCH, "compatibility": "pointwise"}
_MODELLED: Variants = {
    "clusters, no time": ("clustering", WRITTEN),
    "segment tree, cosine": ("segment-tree", {**BATCH, **_COSINE}),
    "segment tree, pointwise": ("segment-tree", _POINTWISE),
    "segment tree, batch": ("segment-tree", BATCH),
}
_POLICIES = ("bottom-up", "top-down")


def _orders(bench: Bench, marks: Mapping[str, Row]) -> list[Row]:
    """Returns for each system if it works online and how it keeps temporal order.

    ``marks`` has what the paper ticks, by system; some are not in it.
    """
    variants = {SYSTEMS[name].label: bench.rival(name) for name in marks}
    rows = bench.rows(measures.order, variants, "system")
    columns: Row = dict.fromkeys((column for mark in marks.values() for column in mark), "")
    return [
        row | {"online": "yes" if SYSTEMS[name].online else "no"} | columns | mark
        for row, (name, mark) in zip(rows, marks.items(), strict=True)
    ]


def _whole_trees(bench: Bench) -> list[Row]:
    """Returns how far the nodes of SegTreeMem, MemTree and RAPTOR mix sessions."""
    rivals = {label: bench.rival(_METHODS[label]) for label in ("MemTree", "RAPTOR")}
    return bench.rows(measures.mixing, {**bench.the_tree, **rivals}, "tree")


def losses(
    bench: Bench,
    variants: Variants,
    seeds: Sequence[int] = range(3),
    share: float = 0.3,
    measure: Callable[..., Outcomes] = measures.answers,
    **settings: Any,
) -> dict[str, tuple[Outcomes, Outcomes]]:
    """Repeats the permutation experiment of SegTreeMem §5.4.

    Returns for each variant two outcomes of all questions: of the conversations in their order, and
    of conversations in which a ``share`` of the units changed places, averaged over the seeds. The
    paired loss is ``original.gain(permuted, measure)``. ValueError without seeds.

    Departs from the source: it swaps turns and does not say how pairs are drawn (ours are pairs of
    units, disjoint and uniform over the conversation) nor if dates move (ours stay with the place).
    """
    if not seeds:
        raise ValueError("seeds is empty; name at least one")
    whole = bench.each(measure, variants, **settings)
    moved = bench.each(measure, variants, seeds=seeds, share=share, **settings)

    def all_of(parts: Sequence[Outcomes]) -> Outcomes:
        return pooled(dict(zip(bench.names, parts, strict=True)))

    return {
        label: (
            all_of(whole[label]),
            # Results come by conversation, then by seed: every so many are of one seed.
            averaged([all_of(moved[label][n :: len(seeds)]) for n in range(len(seeds))]),
        )
        for label in variants
    }


def _lost(bench: Bench) -> list[Row]:
    """Returns the losses of the permutation experiment, by measures of retrieval and by grades."""
    batch = "segment tree, batch"
    plain: dict[str, Any] = {"relevance": "dense", "literal": True}
    pairs = losses(bench, CONSTRUCTIONS, policy="none", **plain)
    grades: dict[str, tuple[Outcomes, Outcomes]] = {}
    if bench.chat:  # one random order, as every order is built anew by the model
        pairs |= losses(bench, {batch: _MODELLED[batch]}, (0,), policy="none", **plain)
        judged = {label: _MODELLED[label] for label in ("clusters, no time", batch)}
        plain |= {"measure": measures.graded, "chat": bench.chat, "name": "none"}
        grades = losses(bench, judged, (0,), **plain)
    rows: list[Row] = []
    for label in (*CONSTRUCTIONS, batch):
        # Losses by measures of retrieval, then by graded answers.
        whole, moved = pairs.get(label, (None, None))
        row: Row = {"construction": label}
        row |= _means("in order", whole, JUDGED_BY) | _means("permuted", moved, JUDGED_BY)
        for name in (JUDGED_BY, "reached", "quoted"):
            row |= _means(f"loss, {MEASURES[name].label}", whole, name, moved)
        if grades:
            whole, moved = grades.get(label, (None, None))
            row |= _means("judge, in order", whole, "accuracy")
            row |= _means("judge, permuted", moved, "accuracy")
            row |= _means("loss, judge", whole, "accuracy", moved)
        rows.append(row)
    columns = dict.fromkeys((name for row in rows for name in row), math.nan)
    rows = [{**columns, **row} for row in rows]
    # The paper prints the clusters, the first row, and the batch tree, the last one.
    orders = ("original order", "30 % of turn pairs swapped")
    for row, system in ((rows[0], "clustering"), (rows[-1], "segment-tree")):
        place = ("segtreemem", "Table 3")
        before, after = (bench.paper(place, "judge", order, system) for order in orders)
        row["loss, judge, paper"] = before - after
    return rows


def _means(
    column: str,
    outcomes: Outcomes | None,
    name: str,
    before: Outcomes | None = None,
    category: Category = "",
) -> Row:
    """Returns a cell, by ``column``: the mean of a measure, or its gain over ``before``.

    If some questions are disputed, a second cell has the number without them. NaN stands for no
    outcomes; of one ``category`` there is one cell.
    """
    if outcomes is None or category:
        return {column: outcomes.mean(name, category=category) if outcomes else math.nan}
    means = summary(outcomes, before, [name])[name]
    every, fewer = ("gain", "gain_without_disputed") if before else ("all", "without_disputed")
    row: Row = {column: means[every]}
    return row | ({f"{column}, without disputed": means[fewer]} if fewer in means else {})


GRID: dict[str, Any] = {
    "policies": _POLICIES,
    "alphas": ALPHAS,
    "horizons": (1, 2, 3),
    "relevance": "dense",
    "literal": True,
}
"""The retrievals of SegTreeMem Table 2 that propagate."""


def _swept(bench: Bench, variants: Variants, share: float = 0.0, **how: Any) -> dict[str, Sweep]:
    """Returns the sweep of each variant over ``GRID``, changed by ``how``.

    With models its outcomes have the grades of answers.
    """
    grid = GRID | how
    if bench.chat:
        swept = bench.each(measures.graded_sweep, variants, share=share, chat=bench.chat, **grid)
    else:
        swept = bench.each(sweep, variants, share=share, **grid)
    return {label: pooled_sweep(bench.names, sweeps) for label, sweeps in swept.items()}


def _constructions(bench: Bench) -> list[Row]:
    """Returns the best setting of each policy, by construction and order of the units.

    With models, the trees are built as in the paper, and no units are moved.
    """
    rows: list[Row] = []
    judge, label_of = bench.judge
    orders = {"in order": 0.0} if bench.chat else {"in order": 0.0, "30 % moved": 0.3}
    for order_name, share in orders.items():
        variants = _MODELLED if bench.chat else CONSTRUCTIONS
        for label, swept in _swept(bench, variants, share).items():
            for policy in ("none", *_POLICIES):
                cell = swept.best(judge, [policy])
                row: Row = {"construction": label, "order": order_name, "retrieval": policy}
                row["best at"] = f"α {cell.alpha:g}, H {cell.horizon}" if cell.moves else ""
                row |= _means(label_of, cell.outcomes, judge)
                row |= _means(MEASURES["reached"].label, cell.outcomes, "reached")
                still = swept.baseline.outcomes
                rows.append(row | _means("gain", cell.outcomes, judge, still))
    return rows


def _shapes(bench: Bench) -> list[Row]:
    """Returns a row for each tree, named by what decides where units join.

    Without a language model, the trees called batch and pointwise have printed numbers only.
    """
    tree = "segment-tree"
    joined: dict[str, Any] = {"refresh": "joined"}
    eager = {} if bench.chat else {"SegTreeMem cosine, eager": (tree, _COSINE)}
    trees: dict[str, tuple[str, dict[str, Any]]] = {
        "SegTreeMem cosine": (tree, _COSINE | joined | (WRITTEN if bench.chat else {})),
        **eager,  # the paper's calls are those of joined
        "SegTreeMem calibrated (ours)": (tree, joined),
        "SegTreeMem calibrated (ours), eager": (tree, {}),
        "MemTree": bench.rival("memtree"),
        "RAPTOR": bench.rival("raptor"),
    }
    if bench.chat:
        trees |= {"SegTreeMem batch": (tree, BATCH), "SegTreeMem pointwise": (tree, _POINTWISE)}
    metrics = {
        "greatest depth": "max-depth",
        "mean depth": "mean-depth",
        "depth deviation": "depth-std",
        "children": "branching",
        "calls per leaf": "calls",
    }
    place, rows = ("segtreemem", "Table 5"), bench.rows(measures.form, trees, "method")
    unmeasured: Row = dict.fromkeys(rows[0], math.nan)
    for name in ("batch", "pointwise") if not bench.chat else ():
        rows.append(unmeasured | {"method": f"SegTreeMem {name}"})
    beside: list[Row] = []
    for row in rows:
        variant = str(row["method"]).partition(",")[0].partition(" ")[2]
        system = tree if variant else str(row["method"]).lower()
        row.pop("candidates per leaf")
        # Without a model no call is made; each text that is written stands for one.
        summaries, calls = row.pop("summaries per leaf"), row.pop("model calls per leaf")
        row["calls per leaf"] = calls or summaries
        leaves, nodes = (bench.paper(place, name, variant, system) for name in ("leaves", "nodes"))
        ours = {name: row.pop(name) for name in ("method", "nodes per leaf")}
        ours |= {"nodes per leaf, paper": nodes / leaves, **row}
        beside.append(bench.beside(ours, place, metrics, variant, system))
    return beside


def _cost(bench: Bench) -> list[Row]:
    """Returns the cost of building each system; with models also of the paper's own trees."""
    tree = "segment-tree"
    systems = {name: bench.rival(name) for name in SYSTEMS if name != tree}
    trees = {"cosine": _COSINE, "calibrated": {}} | (
        {"pointwise": _POINTWISE, "batch": BATCH} if bench.chat else {}
    )
    written = {"refresh": "joined", **(WRITTEN if bench.chat else {})}
    systems |= {f"segment tree, {name}": (tree, {**written, **how}) for name, how in trees.items()}
    return bench.rows(measures.growth, systems, "system", clock=bench.clock)


def _over_alpha(bench: Bench) -> list[Row]:
    """Returns the measure of answers by policy, alpha and horizon, and their mean over horizons."""
    (swept,) = _swept(bench, bench.the_tree).values()
    judge, label = bench.judge
    none = _means("no propagation", swept.baseline.outcomes, judge)
    rows: list[Row] = []
    for policy, alpha in product(_POLICIES, swept.alphas):
        cells = [swept.cell(policy, alpha, horizon) for horizon in swept.horizons]
        each = {f"H {cell.horizon}": cell.outcomes for cell in cells if cell}
        for horizon, outcomes in {**each, "mean over H": averaged([*each.values()])}.items():
            row: Row = {"policy": policy, "α": alpha, "horizon": horizon}
            rows.append(row | _means(label, outcomes, judge) | none)
    return rows


def _levels(bench: Bench) -> list[Row]:
    """Returns the shares of the levels among the retrieved nodes, at two hops.

    It has rows for each policy, on the tree as printed and, where no model answers, with same-text
    chains joined.
    """
    rows: list[Row] = []
    judge, label = bench.judge
    trees = {"literal tree": True} if bench.chat else {"literal tree": True, "chains joined": False}
    for tree, literal in trees.items():
        (swept,) = _swept(bench, bench.the_tree, literal=literal).values()
        for policy in _POLICIES:
            cells = [swept.baseline, *(swept.cell(policy, alpha, 2) for alpha in swept.alphas)]
            for cell, row in zip(cells, swept.level_rows(2, policy), strict=True):
                assert cell is not None
                means = _means(label, cell.outcomes, judge)
                rows.append({"policy": f"{policy}, {tree}", **row, **means})
    return rows


_GRID = {
    f"θ₀ {base:g}, r {rate:g}": (base, rate)
    for base in (0.1, 0.4, 0.8)
    for rate in (0.25, 0.5, 0.75)
}
_MEMTREES: Variants = {
    label: ("memtree", {"base": base, "rate": rate, "max_depth": 16})
    for label, (base, rate) in _GRID.items()
}


def _depths(bench: Bench, grid: bool = False) -> list[Row]:
    """Returns the share of MemTree's nodes at each depth, and the median tokens of their texts.

    Nodes of all conversations count together, by the defaults or for each pair of thresholds.
    """
    variants = _MEMTREES if grid else {"": ("memtree", {})}
    rows: list[Row] = []
    for label, parts in bench.each(measures.depths, variants).items():
        depth, tokens = np.concatenate(parts).T
        pair = dict(zip(("θ₀", "r"), label.split(", "), strict=True)) if grid else {}
        for at in np.unique(depth).tolist():
            share = 100 * float(np.mean(depth == at))
            median = float(np.median(tokens[depth == at]))
            rows.append({**pair, "depth": at, "nodes, %": share, "tokens, median": median})
    return rows


def _thresholds(bench: Bench) -> list[Row]:
    """Returns measures of MemTree's own retrieval, by parameters of its threshold."""
    names = ("answer_words", "reached", "words")  # leaves are the same in every tree
    rows = bench.rows(measures.quality, _MEMTREES, names=names, **_OWN)
    return [
        {"θ₀": base, "r": f"r {rate:g}", **row}
        for (base, rate), row in zip(_GRID.values(), rows, strict=True)
    ]


def _learned(bench: Bench) -> list[Row]:
    """Returns the shape of MemTree by its defaults, beside that of MemTree Table 5."""
    metrics = {"greatest depth": "max-depth", "mean depth": "mean-depth", "children": "branching"}
    (row,) = bench.rows(measures.form, {"memtree": ("memtree", {})}, "method")
    return [bench.beside(row, ("memtree", "Table 5"), metrics, "", "memtree")]


def _index(bench: Bench) -> list[Row]:
    """Returns the nodes on each layer of H-Mem and of its graph, ours and printed."""
    rows: list[Row] = []
    (sizes,) = bench.rows(measures.layers, {"": ("h-mem", {})})
    place, last = ("h-mem", "Table 7"), math.nan
    for name in ("0", "1 event", "2 summary", "3 summary", "4 summary", "1 entity", "relations"):
        metric = (name, "") if name == "relations" else ("layer", name)
        printed = bench.paper(place, *metric)
        row: Row = {"layer": name, "nodes": sizes.get(name, 0.0), "nodes, paper": printed}
        if name[2:] in ("event", "summary"):
            row["per node below"] = sizes.get(f"{name} per node below", 0.0)
            row["per node below, paper"] = printed / last
        rows.append(row)
        last = printed
    return rows


def _plans(bench: Bench, followed: bool = True) -> list[Row]:
    """Returns how H-Mem splits questions, with their scopes, and follows them up, by format."""
    rows: list[Row] = []
    printed = {row.data: row.value for row in REPORTED if row.metric == "follow-up-rate"}
    for data in dict.fromkeys(talk.source_format for talk in bench.talks):
        part = replace(bench, talks=[one for one in bench.talks if one.source_format == data])
        (counts,) = part.each(measures.planning, {data: ("h-mem", {})}).values()
        total = sum(counts, Counter[str]())
        share = 100 / max(total["parts"], 1)
        row: Row = {"format": data, **{name: total[name] for name in ("questions", "parts")}}
        if followed:
            row |= {
                "followed up": total["followed up"],
                "followed up, %": share * total["followed up"],
            }
            row["followed up, %, paper"] = printed.get(DATA.get(data, data), math.nan)
        scopes = {f"scope {n}, %": share * total[f"scope {n}"] for n in ("short", "long", "mixed")}
        rows.append(row | scopes)
    return rows


_BLOCKS = 20  # as xMemory retrieves


def _covered(bench: Bench) -> dict[str, list[dict[str, Any]]]:
    """Returns for naive RAG and xMemory how much is read until answers are covered."""
    ways: dict[str, tuple[str, dict[str, Any]]] = {
        "naive RAG": ("dense", {"policy": "none", "relevance": "dense"}),
        "xmemory": ("xmemory", _OWN),
    }
    return {
        label: bench.each(measures.density, {label: (name, {})}, k=_BLOCKS, **how)[label]
        for label, (name, how) in ways.items()
    }


def _density(bench: Bench) -> list[Row]:
    """Returns blocks and tokens that cover the gold evidence, of xMemory and naive RAG."""
    measured = _covered(bench)
    metrics, rows = {"blocks": "blocks", "tokens": "coverage-tokens"}, []
    # Only questions that both methods cover, so that the means compare.
    both = [
        np.logical_and.reduce([~np.isnan(talk["blocks"]) for talk in talks])
        for talks in zip(*measured.values(), strict=True)
    ]
    for label, talks in measured.items():
        for talk, complete in zip(talks, both, strict=True):
            for name in metrics:
                talk[name] = np.where(complete, talk[name], np.nan)
        row = {"method": label, **bench.pooled(talks)}
        rows.append(bench.beside(row, ("xmemory", "Table 5"), metrics, "", label))
    return rows


def _hits(bench: Bench) -> list[Row]:
    """Returns the shares of blocks with one, two and more words of the answer.

    There is a row for each category and method.
    """
    of_talks = [[one.category for one in talk.questions] for talk in bench.talks]
    known = {category for talk in of_talks for category in talk} - {*UNANSWERABLE}
    return [
        {
            "category": category_label(category),
            "method": label,
            **bench.pooled(
                [
                    {
                        name: np.where([one == category for one in mine], talk[name], np.nan)
                        for name in ("1-hit", "2-hit", "multi-hit")
                    }
                    for talk, mine in zip(talks, of_talks, strict=True)
                ]
            ),
        }
        for label, talks in _covered(bench).items()
        for category in sorted(known, key=category_order)
    ]


_METHODS = {
    **{"BM25": "bm25", "Dense": "dense", "RAPTOR": "raptor", "MemTree": "memtree"},
    **{name: name for name in ("A-MEM", "Mem0", "HippoRAG")},  # not built here
}
"""Methods of SegTreeMem's tables of answers, with their systems in the printed numbers."""

Ways = Mapping[str, Sequence[Any] | None]
"""Printed variants of the tree, with policy, alpha and horizon, or None for the best of all."""

_BEST: Ways = {"no propagation": ("none", 0.0, 0), "best": None}


def _graded(bench: Bench, ways: Ways, **grid: Any) -> dict[tuple[str, str, str], Outcomes | None]:
    """Returns the grades of each printed method, None without models.

    Methods are given by label, system, and variant of the printed numbers. ``grid`` has the
    settings that are swept on the tree; see :func:`_swept`.
    """
    grades: dict[tuple[str, str, str], Outcomes | None]
    grades = {(label, system, ""): None for label, system in _METHODS.items()}
    tree = [(f"SegTreeMem, {variant}", "segment-tree", variant) for variant in ways]
    if bench.chat is None:
        return grades | dict.fromkeys(tree)
    # The rivals are asked by the retrieval of their papers.
    built = {label: bench.rival(name) for label, name in _METHODS.items() if name in SYSTEMS}
    for label, talks in bench.each(measures.graded, built, chat=bench.chat).items():
        grades[label, _METHODS[label], ""] = pooled(dict(zip(bench.names, talks, strict=True)))
    # The tree is asked by the settings that the paper names, or by the best of all.
    swept = _swept(bench, bench.the_tree, **grid)["SegTreeMem"]
    settings = {cell.setting: cell for cell in (swept.baseline, *swept.cells)}
    for (label, system, variant), way in zip(tree, ways.values(), strict=True):
        cell = swept.best("accuracy") if way is None else settings[tuple(way)]
        chosen = "" if way else f" ({cell.policy} {cell.alpha:g}, H {cell.horizon})"
        grades[label + chosen, system, variant] = cell.outcomes
    return grades


def _answers(
    bench: Bench,
    table: str,
    columns: Mapping[str, Category] | None = None,
    ways: Ways = _BEST,
    **grid: Any,
) -> list[Row]:
    """Returns a row for each printed method; without models it has the printed numbers alone.

    Args:
        bench: what is measured.
        table: the table.
        columns: for judge accuracy by category, the category names of the paper with ours. Without,
            judge accuracy, F1 and BLEU-1 are those of all questions.
        ways: printed variants of the tree, with policy, alpha and horizon; None stands for the
            propagation with the highest judge accuracy.
        grid: as in :func:`_graded`.
    """
    # Each column: its label, what is measured of which category, and what is printed.
    wanted: list[tuple[str, str, Category, str, str]] = [
        (GRADES[name], name, "", metric, "")
        for name, metric in (("accuracy", "judge"), ("token_f1", "f1"), ("bleu1", ""))
    ]
    if columns:  # printed for two answering models
        qwen = bench.chat is not None and "qwen" in bench.chat.of("answer").name.lower()
        model = "qwen3.5-flash" if qwen else "gpt-5.4-mini"
        wanted = [("all", "accuracy", "", "judge", model)] + [
            (f"category {category}", "accuracy", category, "judge", f"{model}, {printed}")
            for printed, category in columns.items()
        ]
    rows: list[Row] = []
    for (method, system, variant), outcomes in _graded(bench, ways, **grid).items():
        rows.append({"method": method})
        for label, name, category, metric, of in wanted:
            rows[-1] |= _means(label, outcomes, name, category=category)
            if metric:
                named = ", ".join(filter(None, (of, variant)))
                printed = bench.paper(("segtreemem", table), metric, named, system)
                rows[-1][f"{label}, paper"] = printed
    return rows


TABLES: dict[str, Callable[..., list[Row]]] = {
    table.__name__.strip("_"): table
    for table in (
        *(_orders, _whole_trees, _lost, _constructions, _shapes, _cost, _over_alpha, _levels),
        *(_answers, _depths, _thresholds, _learned, _index, _plans),
        *(_density, _hits),
    )
}
"""Functions by name; an entry names the one that measures it."""

OF_ONE_TREE = ("answers", "over_alpha", "levels")
"""Names of the functions that measure one segment tree, whose settings a :class:`Bench` has."""
