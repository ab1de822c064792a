"""Tables and figures of the papers: each entry measures, and what it counts is right."""

import math
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import segviz
from segviz.construct import parameters
from segviz.construct.annotate import ANNOTATORS
from segviz.construct.compatibility import COMPATIBILITY
from segviz.conversation import UNANSWERABLE, UNIT_RULES, Dispute, sample_texts
from segviz.evaluation import Mean, Row, evaluate, paper_measures, paper_tables
from segviz.evaluation.bench import Bench
from segviz.evaluation.evaluation import averaged
from segviz.evaluation.measures import MEASURES
from segviz.evaluation.paper_measures import (
    density,
    depths,
    form,
    growth,
    kept,
    layers,
    mixing,
    order,
    planning,
    quality,
    themes,
    upkeep,
)
from segviz.evaluation.published import REPORTED, SOURCES
from segviz.evaluation.question_batch import Limits, batches
from segviz.evaluation.reproduce import ENTRIES
from segviz.evaluation.sweep import sweep
from segviz.llm import ChatByRole
from segviz.llm.prompts import tokens_of
from segviz.memory import make_system
from segviz.memory.rehearsal import Rehearsal, rehearse
from segviz.memory.written import days_of
from segviz.retrieval import POLICIES, PRESETS, RetrievalSettings, estimated_tokens
from segviz.systems import SYSTEMS
from segviz.text.words import all_tokens, content_tokens, count_words
from segviz.tree import replay
from segviz.tree.shape import shape
from segviz.view.palette import SERIES
from tests.evaluation.test_permutation import talk
from tests.llm.conftest import Bench as Models
from tests.llm.conftest import bench as clients
from tests.llm.conftest import endpoint, server
from tests.llm.server import enum, texts_under
from tests.memories import sample

OWN = RetrievalSettings(method="native")


@cache
def small():
    """The beginning of a bundled conversation, with some of the questions it answers."""
    begun = sample(sessions=3)
    return replace(begun, questions=begun.questions[:6])


def entry_of(paper, table):
    (entry,) = (one for one in ENTRIES if (one.paper, one.table) == (paper, table))
    return entry


@cache
def rows_of(paper, table) -> list[Row]:
    return entry_of(paper, table).measure(Bench([small()]))


@cache
def built(system, **settings):
    return segviz.build(small(), system, **settings)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda one: f"{one.paper} {one.table}")
def test_every_entry_measures_what_it_draws_and_says_how_it_differs(entry):
    assert entry.paper in SOURCES
    rows = rows_of(entry.paper, entry.table)
    assert rows
    names = {name for row in rows for name in row}
    if entry.chart:
        chart = entry.chart
        assert {chart.x, chart.by or chart.x, chart.panel or chart.x} <= names
        assert all(any(name.startswith(wanted) for name in names) for wanted in chart.y)
    assert entry.shows.endswith(".")
    assert "the paper" in entry.difference(rows).lower()


def test_printed_numbers_stand_beside_ours():
    rows = rows_of("xmemory", "Table 6")
    printed = {row["setting"]: (row["moved, %, paper"], row["F1, paper"]) for row in rows}
    assert printed == {
        "full": (44.91, 43.98),
        "w/o split": (17.33, 39.18),
        "w/o merge": (26.23, 40.33),
        "w/o merge&split": (0, 38.59),
    }
    (batch,) = (r for r in rows_of("segtreemem", "Table 5") if r["method"] == "SegTreeMem batch")
    assert (batch["greatest depth, paper"], batch["calls per leaf, paper"]) == (3.8, 1.95)
    assert batch["nodes per leaf, paper"] == pytest.approx(317 / 281)
    assert math.isnan(batch["nodes per leaf"])  # no language model decided here


def test_the_printed_number_is_that_of_the_data_set():
    real = replace(small(), source_format="RealMem")
    place = ("segtreemem", "Table 5")
    assert Bench([real]).paper(place, "nodes", "cosine", "segment-tree") == 865
    assert Bench([small()]).paper(place, "nodes", "cosine", "segment-tree") == 352
    assert math.isnan(Bench([real]).paper(place, "nodes", "no such variant"))


def test_rows_are_means_over_talks_and_over_questions():
    def measure(memory, questions, *, seed):
        return {"leaves": len(memory.units), "asked": np.arange(len(questions), dtype=float)}

    one, other = small(), replace(small(), sessions=small().sessions[:2])
    (row,) = Bench([one, other]).rows(measure, {"flat": ("bm25", {})})
    leaves = [len(each.units("exchange")) for each in (one, other)]
    assert row["leaves"] == np.mean(leaves)
    assert isinstance(row["asked"], Mean)
    assert (row["asked"].value, row["asked"].n) == (2.5, 12)
    assert "asked, without disputed" not in row
    first, *others = one.questions
    disputed = replace(one, questions=(replace(first, disputed=Dispute("wrong")), *others))
    (row,) = Bench([disputed, other]).rows(measure, {"flat": ("bm25", {})})
    fewer = row["asked, without disputed"]
    assert (row["asked"].n, fewer.n, fewer.value) == (12, 11, pytest.approx(30 / 11))


def test_shapes_are_those_of_the_structure():
    row, memory = form(built("memtree"), ()), built("memtree")
    found = shape(memory.structure)
    assert row["greatest depth"] == found.max_depth + 1  # the paper's root has no node here
    inner = [children for children in memory.structure.collapsed.children if children]
    below = sum(map(len, inner)) + len(memory.structure.collapsed.roots)
    assert row["children"] == pytest.approx(below / (len(inner) + 1))
    written = sum(step.cost.annotated for step in memory.steps)
    assert row["summaries per leaf"] == written / len(memory.units)


def test_table_5_has_joined_and_eager_refresh_beside_the_printed_calls():
    rows = {row["method"]: row for row in rows_of("segtreemem", "Table 5")}
    for name in ("SegTreeMem cosine", "SegTreeMem calibrated (ours)"):
        joined, eager = rows[name], rows[f"{name}, eager"]
        assert 0 < joined["calls per leaf"] < eager["calls per leaf"]
    for row in (rows["SegTreeMem cosine"], rows["SegTreeMem cosine, eager"]):
        assert row["calls per leaf, paper"] == 0.96


def test_only_what_follows_time_has_no_gaps():
    assert order(built("segment-tree"), ()) == {
        "nodes without a gap, %": 100,
        "leaves put elsewhere, %": 0,
    }
    clusters = order(built("clustering", threshold=0.2), ())
    assert clusters["leaves put elsewhere, %"] == 0
    assert 0 < clusters["nodes without a gap, %"] < 100


@pytest.mark.parametrize("system", ["segment-tree", "memtree", "raptor"])
def test_inner_nodes_are_counted_by_their_sessions(system):
    memory = built(system, **({"base": 0.1} if system == "memtree" else {}))
    s = memory.structure.collapsed

    def sessions(node):
        if node in leaves:
            return {memory.units[leaves[node]].session}
        return set().union(*map(sessions, s.children[node]))

    leaves = {node: unit for unit, node in enumerate(s.leaves)}

    each = [len(sessions(n)) for n in range(len(s)) if s.active[n] and s.children[n]]
    row = mixing(memory, ())
    assert (row["leaves"], row["inner nodes"]) == (len(memory.units), len(each))
    assert row["of one session, %"] == pytest.approx(100 * each.count(1) / len(each))
    assert row["sessions of an inner node"] == pytest.approx(sum(each) / len(each))
    assert min(each) >= 1
    labels = [row["tree"] for row in rows_of("segtreemem", "Figure 8")]
    assert labels == ["SegTreeMem", "MemTree", "RAPTOR"]


def test_rivals_of_segtreemem_have_the_settings_of_its_appendix():
    """Also in the tables that count order (Table 1) and cost (Figure 5)."""
    whole = sample()
    ours, theirs = (segviz.build(whole, "memtree", **how) for how in ({}, APPENDIX_E))
    counted = [order(memory, ()) for memory in (ours, theirs)]
    measured = entry_of("segtreemem", "Table 1").measure(Bench([whole]))
    (row,) = (row for row in measured if row["system"] == SYSTEMS["memtree"].label)
    assert {name: row[name] for name in counted[1]} == counted[1] != counted[0]
    rows = [row for row in rows_of("segtreemem", "Figure 5") if row["system"] == "memtree"]
    wanted = growth(built("memtree", **APPENDIX_E), small().questions)
    for row, known in zip(rows, wanted, strict=True):
        assert row["tokens of prompts per unit"] == known["tokens of prompts per unit"]
    raptor = {one.name: one.default for one in parameters(SYSTEMS["raptor"])}
    assert (raptor["dimensions"], raptor["threshold"], raptor["input_tokens"]) == (3, 0.5, 3500)
    flat = {one.name: one.default for one in parameters(SYSTEMS["bm25"])}
    assert (flat["k1"], flat["b"]) == (1.5, 0.75)


APPENDIX_E = {"base": 0.45, "rate": 1.0, "max_depth": 8, "least": 0.1}


def test_words_of_answers_are_counted_block_by_block():
    memory, questions = built("dense"), small().questions
    found = density(memory, questions, policy="none", relevance="dense", k=5)
    for place, question in enumerate(questions):
        result = memory.ask(question, policy="none", relevance="dense", k=len(memory.units))
        wanted, blocks, tokens = set(content_tokens(question.answer or "")), 0, 0
        hits = [len(wanted & all_tokens(item.text)) for item in result.evidence[:5]]
        left = set(wanted)
        for item in result.evidence:
            if not left:
                break
            left -= all_tokens(item.text)
            blocks, tokens = blocks + 1, tokens + estimated_tokens(item.text)
        assert found["covered"][place] == (not left)
        if left:
            assert np.isnan(found["blocks"][place])
        else:
            assert (found["blocks"][place], found["tokens"][place]) == (blocks, tokens)
        assert found["1-hit"][place] == pytest.approx(hits.count(1) / 5)
        assert found["multi-hit"][place] == pytest.approx(sum(h > 2 for h in hits) / 5)


def test_blocks_by_their_answer_words_are_those_of_each_category():
    talk = few()
    entry = entry_of("xmemory", "Figure 4")
    rows = entry.measure(Bench([talk]))
    found = density(
        segviz.build(talk, "dense"), talk.questions, policy="none", relevance="dense", k=20
    )
    naive = {row["category"]: row for row in rows if row["method"] == "naive RAG"}
    assert len(naive) == len({one.category for one in talk.questions} - {*UNANSWERABLE})
    first = next(row for label, row in naive.items() if label.startswith("1"))
    assert first["1-hit"].value == pytest.approx(found["1-hit"][0])
    assert first["1-hit"].n == 1
    assert next(row for label, row in naive.items() if label.startswith("3"))["2-hit"].n == 0


@pytest.mark.parametrize(("system", "how"), [("dense", {"policy": "none"}), ("h-mem", {})])
def test_answer_words_and_words_are_of_the_same_reading(system, how):
    memory, questions = built(system), small().questions
    how = {"relevance": "dense", **(how or {"method": "native"})}
    rows = quality(memory, questions, **how, budget=300)
    for place, question in enumerate(questions):
        texts = [item.text for item in memory.ask(question, **how, budget=300).evidence]
        assert rows["words read"][place] == sum(map(count_words, texts))
        if (question.answer or "").isalpha():  # dates count in any form
            wanted = set(content_tokens(question.answer))
            held = wanted & set().union(*map(all_tokens, texts))
            assert rows["answer words"][place] == pytest.approx(len(held) / len(wanted))


def test_nodes_and_lengths_of_texts_are_those_of_each_depth():
    memory = built("memtree")
    s = memory.structure
    by_depth = {}
    for node in range(len(s)):
        if s.active[node]:
            by_depth.setdefault(int(s.depth[node]) + 1, []).append(estimated_tokens(s.text[node]))
    rows = rows_of("memtree", "Figure 4")
    assert {row["depth"]: row["tokens, median"] for row in rows} == {
        depth: np.median(tokens) for depth, tokens in by_depth.items()
    }
    assert sum(row["nodes, %"] for row in rows) == pytest.approx(100)


def test_a_question_without_an_answer_counts_in_no_density():
    questions = [replace(small().questions[0], answer=None), small().questions[1]]
    memory = built("dense")
    asked = RetrievalSettings(policy="none", relevance="dense")
    (batch,) = batches(memory, questions, Limits(asked))
    found = batch.covering(batch.ranked(batch.first_scores(memory, "dense")))
    assert all(np.isnan(values[0]) for values in found.values())


def test_themes_and_statements_are_counted():
    memory = built("xmemory")
    s = memory.structure
    alive = [s.kind[node] for node in range(len(s)) if s.active[node]]
    row = themes(memory, ())
    assert (row["themes"], row["statements"]) == (alive.count("theme"), alive.count("semantic"))


def test_parts_of_questions_are_counted_with_their_scopes():
    memory, questions = built("h-mem"), small().questions
    row = planning(memory, questions)
    stages = [
        s for q in questions for s in memory.ask(q, method="native", relevance="dense").stages
    ]
    follow = [stage for stage in stages if stage.name == "follow-up"]
    assert row["parts"] == len(follow) >= len(questions)
    assert row["followed up"] == sum("lacks" in stage.note for stage in follow)
    assert sum(row[name] for name in row if name.startswith("scope")) == row["parts"]
    (told,) = rows_of("h-mem", "Table 9")
    assert told["followed up, %"] == 100 * row["followed up"] / row["parts"]
    talks = [small(), replace(small(), id="other", questions=questions[:1])]
    (both,) = entry_of("h-mem", "Table 9").measure(Bench(talks))
    assert both["parts"] == row["parts"] + planning(memory, questions[:1])["parts"]


def test_words_that_a_root_keeps_of_its_items():
    memory = built("memforest", session_k=3)
    row, s = kept(memory, small().questions), memory.structure

    def items(node):
        return {node} if s.level[node] == 1 else set().union(*map(items, s.children[node]))

    found = wanted = 0
    for root in s.roots:
        if s.level[root] > 1:
            words = set().union(*(content_tokens(s.text[item]) for item in items(root)))
            found += len(words & content_tokens(s.text[root]))
            wanted += len(words)
    assert row["kept in the root, %"] == pytest.approx(100 * found / wanted)
    assert 0 < row["kept of the children, %"] < 100


def test_layers_depths_and_upkeep_are_counted_node_by_node():
    memory = built("h-mem")
    s = memory.structure
    alive = [(int(s.level[n]), s.kind[n]) for n in range(len(s)) if s.active[n]]
    row = layers(memory, ())
    assert row["relations"] == len(s.relations)
    assert row["3 summary"] == alive.count((3, "summary")) > 0
    assert row["3 summary per node below"] == row["3 summary"] / row["2 summary"]

    s = built("memtree").structure

    def depth(node):
        return 1 + max((depth(parent) for parent in s.parents[node]), default=0)

    each = [(depth(n), estimated_tokens(s.text[n])) for n in range(len(s)) if s.active[n]]
    assert depths(built("memtree"), ()).tolist() == [list(one) for one in each]

    memory = built("memforest")
    for part, row in enumerate(upkeep(memory, ()), start=1):
        steps = memory.steps[: len(memory.steps) * part // 5]
        assert row["facts"] == replay(steps).kind.count("fact")
        assert row["summaries written"] == sum(step.cost.annotated for step in steps)


def test_cost_counts_the_prompts_of_every_written_text_step_by_step():
    memory, questions = built("segment-tree"), small().questions
    ticks = iter(range(1_000))
    rows = growth(memory, questions, clock=lambda: float(next(ticks)), parts=2)
    half, whole = (len(memory.steps) // 2, len(memory.steps))
    assert [row["units"] for row in rows] == [half, whole]
    annotate, sent = ANNOTATORS["llm"](), set()
    # A rehearsed model's texts are shorter than extracts, and so are the prompts that quote them.
    how = {"embedder": memory.embedder, **paper_measures.by_models("segment-tree")}
    memory = segviz.build(small(), "segment-tree", chat=Rehearsal(), **how)
    for row, first, last in zip(rows, (0, half), (half, whole), strict=True):
        read = 0
        for at in range(first, last):
            was, now = memory.at(at), memory.at(at + 1)
            before, after = (list(zip(s.text, s.start, s.stop, strict=True)) for s in (was, now))
            changed = [n for n in range(len(now)) if before[n : n + 1] != [after[n]]]
            copies = [n for n in changed if [now.text[n]] == [now.text[c] for c in now.children[n]]]
            written = [n for n in changed if now.level[n] and n not in copies]
            assert len(written) == memory.steps[at].cost.annotated
            for below in (now.children[n] for n in written):
                texts = [now.text[child] for child in below]
                prompt = annotate.prompt(texts, days_of(memory, now, below))
                read += tokens_of(prompt.system + prompt.user) * (prompt not in sent)
                sent.add(prompt)
        assert row["tokens of prompts per unit"] == pytest.approx(read / (last - first))
        assert row["question, ms"] == 1000


@pytest.mark.parametrize("system", SYSTEMS)
def test_cost_has_the_tokens_that_a_build_by_models_announces(system):
    how = {"base": 0.1} if system == "memtree" else {}  # units of few sessions are unlike
    memory = built(system, **how)
    rows, began = growth(memory, small().questions, parts=3), 0
    columns = {"tokens of prompts per unit": "tokens_in", "tokens written per unit": "tokens_out"}
    total = Counter()
    for row in rows:
        for column in columns:
            total[column] += row[column] * (row["units"] - began)
        began = row["units"]
    wanted = make_system(system, **how, **paper_measures.by_models(system))
    by_role, _ = rehearse(small(), wanted, "exchange", memory.embedder)
    for column, name in columns.items():
        announced = sum(getattr(needed, name) for needed in by_role.values())
        assert total[column] == pytest.approx(announced, rel=0.1), column
        assert (total[column] > 0) == (system not in ("bm25", "dense"))


def test_every_series_of_the_cost_has_a_colour_of_its_own():
    series = {row["system"] for row in rows_of("segtreemem", "Figure 5")}
    assert len(series) + 2 <= len(set(SERIES))  # with models two trees more


@pytest.mark.parametrize(
    ("system", "asked"), [("segment-tree", PRESETS["paper, top-down"]), ("bm25", OWN)]
)
def test_cost_reads_as_the_paper_does_and_of_a_rival_by_its_own_retrieval(system, asked):
    memory, questions = built(system), small().questions
    (row,) = growth(memory, questions, parts=1)
    found = [memory.ask(q, asked).evidence for q in questions[:5]]
    read = sum(estimated_tokens(item.text) for evidence in found for item in evidence)
    assert row["tokens read per question"] == pytest.approx(read / 5)


@pytest.mark.parametrize(
    ("intervals", "said"),
    [
        (((0.1, 0.2), (0.3, 0.4)), "1 of 1 pairs of rows have the same order, 0 the opposite"),
        (((0.3, 0.4), (0.1, 0.2)), "0 of 1 pairs of rows have the same order, 1 the opposite"),
        (((0.1, 0.3), (0.2, 0.4)), "1 do not differ significantly"),
        (((-0.1, 0.3), (0.2, 0.4)), "1 of 2 losses are significant"),
    ],
)
def test_a_verdict_on_the_order_of_rows_uses_their_intervals(intervals, said):
    rows = [
        {"loss, answer words": Mean((low + high) / 2, low, high, 9), "loss, judge, paper": printed}
        for (low, high), printed in zip(intervals, (0.02, 0.1), strict=True)
    ]
    assert said in entry_of("segtreemem", "Table 3").difference(rows)


def test_levels_and_curves_are_those_of_the_sweep():
    memory, questions = built("segment-tree"), small().questions
    how = {"relevance": "dense", "literal": True}  # as Algorithm 2 is printed
    found = sweep(memory, questions, policies=("bottom-up",), alphas=(0.1,), horizons=(2,), **how)
    none, moved = found.level_rows(2, "bottom-up", "reached")
    (cell,) = found.cells
    assert none["α"] == "none"
    assert moved["leaf"] == cell.outcomes.levels[0]
    assert moved["evidence reached"] == cell.outcomes.mean("reached")
    curve = {
        row["horizon"]: row["answer words"].value
        for row in rows_of("segtreemem", "Figure 13")
        if (row["policy"], row["α"]) == ("bottom-up", 0.1)
    }
    assert curve["H 2"] == cell.outcomes.value("answer_words")
    *each, mean = curve.values()
    assert mean == pytest.approx(np.mean(each))


def test_the_best_of_each_policy_stands_beside_no_propagation():
    rows = rows_of("segtreemem", "Figure 4")
    assert len(rows) == 2 * 3 * len(paper_tables.CONSTRUCTIONS)
    for row in rows:
        assert (row["retrieval"] == "none") == (row["best at"] == "")
        if row["retrieval"] == "none":
            assert row["gain"].value == 0


def test_several_talks_and_workers_give_the_same(monkeypatch):
    pytest.importorskip("joblib")
    talks = [talk(), replace(talk(), id="other")]
    variants = {"clusters": ("clustering", {}), "flat": ("bm25", {})}
    alone = Bench(talks, "turn").rows(order, variants)
    assert alone == Bench(talks, "turn", workers=2).rows(order, variants)


@pytest.mark.parametrize(
    ("paper", "table", "parameter"),
    [("h-mem", "Table 5", "ablate"), ("memforest", "Table 7", "browse")],
)
def test_what_is_asked_of_one_build_is_as_if_each_were_built(paper, table, parameter):
    rows = rows_of(paper, table)
    for row in rows:
        memory = built(paper, **{parameter: row["setting"]})
        asked = {"method": "native", "relevance": "dense", "budget": 1000}
        found = evaluate(memory, small().questions, **asked).outcomes
        for name in ("recall", "answer_words", "words"):
            assert row[MEASURES[name].label].value == found.value(name), row["setting"]
    assert len({str(row["words read"]) for row in rows}) > 1


def test_few_conversations_stand_for_many_where_many_take_long():
    entry = entry_of("memforest", "Figure 6 d")
    talks = [replace(small(), id=str(number)) for number in range(24)]
    assert [one.id for one in entry.measured_talks(talks)] == [str(n) for n in range(0, 24, 3)]
    assert list(entry.measured_talks(talks[:5])) == talks[:5]
    assert entry.difference([], talks).startswith("8 of 24 conversations are measured")
    assert "conversations are measured" not in entry.difference([], talks[:8])
    assert len(ENTRIES[0].measured_talks(talks)) == 24


def test_printed_numbers_of_another_data_set_are_called_so():
    entry = entry_of("xmemory", "Table 6")
    real, loco = (replace(small(), source_format=name) for name in ("RealMem", "LoCoMo"))
    for talks in ([real], [loco], [loco, real], [real, loco]):
        assert "The printed numbers are of LoCoMo." in entry.difference([], talks)
    both = entry_of("segtreemem", "Table 3")
    assert len({one.data for one in both.printed}) > 1
    assert "The printed numbers are of LoCoMo." in both.difference([], [loco])
    assert "The printed numbers are of RealMem." in both.difference([], [real])
    assert "The printed numbers are of LoCoMo." in both.difference([], [loco, real])


def test_an_average_is_that_of_every_question():
    memory, questions = built("segment-tree"), small().questions
    each = [evaluate(memory, questions, k=k, relevance="dense").outcomes for k in (3, 10)]
    for name in MEASURES:
        means = [
            np.nan if None in values else sum(values) / 2
            for values in zip(*(one.values[name] for one in each), strict=True)
        ]
        assert averaged(each).column(name) == pytest.approx(means, nan_ok=True)


def test_every_switch_has_the_names_of_the_papers_rows():
    varied = [entry for entry in ENTRIES if entry.vary]
    assert len(varied) == 11
    for entry in varied:
        choices = {one.name: one.spec.choices for one in parameters(SYSTEMS[entry.paper])}
        printed = {row.variant for row in entry.printed}
        names = [entry.vary] if isinstance(entry.vary, str) else entry.vary
        assert set(names) <= set(choices)
        if printed:  # figures have curves alone
            assert printed.issuperset(entry.values or choices[names[0]]), entry.table
        assert set(entry.built or ()).issubset(choices[names[0]] or ())


def test_segtreemems_switches_have_the_names_of_its_rows():
    """Policies of Table 4, constructions of Table 5, units and refresh as the text has them."""

    def printed(*tables):
        places = {("segtreemem", table, "segment-tree") for table in tables}
        return {row.variant for row in REPORTED if (row.source, row.table, row.system) in places}

    assert printed("Table 4") <= set(POLICIES)
    assert "none" in POLICIES
    assert printed("Table 5") <= set(COMPATIBILITY)
    (refresh,) = (one for one in parameters(SYSTEMS["segment-tree"]) if one.name == "refresh")
    assert (refresh.default, refresh.spec.choices) == ("eager", ("eager", "lazy", "joined"))
    assert set(UNIT_RULES) >= {"exchange", "turn"}  # App. E, App. F


# --- with models -------------------------------------------------------------------------------

__all__ = ["clients", "endpoint", "server"]


def few():
    """Four questions: two categories, an adversarial one, and one without a gold answer."""
    asked = small().questions[:2]
    return replace(
        small(),
        source_format="LoCoMo",
        questions=(
            replace(asked[0], category=1),
            replace(asked[1], category=4),
            replace(asked[0], index=2, answer=None, category=5, adversarial="red"),
            replace(asked[1], index=3, answer=None, category=3),
        ),
    )


@pytest.fixture
def by_models(clients: Models):
    """A bench on which one model builds and answers, and another grades."""

    def answer(request):
        if not enum(request):
            return "The boat is called Marisol and lies in the harbour."
        graded = texts_under(request, "Answer to grade")
        return "3" if graded else enum(request)[-1]

    clients.server.answer = answer
    return Bench([few()], embedder="hashing", chat=models_of(clients))


def models_of(clients):
    return ChatByRole(clients.chat(), {"grade": clients.chat(model="strict")})


def test_without_models_a_table_of_answers_has_printed_numbers_and_says_so():
    entry = entry_of("segtreemem", "Table 4")
    rows = {row["method"]: row for row in rows_of("segtreemem", "Table 4")}
    assert rows["A-MEM"]["judge accuracy, paper"] == 0.608
    assert rows["SegTreeMem, bottom-up"]["token F1, paper"] == 0.301
    assert all(math.isnan(row["judge accuracy"]) for row in rows.values())
    assert "--judge" in entry.difference([*rows.values()])
    assert "--judge" not in entry.difference([*rows.values()], models=True)


def test_answers_are_measured_beside_the_printed_ones(by_models):
    rows = {row["method"]: row for row in entry_of("segtreemem", "Table 4").measure(by_models)}
    assert len(rows) == 9
    for name, row in rows.items():
        if name in ("A-MEM", "Mem0", "HippoRAG"):
            assert math.isnan(row["judge accuracy"])
            continue
        # Two graded by the judge, the adversarial one by rule; the last has no gold answer.
        assert row["judge accuracy"].value == pytest.approx(2 / 3)
        assert row["token F1"].n == 3
    assert rows["SegTreeMem, top-down"]["judge accuracy, paper"] == 0.636


def test_the_best_propagation_is_chosen_by_the_judge(by_models, monkeypatch):
    monkeypatch.setitem(paper_tables.GRID, "alphas", (0.1, 0.9))
    monkeypatch.setitem(paper_tables.GRID, "horizons", (1,))
    rows = {row["method"]: row for row in entry_of("segtreemem", "Table 7").measure(by_models)}
    none = rows["SegTreeMem, no propagation"]
    best = rows["SegTreeMem, best (bottom-up 0.1, H 1)"]
    assert best["category 1"].value == best["category 4"].value == 1
    assert best["category 5"].value == 0
    assert best["category 3"].n == 0
    assert (none["category 1, paper"], best["category 4, paper"]) == (0.47, 0.894)
    assert best["all, paper"] == 0.668


def test_trees_that_a_model_builds_have_a_shape_and_calls(by_models):
    rows = {row["method"]: row for row in entry_of("segtreemem", "Table 5").measure(by_models)}
    for name in ("batch", "pointwise", "cosine"):
        assert rows[f"SegTreeMem {name}"]["calls per leaf"] > 0
        assert not math.isnan(rows[f"SegTreeMem {name}"]["greatest depth"])
    assert rows["SegTreeMem batch"]["calls per leaf"] > rows["SegTreeMem cosine"]["calls per leaf"]


def test_the_loss_of_a_batch_tree_is_judged(by_models):
    rows = {
        row["construction"]: row for row in entry_of("segtreemem", "Table 3").measure(by_models)
    }
    for name in ("clusters, no time", "segment tree, batch"):
        assert rows[name]["loss, judge"].value == 0  # every answer is the same here
    assert math.isnan(rows["segment tree, cosine"]["loss, judge"])
    assert rows["segment tree, batch"]["loss, judge, paper"] == pytest.approx(0.101)


def test_an_entry_without_models_asks_none(by_models, clients):
    assert entry_of("segtreemem", "Table 1").measure(by_models)
    assert not clients.server.asked


def test_figures_are_measured_by_the_model_on_its_own_tree(by_models, clients, monkeypatch):
    monkeypatch.setitem(paper_tables.GRID, "alphas", (0.1, 0.9))
    monkeypatch.setitem(paper_tables.GRID, "horizons", (2,))
    best = entry_of("segtreemem", "Table 6").measure(by_models)[-1]
    sent = len(clients.server.asked)
    for table in ("Figure 6", "Figure 7", "Figure 12", "Figure 13", "Figure 14"):
        entry = entry_of("segtreemem", table)
        rows = entry.measure(by_models)
        assert "judge accuracy" in entry.drawn(rows).y
        assert {row["judge accuracy"].n for row in rows} == {3}
        if entry.by == "over_alpha":  # the highest of Table 6 is among them
            found = [row["judge accuracy"].value for row in rows]
            assert max(found) == best["judge accuracy"].value
    assert len(clients.server.asked) == sent  # Table 6 has asked and graded all of it
    rows = entry_of("segtreemem", "Figure 4").measure(by_models)
    assert {row["construction"].rpartition(", ")[2] for row in rows} == {
        *("no time", "cosine", "pointwise", "batch")
    }


def replaying(clients, path):
    """A bench with an empty cache whose server knows the replies so far, and no other."""
    replies = {str(one["messages"]): clients.server.answer(one) for one in clients.server.asked}

    def replay(request):
        known.add(str(request["messages"]))
        return replies[str(request["messages"])]

    known = set()
    clients.server.answer = replay
    fresh = Models(clients.server, clients.endpoint, path)
    return Bench([few()], embedder="hashing", chat=models_of(fresh)), replies, known


def test_all_42_settings_are_graded_once_and_figures_read_them(by_models, clients, tmp_path):
    """The whole grid of the paper: 2 policies, 7 decays and 3 horizons, and none."""
    graded = entry_of("segtreemem", "Table 6").measure(by_models)
    sent = len(clients.server.asked)
    curves = entry_of("segtreemem", "Figure 13").measure(by_models)
    drawn = {(row["policy"], row["α"], row["horizon"]) for row in curves}
    assert len({one for one in drawn if one[2].startswith("H ")}) == 42
    best = max(row["judge accuracy"].value for row in curves)
    assert best == graded[-1]["judge accuracy"].value
    for name in ("Table 7", "Figure 6", "Figure 12", "Figure 14"):
        assert entry_of("segtreemem", name).measure(by_models)
    assert len(clients.server.asked) == sent
    # A server that replays is asked nothing else by the figures, and they are the same.
    again, replies, known = replaying(clients, tmp_path / "replayed.sqlite")
    assert entry_of("segtreemem", "Figure 13").measure(again) == curves
    assert entry_of("segtreemem", "Table 6").measure(again) == graded
    assert known == set(replies)


def test_the_cost_with_models_is_what_they_were_sent(by_models, clients, tmp_path):
    entry, ticks = entry_of("segtreemem", "Figure 5"), iter(range(1_000_000))
    rows = entry.measure(replace(by_models, clock=lambda: float(next(ticks))))
    systems = dict.fromkeys(row["system"] for row in rows)
    assert {"segment tree, pointwise", "segment tree, batch"} <= set(systems)
    assert len(systems) == len(SYSTEMS) + 3  # four segment trees
    # Each build alone sends the prompts that its row counts.
    for system, (name, settings) in {
        "raptor": ("raptor", paper_measures.by_models("raptor")),
        "segment tree, batch": ("segment-tree", BATCH),
        "segment tree, cosine": ("segment-tree", {**BATCH, "compatibility": "cosine"}),
    }.items():
        fresh = Models(clients.server, clients.endpoint, tmp_path / f"{name}-{len(system)}.sqlite")
        before = len(clients.server.asked)
        segviz.build(few(), name, embedder="hashing", chat=models_of(fresh), **settings)
        sent = clients.server.asked[before:]
        words = sum(len(part["content"].split()) for one in sent for part in one["messages"])
        counted, began = 0.0, 0
        for row in (row for row in rows if row["system"] == system):
            counted += row["tokens of prompts per unit"] * (row["units"] - began)
            began = row["units"]
        assert counted == pytest.approx(words), system
        assert sent
    parts = [row["units"] for row in rows if row["system"] == "segment tree, batch"]
    assert len(parts) == 5
    assert parts == sorted(parts)
    assert parts[-1] == len(few().units("exchange"))


BATCH = {"annotate": "llm", "compatibility": "batch", "refresh": "joined"}


def test_written_texts_come_in_the_place_of_a_models(by_models, clients, monkeypatch):
    """The server replays the texts written for the sample, each for what it has most words of."""
    monkeypatch.setitem(paper_tables.GRID, "alphas", (0.3,))
    monkeypatch.setitem(paper_tables.GRID, "horizons", (1,))
    written = [text for _, text in sample_texts("ines-theo").values()]
    decide = clients.server.answer

    def replayed(request):
        if enum(request) or texts_under(request, "Question"):
            return decide(request)
        quoted = content_tokens(str(request["messages"]))
        return max(written, key=lambda text: len(quoted & content_tokens(text)))

    clients.server.answer = replayed
    rows = entry_of("segtreemem", "Figure 6").measure(by_models)
    assert all(row["judge accuracy"].n == 3 for row in rows)
    evidence = [
        str(one["messages"]) for one in clients.server.asked if texts_under(one, "Question")
    ]
    assert any(text[:60] in one for text in written for one in evidence)
