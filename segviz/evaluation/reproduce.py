"""Reproduces tables and figures of the papers on any conversations.

Models are needed only for answers, for grades, and for trees that a model builds.

``ENTRIES`` are the tables and figures, as described in ``reproduce.toml``. Each is measured on a
:class:`Bench` and gives table rows. A column ``"x, paper"`` has the printed numbers beside our
column ``x``, or of a metric that only the paper measured. If an audit disputes questions, a column
``"x, without disputed"`` has the mean over the undisputed ones. Most rows are means of a function
of one memory, for a system with some settings. Nothing is drawn here.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.resources import files
from itertools import product
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from segviz.conversation import (
    UNANSWERABLE,
    Category,
    Conversation,
    category_label,
    category_order,
)
from segviz.evaluation import (
    GRADES,
    MEASURES,
    Chart,
    Mean,
    Outcomes,
    Progress,
    Row,
    averaged,
    mean_ci,
    measure_many,
    pooled,
    summary,
)
from segviz.evaluation import paper_measures as measures
from segviz.evaluation.published import (
    CAVEATS,
    DATA,
    REPORTED,
    SOURCES,
    Reported,
    farthest,
    of_data,
    same_order,
)
from segviz.evaluation.sweep import ALPHAS, Sweep, pooled_sweep, sweep
from segviz.llm import ChatByRole
from segviz.memory import Rehearsal, build, declared, make_system, needs_chat
from segviz.systems import SYSTEMS

Place = tuple[str, str]
"""Name of a paper (key of ``SOURCES``) and of one of its tables or figures."""

Variants = Mapping[str, tuple[str, dict[str, Any]]]
"""Systems to build: label to the name of a system and its settings."""

_OWN = {"method": "native", "relevance": "dense"}

JUDGED_BY = "answer_words"
"""Measure by which settings are chosen without a model. It is the closest to grading answers, and
every policy can change it."""


@dataclass(frozen=True)
class Bench:
    """Conversations and tools with which tables and figures are measured.

    Attributes:
        talks: the conversations.
        unit: rule that makes leaves from turns.
        embedder: embedder of all memories.
        workers: number of processes.
        progress: called with (done, total) runs.
        clock: returns seconds, for entries that measure time.
        chat: models for every role; None if nothing is to be measured that needs a model.
        tree: settings of the segment tree in entries that are about one tree.
    """

    talks: Sequence[Conversation]
    unit: str = "exchange"
    embedder: Any = "auto"
    workers: int = 1
    progress: Progress | None = None
    clock: Callable[[], float] | None = None
    chat: ChatByRole | Rehearsal | None = None
    tree: Mapping[str, Any] = field(default_factory=dict)

    @property
    def the_tree(self) -> Variants:
        """The segment tree of an entry about one tree: as in the paper with models, else ours."""
        return {"SegTreeMem": ("segment-tree", {**(_BATCH if self.chat else {}), **self.tree})}

    def rival(self, name: str) -> tuple[str, dict[str, Any]]:
        """Returns a system as SegTreeMem is compared with it (App. E); with models, they build."""
        fixed = {"memtree": {"base": 0.45, "rate": 1.0}}.get(name, {})
        return name, {**fixed, **(measures.by_models(name) if self.chat else {})}

    @property
    def judge(self) -> tuple[str, str]:
        """Name and label of the measure by which retrievals are compared.

        With models it is the share of right answers, for RealMem that of perfect ones.
        """
        if self.chat is None:
            return JUDGED_BY, MEASURES[JUDGED_BY].label
        name = "perfect" if {one.source_format for one in self.talks} == {"RealMem"} else "accuracy"
        return name, GRADES[name]

    @property
    def names(self) -> list[str]:
        """Names of the conversations, made distinct by their position."""
        return [f"{place} {talk.id}" for place, talk in enumerate(self.talks)]

    def each(
        self,
        measure: Callable[..., Any],
        variants: Variants,
        seeds: Sequence[int] = (0,),
        share: float = 0.0,
        **how: Any,
    ) -> dict[str, list[Any]]:
        """Measures the memory of every variant, conversation and seed.

        Args:
            measure: called as ``measure(memory, questions, seed=…, **how)``.
            variants: the systems to build.
            seeds: seeds; each also chooses which units change places.
            share: share of the units that change places before the build.
            how: further arguments of ``measure``.

        Returns:
            By label of the variant, the results of ``measure``: of the first conversation under
            every seed, then of the next.
        """
        builders = {
            label: partial(
                build,
                system=name,
                unit=self.unit,
                embedder=self.embedder,
                chat=self.chat if needs_chat(make_system(name, **settings)) else None,
                **settings,
            )
            for label, (name, settings) in variants.items()
        }
        # BLAS threads slow down products of a memory's size.
        with threadpool_limits(limits=1, user_api="blas"):
            runs = measure_many(
                measure,
                self.talks,
                builders,
                seeds=seeds,
                share=share,
                workers=self.workers,
                progress=self.progress,
                **how,
            )
        return {label: [one.result for one in runs if one.system == label] for label in variants}

    def rows(
        self, measure: Callable[..., Any], variants: Variants, column: str = "setting", **how: Any
    ) -> list[Row]:
        """Measures every variant and returns its row, or several if ``measure`` returns a list.

        A number in the row is the mean over the conversations. If ``measure`` returns an array,
        with a value for each question, the row has the :class:`Mean` over the questions of all
        conversations; if questions are disputed, also that over the others.
        """
        return [
            {column: label, **self.pooled(same)}
            for label, talks in self.each(measure, variants, **how).items()
            for same in zip(
                *([one] if isinstance(one, dict) else one for one in talks), strict=True
            )
        ]

    def pooled(self, parts: Sequence[Mapping[str, Any]]) -> Row:
        """Returns the means over conversations of ``parts``, a row of each; see :meth:`rows`."""
        row: Row = {}
        undisputed = [[one.disputed is None for one in talk.questions] for talk in self.talks]
        for name in dict.fromkeys(name for one in parts for name in one):
            values = [one.get(name, 0.0) for one in parts]
            if not isinstance(values[0], np.ndarray):
                row[name] = float(np.mean(values))
                continue
            row[name] = _mean(values)
            if not all(map(all, undisputed)):
                left = [np.where(*both, np.nan) for both in zip(undisputed, values, strict=True)]
                row[f"{name}, without disputed"] = _mean(left)
        return row

    def paper(self, place: Place, metric: str, variant: str = "", system: str = "") -> float:
        """Returns a printed number of a table, NaN if it is not printed.

        It is the number for the data set of the conversations, if the table has one, else for its
        first data set.
        """
        wanted = (*place, metric, variant)
        known = [
            row
            for row in REPORTED
            if (row.source, row.table, row.metric, row.variant) == wanted
            and system in ("", row.system)
        ]
        of_this_data = of_data(known, self.talks)
        return of_this_data[0].value if of_this_data else math.nan

    def beside(self, row: Row, place: Place, metrics: Mapping[str, str], *of: str) -> Row:
        """Adds printed numbers to a row.

        Args:
            row: our numbers.
            place: paper and table of the printed numbers.
            metrics: names of our columns, with the metric to print beside each. Metrics whose
                column the row lacks come last.
            of: variant and system of the printed numbers.
        """
        printed = {name: self.paper(place, metric, *of) for name, metric in metrics.items()}
        printed = {name: value for name, value in printed.items() if not math.isnan(value)}
        merged: Row = {}
        for name, value in row.items():
            merged[name] = value
            if name in printed:
                merged[f"{name}, paper"] = printed.pop(name)
        return merged | {f"{name}, paper": value for name, value in printed.items()}


def _mean(columns: Sequence[np.ndarray[Any, Any]]) -> Mean:
    values = np.concatenate(columns)
    groups = np.repeat(np.arange(len(columns)), [len(column) for column in columns])
    known = ~np.isnan(values)
    return mean_ci(values[known], groups=groups[known].tolist())


_COSINE: dict[str, Any] = {"compatibility": {"name": "cosine"}}
CONSTRUCTIONS: Variants = {
    "clusters, no time": ("clustering", {}),
    "segment tree, cosine": ("segment-tree", _COSINE),
    "segment tree, calibrated": ("segment-tree", {}),
}

# Settings with which the papers' models build and write.
_WRITTEN: dict[str, Any] = {"annotate": "llm"}
_BATCH: dict[str, Any] = {**_WRITTEN, "compatibility": "batch", "refresh": "joined"}
_POINTWISE = {**_BATCH, "compatibility": "pointwise"}
_MODELLED: Variants = {
    "clusters, no time": ("clustering", _WRITTEN),
    "segment tree, cosine": ("segment-tree", {**_BATCH, **_COSINE}),
    "segment tree, pointwise": ("segment-tree", _POINTWISE),
    "segment tree, batch": ("segment-tree", _BATCH),
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
    """Returns how far the nodes of whole trees mix sessions, of the three that the paper draws."""
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

    With models, trees are those of the paper, in order only.
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
        "SegTreeMem cosine": (tree, _COSINE | joined | (_WRITTEN if bench.chat else {})),
        **eager,  # the paper's calls are those of joined
        "SegTreeMem calibrated (ours)": (tree, joined),
        "SegTreeMem calibrated (ours), eager": (tree, {}),
        "MemTree": bench.rival("memtree"),
        "RAPTOR": bench.rival("raptor"),
    }
    if bench.chat:
        trees |= {"SegTreeMem batch": (tree, _BATCH), "SegTreeMem pointwise": (tree, _POINTWISE)}
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
        {"pointwise": _POINTWISE, "batch": _BATCH} if bench.chat else {}
    )
    written = {"refresh": "joined", **(_WRITTEN if bench.chat else {})}
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
    """Returns for naive RAG and xMemory how much covers the answers, by conversation."""
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
    """Returns the shares of blocks by their answer words, of both methods and each category."""
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


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A table or figure of a ``paper``.

    Attributes:
        paper: name of the paper.
        table: its name in the paper.
        shows: its content, as a sentence.
        by: name of the function that measures it.
        chart: how its rows are drawn; None for a table.
        note: how our measurement differs from that of the paper.
        models: "all" if every number needs a model, "some" if some do.

    ``reproduce.toml`` documents the other fields.
    """

    paper: str
    table: str
    shows: str
    by: str
    chart: Chart | None = None
    note: str = ""
    models: Literal["", "some", "all"] = ""
    vary: str | Sequence[str] = ""
    column: str = "setting"
    values: Mapping[str, Any] | None = None
    built: Sequence[str] | None = None
    most: int = 0
    metrics: Mapping[str, str] = field(default_factory=dict)
    how: Mapping[str, Any] = field(default_factory=dict)

    @property
    def printed(self) -> tuple[Reported, ...]:
        """Numbers that the paper prints in this table or figure."""
        return tuple(row for row in REPORTED if (row.source, row.table) == (self.paper, self.table))

    @property
    def name(self) -> str:
        """Name on the command line, as ``figure-6``."""
        return self.table.lower().replace(" ", "-").replace(".", "")

    def drawn(self, rows: Sequence[Row]) -> Chart | None:
        """Returns how the rows are drawn: with grades in place of answer words if they have any."""
        ours, grades = MEASURES[JUDGED_BY].label, {*GRADES.values()}
        graded_by = next((name for name in rows[0] if name in grades), ours) if rows else ours
        y = [graded_by if name == ours else name for name in self.chart.y] if self.chart else []
        return self.chart and replace(self.chart, y=y)

    def measured_talks(self, talks: Sequence[Conversation]) -> Sequence[Conversation]:
        """Returns the conversations to measure: all, or at most ``most`` of them, evenly spread."""
        return talks[:: max(1, -(-len(talks) // self.most))] if self.most else talks

    def measure(self, bench: Bench) -> list[Row]:
        """Measures the entry; returns rows with our numbers and the printed ones."""
        chat = bench.chat if self.models else None
        bench = replace(bench, talks=self.measured_talks(bench.talks), chat=chat)
        if not self.vary:
            return _TABLES[self.by](bench, **self.how)
        # The settings to compare: values of one parameter, or of several that are alike.
        measure, place = getattr(measures, self.by), (self.paper, self.table)
        names = [self.vary] if isinstance(self.vary, str) else self.vary
        choices = declared(SYSTEMS[self.paper])[names[0]].spec.choices
        known = self.values or {choice: choice for choice in choices}
        changed = {label: dict.fromkeys(names, value) for label, value in known.items()}
        # Values that change the build need a memory each; the others are asked of one memory.
        built = list(changed) if self.built is None else self.built
        variants: Variants = {label: (self.paper, changed[label]) for label in built}
        rows = bench.rows(measure, variants, self.column, **self.how)
        asked = {label: changed[label] for label in changed if label not in built}
        if asked:
            one, how = {"": (self.paper, dict[str, Any]())}, {"by": measure, "changed": asked}
            each = bench.rows(measures.asked, one, self.column, **how, **self.how)
            rows += [row | {self.column: label} for row, label in zip(each, asked, strict=True)]
        order = list(changed)
        rows.sort(key=lambda row: order.index(str(row[self.column])))
        return [
            bench.beside(row, place, self.metrics, label)
            | {self.column: int(label) if label.isdigit() else label}
            for row, label in ((row, str(row[self.column])) for row in rows)
        ]

    def difference(
        self, rows: Sequence[Row], talks: Sequence[Conversation] = (), *, models: bool = False
    ) -> str:
        """Explains how the rows, measured on ``talks``, differ from the printed numbers.

        ``models`` is True if they were measured with models.
        """
        why = [self.note, CAVEATS.get((self.paper, self.table), "")]
        means = {name for row in rows for name, cell in row.items() if isinstance(cell, Mean)}
        if any(one.label in name for one in MEASURES.values() for name in means):
            why.insert(0, SOURCES[self.paper].why)
        if self.models and not models:
            why.insert(0, f"{_NEEDED[self.models]} (--server, --model and --judge).")
        why += dict.fromkeys(row.note for row in self.printed)
        if talks and (beside := of_data(self.printed, talks)):
            why.insert(0, f"The printed numbers are of {beside[0].data}.")
        if (number := len(self.measured_talks(talks))) < len(talks):
            text = f"{number} of {len(talks)} conversations are measured, which takes minutes."
            why.insert(0, text)
        return " ".join(filter(None, [farthest(rows), same_order(rows, JUDGED_BY), *why]))


_NEEDED = {
    "all": "Nothing is measured: answers and grades need models",
    "some": "Trees that a model builds, and grades, are not measured: they need models",
}


_TABLES: dict[str, Callable[..., list[Row]]] = {
    table.__name__.strip("_"): table
    for table in (
        *(_orders, _whole_trees, _lost, _constructions, _shapes, _cost, _over_alpha, _levels),
        *(_answers, _depths, _thresholds, _learned, _index, _plans),
        *(_density, _hits),
    )
}
OF_ONE_TREE = ("answers", "over_alpha", "levels")
"""Names of the functions that measure one segment tree, whose settings a :class:`Bench` has."""


def _entries() -> tuple[Experiment, ...]:
    """Reads ``reproduce.toml``; an entry has the fields of the one it is ``like``, and its own."""
    text = files("segviz.evaluation").joinpath("reproduce.toml").read_text("utf-8")
    known: dict[Place, dict[str, Any]] = {}
    for row in tomllib.loads(text)["entry"]:
        base = known.get((row["paper"], row.pop("like", "")), {})
        known[row["paper"], row["table"]] = base | row
    charts = ({"chart": Chart(**row["chart"])} if "chart" in row else {} for row in known.values())
    return tuple(
        Experiment(**row | chart) for row, chart in zip(known.values(), charts, strict=True)
    )


ENTRIES = _entries()
"""All tables and figures, by paper."""
