"""CSV, read back."""

import csv
import io
import math
import re
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import segviz
from segviz.embedding import HashingEmbedder
from segviz.evaluation import MEASURES, Mean
from segviz.evaluation.measures import sees
from segviz.evaluation.parallel import Measured
from segviz.export import (
    FORMATS,
    Sheet,
    rows_csv,
    rows_markdown,
    sweep_csv,
    sweeps_csv,
    without_texts,
)
from segviz.export.tables import cell, nodes_csv, ranks_csv, table
from segviz.export.text import legal
from tests.export.views import HOSTILE, ask_view, dag, forest, grow_view, holding, nothing
from tests.memories import built
from tests.retrieval.test_selection import literal_ranking
from tests.trees import chat


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def plain(written: str) -> str:
    """A text without the apostrophe that keeps it from being a formula."""
    return written[1:] if written[:1] == "'" and cell(written[1:])[1:2] == "'" else written


@pytest.mark.parametrize("text", [t for t in HOSTILE if legal(t).strip()[:1] in tuple("=+-@＝")])
def test_a_formula_becomes_a_text(text):
    assert cell(text).startswith("\"'")


UNSEEN = "\u00ad\u2060\u061c\u202e\u2007\u034f\ufe0f\u115f\u3164\U000e0061 \n"


@pytest.mark.parametrize("sign", UNSEEN)
def test_a_formula_after_signs_that_are_not_seen_becomes_a_text(sign):
    assert cell(f"{sign}{sign}=1+1") == f'"\'{sign}{sign}=1+1"'
    assert cell(f"{sign}a=1") == f'"{sign}a=1"'


@pytest.mark.parametrize("text", ["a=b", "1-2", "it's", "", "mail@example", "(=1)"])
def test_other_texts_stay(text):
    assert cell(text) == f'"{text}"'


@pytest.mark.parametrize(
    ("number", "written"),
    [(-1, "-1"), (-0.5, "-0.5"), (0.1, "0.1"), (None, ""), (float("nan"), "")],
)
def test_numbers_stay_numbers(number, written):
    assert cell(number) == written


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_any_text_comes_back(texts):
    (row,) = csv.reader(io.StringIO(table(texts, []), newline=""), strict=True)
    assert [plain(found) for found in row] == [plain(legal(text)) for text in texts]
    for found in row:
        assert not found.lstrip(" \n\u00a0\u3000\ufeff\u200b\u200e\u200f").startswith(
            ("=", "+", "-", "@", "\t", "\r", "＝")
        )


@given(st.floats(allow_nan=False), st.integers())
def test_any_number_comes_back_exactly(real, whole):
    (row,) = csv.reader(io.StringIO(table([], [[real, whole]])[2:]))
    assert (float(row[0]), int(row[1])) == (real, whole)


def test_nodes_hold_every_column(memory, hostile):
    for structure in (memory.structure, hostile.structure, forest(), dag()):
        rows = read(nodes_csv(holding(memory, structure)))
        assert [int(row["node"]) for row in rows] == list(range(len(structure)))
        for name in ("level", "start", "stop", "active"):
            assert [int(row[name]) for row in rows] == getattr(structure, name).tolist()
        for node, row in enumerate(rows):
            assert tuple(map(int, row["parents"].split())) == structure.parents[node]
            assert tuple(map(int, row["children"].split())) == structure.children[node]
            assert plain(row["text"]) == legal(structure.text[node])
            assert row["kind"] == structure.kind[node]
            depth = -1 if row["depth"] == "" else int(row["depth"])
            assert depth == structure.depth[node]


def test_nodes_name_the_ends_of_their_span(memory):
    for node, row in enumerate(read(nodes_csv(grow_view(memory)))):
        turns = memory.turn_ids(node)
        assert (row["first_turn"], row["last_turn"]) == (turns[0], turns[-1])
        held = {memory.units[u].session + 1 for u in memory.structure.coverage(node)}
        assert (int(row["first_session"]), int(row["last_session"])) == (min(held), max(held))
        times = [memory.units[u].time for u in memory.structure.coverage(node)]
        ends = [time.isoformat() if time else "" for time in (times[0], times[-1])]
        assert [row["first_time"], row["last_time"]] == ends
    assert any(row["first_time"] for row in read(nodes_csv(grow_view(memory))))


def test_nothing_is_a_line_of_names():
    assert read(nodes_csv(nothing())) == []
    assert nodes_csv(nothing()).count("\r\n") == 1


@pytest.mark.parametrize("literal", [True, False])
@pytest.mark.parametrize("levels", [None, (0, 1), ()])
def test_ranks_equal_a_slow_count(memory, literal, levels):
    view = ask_view(
        memory, "How many gears?", literal=literal, levels=levels, policy="both", alpha=0.5, k=3
    )
    result, structure = view.result, view.structure
    rows = read(ranks_csv(view))
    before, after = (
        {node: rank for rank, node in enumerate(literal_ranking(scores, structure, levels), 1)}
        for scores in (result.initial, result.final)
    )
    assert len(rows) == len(after)
    for row in rows:
        node = int(row["node"])
        assert int(row["rank_initial"]) == before[node]
        assert int(row["rank_final"]) == after[node]
        assert float(row["initial"]) == result.initial[node]
        assert float(row["final"]) == result.final[node]
        assert float(row["change"]) == result.final[node] - result.initial[node]
    retrieved = {int(row["node"]): int(row["retrieved"]) for row in rows if row["retrieved"]}
    assert retrieved == {item.node: item.rank_after for item in result.evidence}
    assert [int(row["node"]) for row in rows] == list(after)


def test_ranks_mark_gold(memory):
    question = memory.conversation.questions[0]
    assert question.evidence
    view = ask_view(memory, question.text, literal=True)
    view = type(view)(memory, view.structure, type(view.bookmark)(), view.result)
    for row in read(ranks_csv(view)):
        held = [t for t in memory.turn_ids(int(row["node"])) if t in question.evidence]
        assert sorted(row["gold"].split()) == sorted(held)


def test_ranks_without_a_question_are_refused(memory):
    with pytest.raises(ValueError, match="Ask"):
        ranks_csv(grow_view(memory))


@pytest.fixture(scope="module")
def swept(memory):
    (one,) = memory.conversation.questions
    questions = [
        replace(
            one, index=i, category=4 + i % 2, text=turn.text, answer=turn.text, evidence=(turn.id,)
        )
        for i, turn in enumerate(memory.conversation.turns[:6])
    ]
    return segviz.sweep(
        memory, questions, policies=["both", "bottom-up"], alphas=[0.1, 0.5], horizons=[0, 2]
    )


def test_a_sweep_comes_back(swept):
    """A row for each setting, measure and category, with and without category 5."""
    names = ("policy", "alpha", "horizon", "measure", "category", "adversarial")
    rows = {tuple(row[name] for name in names): row for row in read(sweep_csv(swept))}
    told = {counts: swept.gains("reached", adversarial=counts) for counts in (True, False)}
    for one in swept.cells:
        setting = (one.policy, one.alpha, one.horizon)
        place = (one.policy, f"{one.alpha:g}", str(one.horizon))
        for name in MEASURES:
            assert ((*place, name, "all", "1") in rows) == sees(name, one.policy)
        for counts in (True, False):
            row = rows[(*place, "reached", "all", str(int(counts)))]
            mean = one.outcomes.mean("reached", adversarial=counts)
            written = [float(row[column]) for column in ("mean", "low", "high", "n")]
            assert written == [mean.value, mean.low, mean.high, mean.n]
            if setting in told[counts]:
                gain = told[counts][setting]
                written = [float(row[f"gain{end}"]) for end in ("", "_low", "_high")]
                assert written == pytest.approx([gain.value, gain.low, gain.high], abs=1e-12)
        row = rows[(*place, "reached", "4", "1")]
        assert float(row["mean"]) == one.outcomes.mean("reached", category=4).value
        assert (row["low"], row["gain_high"]) == ("", "")  # too few for an interval
        shares = [
            float(row["mean"])
            for key, row in rows.items()
            if key[:3] == place and key[3].startswith("share_level_")
        ]
        assert shares == list(one.outcomes.levels.values())


def test_many_sweeps_stand_below_each_other(swept):
    runs = [Measured(name, "segment-tree", 0, swept) for name in ("first", "second")]
    rows, alone = read(sweeps_csv(runs)), read(sweep_csv(swept))
    assert [row["conversation"] for row in rows] == ["first"] * len(alone) + ["second"] * len(alone)
    for row, one in zip(rows, alone + alone, strict=True):
        assert row == one | {key: row[key] for key in ("conversation", "system")}
        assert row["system"] == "segment-tree"


def test_intervals_of_gains_hold_for_the_sweeps_of_all_relevances(swept):
    """With two relevances they are those of one sweep at half the chance of an error."""
    other = replace(swept, settings=replace(swept.settings, relevance="lexical"))
    runs = [Measured("c", "segment-tree", 0, one) for one in (swept, other)]
    rows, alone = read(sweeps_csv(runs)), read(sweep_csv(swept))
    told = swept.gains("reached", sweeps=2)
    for row, one in zip(rows, alone + alone, strict=True):
        if row["gain_low"] and (row["measure"], row["adversarial"]) == ("reached", "1"):
            setting = row["policy"], float(row["alpha"]), int(row["horizon"])
            if setting in told:
                written = [float(row["gain_low"]), float(row["gain_high"])]
                assert written == pytest.approx([told[setting].low, told[setting].high])
                assert written[1] - written[0] >= float(one["gain_high"]) - float(one["gain_low"])
    for row, one in zip(rows, read(sweep_csv(swept, 2)), strict=False):
        assert one.items() <= row.items()


def test_rows_of_any_table_hold_means_with_their_bounds():
    rows = [
        {"setting": "=1+1|2", "recall": Mean(0.5, 0.25, 0.75, 4), "nodes": 1234.5},
        {"setting": "two\nlines", "recall": Mean(math.nan, math.nan, math.nan, 0)},
        {"setting": "one", "recall": Mean(0.5, math.nan, math.nan, 1)},
    ]
    assert rows_csv(rows).split("\r\n") == [
        '"setting","recall","recall low","recall high","nodes"',
        '"\'=1+1|2",0.5,0.25,0.75,1234.5',
        '"two\nlines",,,,',
        '"one",0.5,,,',
        "",
    ]
    assert rows_markdown(rows) == (
        "| setting | recall | nodes |\n| --- | --- | --- |\n"
        "| =1+1\\|2 | 0.500 [0.250, 0.750] | 1,234 |\n| two lines |  |  |\n| one | 0.500 |  |\n"
    )


def in_full(made) -> str:
    """All that a file has to read: a picture's page, the unpacked parts of a session."""
    made = made.html if isinstance(made, Sheet) else made
    if isinstance(made, bytes) and made[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(made)) as parts:
            made = b"\n".join(parts.read(name) for name in parts.namelist())
    return made if isinstance(made, str) else made.decode("utf-8", "replace")


def words(text: str) -> set[str]:
    return set(re.findall(r"[\w:-]+", text))


@pytest.mark.parametrize("system", ["segment-tree", "h-mem", "memforest"])
def test_a_bare_export_has_structure_and_scores_but_no_text_and_no_name(system, tmp_path):
    memory = built(system, sessions=6, embedder=HashingEmbedder())
    conversation = memory.conversation
    view = ask_view(memory, conversation.questions[0].text)
    typed = {"varied-values": conversation.turns[0].speaker}
    view = replace(view, bookmark=replace(view.bookmark, controls=typed))
    formats = {
        name: one
        for name, one in FORMATS.items()
        if one.bare and not (name == "animation" and view.result.native)
    }
    whole, bare = (
        {name: in_full(one.make(each)) for name, one in formats.items()}
        for each in (view, without_texts(view))
    )
    # What is in the exports of a single turn under a neutral name belongs to no conversation.
    few = segviz.build(chat([[("S", "x")]]), system, embedder=HashingEmbedder())
    neutral = without_texts(ask_view(few, "x"))
    known = "".join(in_full(one.make(neutral)) for one in formats.values()).lower()
    private = {conversation.id, *(turn.id for turn in conversation.turns)}
    private |= {
        word for turn in conversation.turns for word in re.findall(r"[^\W\d_]{4,}", turn.content)
    }
    private |= {turn.speaker for turn in conversation.turns}
    private = {word for word in private if word.lower() not in known}
    assert len(private) > 500
    for name in formats:
        assert private & words(whole[name]), name
        assert private & words(bare[name]) == set(), name
    assert bare["graphml"].count("<node ") == whole["graphml"].count("<node ")
    assert bare["graphml"].count("<edge ") == whole["graphml"].count("<edge ")
    columns = ("level", "kind", "initial", "final", "rank_final", "retrieved")
    for name in ("nodes", "ranks"):
        for old, new in zip(read(whole[name]), read(bare[name]), strict=True):
            assert [old[each] for each in columns if each in old] == [
                new[each] for each in columns if each in new
            ]
            assert len(old.get("gold", "").split()) == len(new.get("gold", "").split())
    path = tmp_path / "bare.npz"
    path.write_bytes(FORMATS["session"].make(without_texts(view)))
    opened = segviz.open(path).structure
    assert opened.level.tolist() == memory.structure.level.tolist()
    assert opened.edges.tolist() == memory.structure.edges.tolist()
    assert opened.collapsed.active.tolist() == memory.structure.collapsed.active.tolist()
