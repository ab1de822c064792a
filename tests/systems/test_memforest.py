"""MemForest: trees against random insertions, facts, routing, retrieval, lifecycle."""

import math
import re
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import segviz
from segviz.construct.tasks import Offline
from segviz.embedding import HashingEmbedder
from segviz.systems import SYSTEMS, MemForest
from segviz.systems.common.structure_editor import Draft
from segviz.systems.memforest.retrieval import BROWSES, VIEWS
from segviz.systems.memforest.trees import Forest
from segviz.tree import Step, history, replay
from segviz.tree.invariants import check
from segviz.tree.structure import reachable
from tests.systems import common
from tests.systems.common import Blank, best, bracket, clean, near, nodes
from tests.trees import ZERO, chat, small_chat, unit

build = partial(common.build, "memforest")


class Counted:
    """An annotation that counts how often it writes."""

    def __init__(self):
        self.calls = 0

    def __call__(self, texts):
        self.calls += 1
        return " ".join(texts)[:200]


class Woodland:
    """One tree over items with given times, checked against a sorted list."""

    def __init__(self, k):
        self.draft = Draft(Blank())
        self.annotate = Counted()
        self.forest = Forest(self.draft, self.annotate, "summarised")
        self.k = k
        self.root = None
        self.times = {}
        self.events = []

    def add(self, when):
        index = len(self.times)
        leaf = self.draft.leaf(unit(index), ZERO)
        facts = {"from": when, "to": when, "items": 1, "dated": False}
        item = self.draft.add(1, [leaf], f"item {index}", "fact", facts)
        self.times[item] = when
        if self.root is None:
            self.root = self.forest.plant("scene", "s", "", self.k, item)
        else:
            self.forest.insert(self.root, item)
        return item

    def structure(self):
        self.events += self.draft.changes()
        return replay([Step(unit(0), "", None, tuple(self.events))])


class TestTrees:
    @settings(max_examples=30)
    @given(st.integers(3, 6), st.lists(st.integers(0, 20), max_size=60))
    def test_any_insertions_in_order_of_time_and_arrival(self, k, script):
        wood = Woodland(k)
        held = []
        for when in script:
            held.append(wood.add(float(when)))
            items = wood.forest.items(wood.root)
            assert items == sorted(held, key=wood.times.__getitem__)
            wood.forest.summaries.refresh()
            s = wood.structure()
            assert check(s, SYSTEMS["memforest"].invariants) == []
            height = int(s.level[wood.root]) - 1
            assert height <= max(1, math.ceil(math.log2(len(held))))


def talk(*sessions):
    """Sessions of one speaker's lines, two weeks apart."""
    told = [[("Ada", text) for text in texts] for texts in sessions]
    return chat(told, (), datetime(2023, 1, 16), range(0, 14 * len(told), 14))


def under(structure, node):
    """The facts below a node."""
    return set(nodes(structure, "fact")) & reachable(structure.children, [node])


CLARA = [
    ["I met Clara in the garden.", "Clara painted the fence green."],
    ["I phoned Clara about the boat.", "We sold the boat quickly."],
]


class TestWriting:
    def test_cells_hold_two_turns_and_give_facts_when_closed(self):
        memory = build(talk(["I sold the boat.", "I bought a lamp.", "I fixed the door."]))
        clean(memory)
        s = memory.structure
        assert [s.coverage(c) for c in nodes(s, "cell")] == [(0, 1), (2,)]
        assert [s.facts[c]["closed"] for c in nodes(s, "cell")] == [True, False]
        assert len(nodes(s, "fact")) == 2
        assert len(nodes(memory.at(1), "fact")) == 0

    def test_a_new_session_closes_what_was_open(self):
        s = build(talk(["I sold the boat."], ["I bought a lamp.", "I fixed the door."])).structure
        assert all(s.facts[c]["closed"] for c in nodes(s, "cell"))
        assert len(nodes(s, "session")) == 2

    def test_a_repeated_fact_is_one_fact_with_two_occurrences(self):
        memory = build(
            talk(["I sold the old boat.", "It rained."], ["I sold the old boat.", "So."])
        )
        s = memory.structure
        (fact,) = [n for n in nodes(s, "fact") if "boat" in s.text[n]]
        assert s.facts[fact]["occurrences"] == 2
        assert s.coverage(fact) == (0, 2)

    def test_an_entity_gets_its_tree_with_three_facts_from_two_sessions(self):
        memory = build(talk(*CLARA))
        clean(memory)
        labels = [{s.facts[n]["label"] for n in nodes(s, "entity")} for s in history(memory.steps)]
        assert [("clara" in found) for found in labels] == [False, False, False, True]
        s = memory.structure
        tree = next(n for n in nodes(s, "entity") if s.facts[n]["label"] == "clara")
        assert s.facts[tree]["items"] == 3
        assert "gets a tree" in memory.steps[3].note

    @pytest.mark.parametrize("unit", ["turn", "exchange"])
    def test_cells_are_summarised_from_their_turns_or_passed_through(self, unit):
        """Algorithm 1, lines 22-23, at every step."""
        for leaves in ("summarised", "passed through"):
            memory = segviz.build(
                talk(*MANY), "memforest", unit, embedder=HashingEmbedder(), leaves=leaves,
                annotate=bracket,
            )  # fmt: skip
            clean(memory)
            for s in history(memory.steps):
                for cell in nodes(s, "cell"):
                    turns = "\n".join(s.text[u] for u in s.children[cell]).split("\n")
                    whole = bracket(turns) if len(turns) > 1 else turns[0]
                    assert s.text[cell] == (whole if leaves == "summarised" else "\n".join(turns))

    def test_sizes_are_kept(self):
        few = build(talk(*MANY), buffer=6, full=5, extracted=1, duplicate=1.0)
        clean(few)
        s = few.structure
        for at in history(few.steps):
            assert bool(nodes(at, "scene")) == (len(nodes(at, "fact")) >= 6)
        assert max(s.facts[n]["items"] for n in nodes(s, "scene")) == 5
        assert all(
            sum(bool(set(s.children[c]) & set(s.children[f])) for f in nodes(s, "fact")) <= 1
            for c in nodes(s, "cell")
        )
        for name, value in (("entity_facts", 99), ("entity_sessions", 5)):
            trees = nodes(build(talk(*MANY), **{name: value}).structure, "entity")
            assert len(trees) == 1, name  # the speaker's

    def test_scenes_are_chosen_by_centroid_and_nearness(self):
        memory = build(talk(*MANY), nearness=0.3, near_days=20, buffer=6, duplicate=1)
        checked = 0
        for before, after, step in zip(
            [None, *history(memory.steps)], history(memory.steps), memory.steps, strict=False
        ):
            for judged in step.decision.candidates if step.decision else ():
                if not judged.label.startswith("scene for fact"):
                    continue
                fact = int(judged.label.split()[-1])
                if fact < len(before) or judged.node >= len(before):
                    continue  # the tree grew in this very step
                mean = before.vector[sorted(under(before, judged.node))].mean(axis=0)
                likeness = float(after.vector[fact] @ mean / np.linalg.norm(mean))
                start, stop = (before.facts[judged.node][name] for name in ("from", "to"))
                when = after.facts[fact]["from"]
                days = max(start - when, when - stop, 0) / 86400
                near = likeness + 0.3 * (1 - min(days / 20, 1))
                checked += math.isclose(judged.score, near, abs_tol=1e-4)
        assert checked > 3

    @pytest.mark.parametrize("merge", [0.3, 0.6])
    def test_scenes_become_one_where_their_centroids_are_near(self, merge):
        memory = build(talk(*MANY), merge=merge, spawn=0.7, second=0.7, buffer=6)
        told = [
            re.search(r"scene (\d+) joined scene (\d+) at (\S+);", step.note)
            for step in memory.steps
        ]
        assert any(told) == (merge == 0.3)
        for found, before, after in zip(
            told, [None, *history(memory.steps)], history(memory.steps), strict=False
        ):
            if not found:
                continue
            gone, kept = int(found[1]), int(found[2])
            assert not after.active[gone]
            held = under(after, kept)
            assert gone >= len(before) or under(before, gone) <= held
            assert 2 <= len(held) <= memory.model.full
            assert float(found[3]) >= merge

    def test_lazy_writes_less_and_what_waits_is_written_before_a_question(self):
        writers = Counted(), Counted()
        lazy, eager = (
            build(small_chat(), refresh=refresh, annotate=writer)
            for refresh, writer in zip(("lazy", "eager"), writers, strict=True)
        )
        assert writers[0].calls < writers[1].calls
        clean(lazy)
        for step in range(len(lazy.steps) + 1):
            assert lazy.settled(step).text == eager.at(step).text
            assert eager.pending(step) == ()
        assert lazy.pending(2) != ()
        assert lazy.pending(len(lazy.steps)) == ()


@dataclass(frozen=True)
class Planner(Offline):
    """Asks every tree for its own label and the question's last word."""

    def focus(self, text, roots):
        return [f"{root.split(']')[0][-9:]} {text.split()[-1]}" for root in roots]


THINGS = ["boat", "lamp", "door", "fence", "chair", "clock", "kettle"]
MANY = [
    *CLARA,
    [f"I painted the {t} in May with Clara." for t in THINGS for _ in "ab"],
    [f"I {v} the {t} in June." for v in ("sold", "fixed") for t in THINGS],
]


def recalled(s, model, roots, whole):
    """The trees of highest joint score."""
    votes = best(nodes(s, "fact"), whole)[: model.voters]
    score = {}
    for root in roots:
        inside = reachable(s.children, [root])
        units = {n for n in inside if s.level[n] == 0 and s.kind[root] == "session"}
        held = [whole[f] for f in votes if f in inside or units & set(s.children[f])]
        score[root] = 0.5 * whole[root] + 0.5 * max(held, default=0.0)
    kept = best(roots, score)[: model.trees]
    users = [r for r in roots if s.kind[r] == "entity" and s.facts[r]["label"] == "ada"]
    return list(dict.fromkeys([*kept, *users]))


def walked(s, model, asked):
    """What the rounds of the beams keep, all trees together; ``asked`` gives each root the cosines
    of its question. Source: the authors' code, a beam in each tree."""
    rounds, settled = [], set()
    for root, near_ in asked.items():
        front, reached, depth = [root], [], 0
        while front and len(reached) < model.beam:
            children = [child for node in front for child in s.children[node]]
            took = sorted(children, key=lambda n: -near_[n])[: model.beam - len(reached)]
            rounds += [set()] * (depth == len(rounds))
            rounds[depth] = rounds[depth] | set(took)
            reached += [n for n in took if s.level[n] == 1]
            front = [n for n in took if s.level[n] > 1]
            depth += 1
        settled |= set(reached)
    return rounds, settled


def restated(memory, model, question):
    """MemForest §4.3 from the structure alone: what each round keeps, and the evidence."""
    s, whole = memory.structure, near(memory, question)
    roots = nodes(s, *model.families.replace(" only", "").split("+"))

    def facts_at(cell):
        return [f for f in nodes(s, "fact") if set(s.children[cell]) & set(s.children[f])]

    def told(leaf):
        return {leaf} if s.kind[leaf] == "fact" else set(facts_at(leaf) or s.children[leaf])

    if model.browse == "flat-10" or not roots:
        every = nodes(s, "fact") + [c for c in nodes(s, "cell") if not facts_at(c)]
        return [], best(set().union(*map(told, every)), whole)[:50]
    kept = recalled(s, model, roots, whole)
    if model.browse == "root-only":
        return [], best(kept, whole)
    texts = [question] * len(kept)
    if model.browse == "emb+planner":
        texts = Planner().focus(question, [s.text[n] for n in kept])
    asked = {root: near(memory, text) for root, text in zip(kept, texts, strict=True)}
    rounds, leaves = walked(s, model, asked)
    return rounds, best(set().union(*map(told, leaves)), whole)


@pytest.fixture(scope="module")
def many():
    return build(talk(*MANY))


class TestRecall:
    @pytest.mark.parametrize("families", VIEWS)
    @pytest.mark.parametrize("browse", ["emb", "emb+planner", "flat-10", "root-only"])
    def test_the_course_restated(self, many, families, browse):
        asked = ("What was sold in May?", "Did Ada and Clara paint the boat?")
        for question, beam in product(asked, (2, MemForest().beam)):
            model = MemForest(families=families, browse=browse, trees=3, beam=beam, tasks=Planner())
            found = model.retrieve(question, many.view("dense", 50))
            rounds, ranked = restated(many, model, question)
            stages = [st for st in found.stages if st.name.startswith("browse")]
            assert [set(st.kept) for st in stages] == rounds
            assert list(found.ranked[: len(ranked)]) == ranked
            assert ranked

    @pytest.mark.parametrize(("speaker", "forced"), [("Ada", {"ada"}), ("user", {"user"})])
    def test_the_tree_of_the_user_is_always_browsed(self, speaker, forced):
        said = [[(speaker, line) for line in lines] for lines in CLARA]
        memory = build(chat([*said, [("assistant", "The roof of the house is red.")] * 2]))
        s = memory.structure
        found = MemForest(trees=1).retrieve("roof", memory.view("dense"))
        others = found.stages[0].kept[1:]
        assert {s.facts[root]["label"] for root in others} >= forced
        assert ("assistant" in {s.facts[root]["label"] for root in others}) == (speaker == "Ada")

    def test_offline_a_tree_is_asked_the_part_it_shares_most_words_with(self):
        asked = "Did Ada and Clara paint?"
        parts = ["Did Ada paint?", "Did Clara paint?"]
        assert Offline().focus(asked, ["[clara]\nClara paints.", "Ada: I left.", "rain"]) == [
            parts[1],
            parts[0],
            asked,
        ]


def test_a_model_extracts_writes_and_browses(model_chat):
    memory = build(small_chat(), tasks="llm", annotate="llm", chat=model_chat)
    assert memory.check() == []
    assert sum(s.cost.calls for s in memory.steps) > 9
    asked = "What colour is the bicycle?"
    courses = {}
    for browse in BROWSES:
        again = replace(memory, settings={**memory.settings, "browse": browse})
        stages = again.ask(asked, method="native", chat=model_chat).stages
        courses[browse] = [stage.note for stage in stages if "By the model" in stage.note]
        assert again.ask(asked, method="native").evidence
    assert [len(courses[row]) for row in ("emb", "flat-10", "root-only")] == [0, 0, 0]
    assert len(courses["emb+planner"]) == 1
    assert courses["llm+planner"][0] == courses["emb+planner"][0]
    assert len(courses["llm+planner"]) == len(courses["llm"]) + 1 > 1


class SideBySide(Offline):
    """Rules that note what they are asked for together, and what alone."""

    def __init__(self):
        object.__setattr__(self, "together", [])
        object.__setattr__(self, "alone", [])

    def extract(self, text, when, known=(), most=40):
        self.alone.append(text)
        return super().extract(text, when, known, most)

    def extract_many(self, asked, most):
        self.together.append([text for text, _ in asked])
        return [Offline().extract(text, when, (), most) for text, when in asked]


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_cells_of_a_session_are_extracted_side_by_side(turns):
    tasks = SideBySide()
    plain = segviz.build(small_chat(), "memforest", cell_turns=turns, embedder="hashing")
    options = {"tasks": tasks, "embedder": "hashing"}
    memory = segviz.build(small_chat(), "memforest", cell_turns=turns, **options)
    assert len(tasks.together) == len(memory.conversation.sessions)
    s = memory.structure
    cells = [n for n in nodes(s, "cell") if s.facts[n]["closed"]]
    said = ["\n".join(s.text[unit] for unit in s.children[cell]) for cell in cells]
    once = [text for texts in tasks.together for text in texts] + tasks.alone
    assert sorted(once) == sorted(said)
    assert all(len(text.split("\n")) < turns for text in tasks.alone)
    assert s.text == plain.structure.text
    assert s.children == plain.structure.children
