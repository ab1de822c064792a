"""How far gold turns come: each stage, against a slow restatement, for every system."""

from dataclasses import replace
from functools import cache

import pytest

import segviz
from segviz.conversation import UNIT_RULES, Conversation, Session, StoredText, Turn
from segviz.embedding import HashingEmbedder
from segviz.evaluation.stages import (
    NEVER_WRITTEN,
    NOT_RANKED,
    STAGE_CHART,
    STAGES,
    curve_rows,
    evidence_stages,
    occurring,
    stage_rows,
    with_answers,
)
from segviz.figures.charts import rows_figure
from segviz.memory import system_of
from segviz.text.words import quotes
from tests.data import real_data
from tests.evaluation import restated
from tests.memories import KINDS, built, sample

EMBEDDER = HashingEmbedder()


@cache
def facts_memory():
    """A memory of every third turn of the sample, reworded, over ghosts."""
    conversation = sample(sessions=3)
    kept = conversation.turns[::3]
    facts = [StoredText(t.id, f"{t.speaker} said that {t.text}", (t.id,)) for t in kept]
    return segviz.memory_from(facts, conversation=conversation, embedder=EMBEDDER)


def holding(memory, structure, turn, question, parts=None):
    """Nodes that hold a turn, by the definition: its leaf, else the memories made from it, and
    nodes above whose text quotes it or states its answer; of texts that are cut, by their parts."""
    contents = {each: memory.conversation.turn(each).content for each in question.evidence}
    content, found = contents[turn], set()
    gives = restated.gives(question.answer or "", [*contents.values()])
    given = gives[[*contents].index(turn)]
    for node in range(len(structure)):
        if not structure.active[node] or turn not in memory.turn_ids(node, structure):
            continue
        ghost = structure.kind[node] == "ghost"
        made = any(
            structure.kind[child] == "ghost" and turn in memory.turn_ids(child, structure)
            for child in structure.children[node]
        )
        own = made or (structure.level[node] == 0 and not ghost)
        text = (parts or {}).get(node, structure.text[node])
        says = bool(given) and all(restated.states(text, part) for part in given)
        if len(text) < len(structure.text[node]):
            own, says = False, says and not own
        if own or (not ghost and (says or quotes(text, content))):
            found.add(node)
    return found


@pytest.mark.parametrize("budget", [None, 1, 60, 400])
@pytest.mark.parametrize("name", [*KINDS, "facts"])
def test_every_stage_equals_a_slow_restatement(name, budget):
    memory = facts_memory() if name == "facts" else built(name, sessions=3)
    asked = memory.conversation.questions
    found = evidence_stages(memory, asked, k=4, budget=budget, relevance="lexical")
    expected = []
    for question in asked:
        result = memory.ask(question, k=4, relevance="lexical")
        s = result.structure
        nodes = [n for n in range(len(s)) if s.active[n] and s.kind[n] != "ghost"]
        order = sorted(nodes, key=lambda n: (-result.final[n], n))
        parts = {node: s.text[node] for node in order[:4]}
        if budget is not None:
            parts = dict(restated.paid(order, s.text, budget))
        for turn in question.evidence:
            at = sorted(order.index(node) for node in holding(memory, s, turn, question))
            if not at:
                stage = "never written"
            elif parts.keys() & holding(memory, s, turn, question, parts):
                stage = "read"
            else:
                stage = "ranked, not read" if budget else "written, not ranked"
            expected.append((question.index, turn, stage, at[0] + 1 if at else None))
    assert [(one.question, one.turn, one.stage, one.rank) for one in found] == expected
    for one in found:
        assert (one.node is None) == (one.stage == "never written")
        if one.stage == "written, not ranked":
            assert one.score <= one.needed
    if budget is None:
        assert not any(one.stage == "ranked, not read" for one in found)


@pytest.mark.parametrize("more", [{"deduplicate": True}, {"expand": 2}, {"levels": (0,)}])
@pytest.mark.parametrize("name", ["segment-tree", "facts"])
def test_what_a_larger_k_would_read_is_what_it_reads(name, more):
    """Ranks are places in the longest reading, and the curve is that of readings one by one."""
    memory = facts_memory() if name == "facts" else built(name, sessions=6)
    asked = memory.conversation.questions
    found = evidence_stages(memory, asked, k=5, **more)
    for one in found:
        question = asked[one.question]
        s = memory.ask(question).structure
        every = memory.ask(question, k=len(s), **more).after
        held = holding(memory, s, one.turn, question)
        places = [place for place, node in enumerate(every, start=1) if node in held]
        assert one.rank == min(places, default=None)
        assert one.stage == "never written" or (one.stage == "read") == any(p <= 5 for p in places)
        assert one.above == every[:100][: one.rank - 1 if one.rank else 100]
    shares = {row["read"]: row["share"] for row in curve_rows(found)}
    for k in (1, 2, 5, 10, 20):
        (row,) = stage_rows(evidence_stages(memory, asked, k=k, **more))
        assert shares[f"{k} texts"] == row["read"]


def test_a_store_of_every_third_turn_loses_the_others_at_writing():
    memory = facts_memory()
    kept = {turn.id for turn in memory.conversation.turns[::3]}
    for one in evidence_stages(memory, memory.conversation.questions):
        assert (one.stage == "never written") == (one.turn not in kept)


def test_what_a_systems_own_retrieval_does_not_return_has_no_rank():
    memory = built("bm25", sessions=3)
    (question, *_) = memory.conversation.questions
    asked = replace(question, text="zzz qqq")
    stages = evidence_stages(memory, [asked], method="native")
    assert {(one.stage, one.rank) for one in stages} == {("written, not ranked", None)}


@pytest.mark.parametrize("name", ["bm25", "h-mem", "raptor", "memforest"])
def test_what_a_systems_own_retrieval_loses_to_a_budget_a_larger_one_reads(name):
    memory = built(name, sessions=6)
    asked = memory.conversation.questions
    few, most = (
        evidence_stages(memory, asked, k=5, budget=budget, method="native")
        for budget in (60, 10_000_000)
    )
    for one, other in zip(few, most, strict=True):
        fate = ("read", "ranked, not read")[one.stage != "read"]
        assert one.stage == (fate if other.stage == "read" else other.stage)
        if one.stage == "ranked, not read":
            result = memory.ask(asked[one.question], k=5, budget=one.tokens, method="native")
            assert result.after[-1] == one.node
            assert not result.evidence[-1].cut
    assert {"ranked, not read", "read"} <= {one.stage for one in few}


def test_what_was_said_after_the_question_is_not_yet_written():
    memory = built("dense", sessions=3)
    last = memory.conversation.turns[-1].id
    question = replace(memory.conversation.questions[0], evidence=(last,), asked_at=last)
    (one,) = evidence_stages(memory, [question])
    assert one.stage == "never written"


def test_turns_that_were_read_for_a_wrong_answer_are_told_apart():
    memory = facts_memory()
    asked = memory.conversation.questions
    plain = evidence_stages(memory, asked, k=30)
    wrong, *others = {one.question for one in plain if one.stage == "read"}
    right = {wrong: False, **dict.fromkeys(others[:2], True)}
    for before, one in zip(plain, with_answers(plain, right), strict=True):
        changed = before.stage == "read" and one.question == wrong
        assert one.stage == ("read, answered wrong" if changed else before.stage)


@pytest.mark.parametrize("by", ["", "category", "session"])
def test_shares_of_each_group_add_up_and_are_drawn(by):
    memory = facts_memory()
    found = evidence_stages(memory, memory.conversation.questions)
    rows = stage_rows(found, by)
    assert sum(row["gold turns"] for row in rows) == len(found)
    for row in rows:
        assert sum(row[stage] for stage in STAGES) == pytest.approx(1)
    colours = ["#111", "#444", "#888", "#aaa", "#ccc"]
    figure = rows_figure(rows, STAGE_CHART, colours=colours, neutral="#000")
    assert {trace.name for trace in figure.data} >= {*STAGES}
    assert {one.stage for one in found} == {*occurring(stage_rows(found))}


def test_a_turn_whose_nodes_are_not_admissible_is_not_ranked():
    memory = facts_memory()
    stages = evidence_stages(memory, memory.conversation.questions, levels=(9,))
    assert {one.stage for one in stages} <= {NEVER_WRITTEN, NOT_RANKED}
    assert all(one.rank is None for one in stages)


# --- the unit rule does not matter ------------------------------------------------------------


@pytest.mark.parametrize("unit", [*UNIT_RULES])
@pytest.mark.parametrize("form", ["named", "spoken", "content"])
def test_stages_of_a_store_are_those_of_its_own_lists_under_any_unit(form, unit):
    """Deleted, outranked, cut and read turns of a store of single turns are known by its lists."""
    conversation = sample(sessions=4)
    asked = conversation.questions
    gone = {*sorted({turn for question in asked for turn in question.evidence})[::3]}
    kept = [turn for turn in conversation.turns if turn.id not in gone]
    text_of = {turn.id: turn.content if form == "content" else turn.spoken for turn in kept}

    class Store:
        def add(self, turn):
            pass

        def texts(self):
            named = {"turns": lambda turn: [turn]} if form == "named" else {}
            return [
                {"text": text} | {name: of(turn) for name, of in named.items()}
                for turn, text in text_of.items()
            ]

        def search(self, question, k):
            order = sorted(text_of, key=lambda turn: (len(turn), turn), reverse=len(question) % 2)
            return [text_of[turn] for turn in order[:k]]

    memory = segviz.build(conversation, system_of(Store, "mine")(), unit, embedder=EMBEDDER)
    stages = evidence_stages(memory, asked, k=30, budget=300, method="native")
    assert {one.turn for one in stages if one.stage == "never written"} >= gone
    for one in stages:
        listed = [*Store().search(asked[one.question].text, 30)]
        spent, paid = 0, []
        for text in listed:
            if spent < 300:
                paid.append(text)
            spent += -(-len(text) // 4)
        if one.turn in gone:
            expected = "never written"
        elif text_of.get(one.turn) not in listed:
            expected = "written, not ranked"
        else:
            expected = "read" if text_of[one.turn] in paid else "ranked, not read"
        assert one.stage == expected
    assert len({one.stage for one in stages}) == 4


@pytest.mark.parametrize("unit", [*UNIT_RULES])
def test_equal_texts_stand_for_the_turns_in_order(unit):
    said = [("A", "Yes"), ("B", "I was in Rome"), ("A", "Yes"), ("B", "I was in Oslo")]
    turns = tuple(Turn(f"D1:{i}", *each) for i, each in enumerate(said))
    whole = Conversation("c", ("A", "B"), (Session("session_1", None, "", turns),))

    def sources(*texts):
        memory = segviz.memory_from(
            [{"id": str(i), "text": text} for i, text in enumerate(texts)],
            conversation=whole,
            unit=unit,
            embedder=EMBEDDER,
        )
        nodes = [n for n in range(len(memory.structure)) if memory.structure.retrievable[n]]
        return {str(memory.structure.facts[node]["id"]): memory.turn_ids(node) for node in nodes}

    every = [turn.spoken for turn in turns]
    assert sources(*every) == {str(i): (f"D1:{i}",) for i in range(4)}
    assert sources(*every[1:])["1"] == ("D1:2",)
    assert sources("\n".join(every[2:])) == {"0": ("D1:2", "D1:3")}


# --- LoCoMo's own facts ----------------------------------------------------------------------


def test_the_samples_bring_no_facts_and_say_so():
    with pytest.raises(ValueError, match="brings no facts"):
        segviz.locomo_facts(sample())


def test_facts_of_locomo_are_a_memory():
    conversation = segviz.load(real_data("locomo", "locomo5.json"))["conv-30"]
    memory = segviz.locomo_facts(conversation, embedder=EMBEDDER)
    s = memory.structure
    assert memory.check() == []
    assert memory.system == "locomo-facts"
    assert s.level.tolist().count(1) == len(conversation.observations)
    found = evidence_stages(memory, conversation.questions, policy="none", relevance="lexical")
    (row,) = stage_rows(found)
    assert 0.1 < row["never written"] < 0.4
    assert row["read"] > 0.4
