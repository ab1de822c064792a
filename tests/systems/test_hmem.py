"""H-Mem: formulas by hand, the tree and the graph on small chats, real conversations."""

import math
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.construct import parameters
from segviz.construct.tasks import Offline
from segviz.conversation import DAY, moments, seconds
from segviz.systems.h_mem import HMem
from segviz.systems.h_mem.graph import MAYBE, likeness
from segviz.systems.h_mem.retrieval import time_relevance
from segviz.tree import history
from segviz.tree.inspect import path_from_root
from tests.systems import common
from tests.systems.common import nodes
from tests.trees import chat


@given(*[st.integers(0, 40), st.integers(1, 20)] * 2, st.floats(0, 1))
def test_equation_1_restated_day_by_day(a, long, b, short, balance):
    one, other = set(range(a, a + long)), set(range(b, b + short))
    hull = 1 + max(one | other) - min(one | other)
    apart = abs(np.mean(list(one)) - np.mean(list(other)))
    wanted = balance * len(one & other) / len(one | other) + (1 - balance) * (1 - apart / hull)
    intervals = [(start * DAY, (start + days) * DAY) for start, days in ((a, long), (b, short))]
    assert time_relevance(*intervals, balance) == pytest.approx(wanted)


build = partial(common.build, "h-mem")


def diary(days, texts=None, start=datetime(2023, 1, 2, 9)):
    """One session of one turn per listed day."""
    texts = texts or [f"I painted the old garden fence number {d} green." for d in days]
    return chat([[("Ada", text)] for text in texts], (), start, days)


def clean(memory):
    """No invariant is broken, and nothing is older than what it sums up."""
    common.clean(memory)
    no_older_than_what_they_sum_up(memory)


def no_older_than_what_they_sum_up(memory):
    """After any step (r, equation 2)."""
    for structure in history(memory.steps):
        for node in nodes(structure, "summary"):
            inside = [structure.facts[c]["last"] for c in structure.children[node]]
            assert structure.facts[node]["last"] >= max(inside)


class TestTree:
    def test_it_gets_its_third_and_fourth_level_with_age(self):
        memory = build(diary([0, 1, 8, 40]))
        clean(memory)
        tops = [int(s.level.max()) for s in history(memory.steps)]
        assert tops == [2, 2, 3, 4]
        assert "everything moved up" in memory.steps[2].note
        structure = memory.structure
        for node in nodes(structure, "event") + nodes(structure, "summary"):
            if structure.level[node] < 4:
                assert len(structure.parents[node]) == 1

    def test_equal_events_gather_and_are_reinforced(self):
        memory = build(diary([0, 1, 2], ["I painted the red fence again."] * 3))
        structure = memory.structure
        (week,) = nodes(structure, "summary")
        assert len(structure.children[week]) == 3
        assert structure.facts[week]["n"] == 2  # once for every event but the first
        first = structure.children[week][0]
        assert structure.facts[first]["n"] == 2
        assert structure.facts[first]["last"] > structure.facts[first]["from"]

    def test_all_above_a_joined_summary_is_reinforced(self):
        memory = build(diary([0, 40, 41], ["I painted the red fence again."] * 3))
        s = memory.structure
        newest = max(nodes(s, "event"))
        above = path_from_root(s, newest)
        assert [int(s.level[n]) for n in above] == [4, 3, 2]
        assert {s.facts[n]["last"] for n in above} == {s.facts[newest]["from"]}

    def test_a_week_is_not_left(self):
        text = ["I painted the red fence again."] * 2
        together, apart = build(diary([0, 6], text)), build(diary([0, 7], text))
        assert len(nodes(together.structure, "summary")) == 1
        weeks = [n for n in nodes(apart.structure, "summary") if apart.structure.level[n] == 2]
        assert len(weeks) == 2

    def test_calendar_weeks_may_straddle_months(self):
        talk = diary([0, 2], ["I painted the red fence again."] * 2, datetime(2023, 1, 30, 9))
        memory = build(talk, windows="calendar")
        clean(memory)
        assert sum(memory.structure.level == 2) == 1

    def test_a_unit_that_states_nothing_is_still_a_fragment(self):
        memory = build(diary([0], ["Hello!"]))
        assert nodes(memory.structure, "event") == []
        assert memory.structure.leaves == (0,)
        assert memory.ask("Hello?", method="native").evidence == ()


class TestGraph:
    def test_one_name_two_kinds_stays_two_entities(self):
        texts = ["I went hiking with Jordan today.", "I flew to Jordan for a month."]
        s = build(diary([0, 1], texts)).structure
        kinds = sorted(s.facts[n]["type"] for n in nodes(s, "entity") if s.text[n] == "Jordan")
        assert kinds == ["location", "person"]

    def test_names_spelt_alike_merge_if_wanted(self):
        texts = [f"I talked with {name} about paint." for name in ("Samantha", "Samanta")]
        fuzzy, exact = (
            len(nodes(build(diary([0, 1], texts), **merge).structure, "entity"))
            for merge in ({}, {"entity_merge": "exact"})
        )
        assert exact == fuzzy + 1

    def test_likeness_by_hand(self):
        rules = HMem()
        assert likeness("new york", "new york city", rules) == pytest.approx(2 / 3)
        assert likeness("clara", "clara vermeer", rules) == 0  # one common word
        assert likeness("clara anna jones", "clara anna smith", rules) == 0  # 2 of 4
        assert likeness("samantha", "samanta", rules) == pytest.approx(14 / 15)
        assert likeness("amantha", "samantha", rules) == 0  # they begin differently
        assert likeness("tom", "tim", rules) == 0

    def test_part_of_a_name_is_tied_and_not_merged(self):
        texts = ["I talked with Clara Vermeer about it.", "I met Clara today."]
        s = build(diary([0, 1], texts)).structure
        assert any(r.label == "may be the same as" for r in s.relations)

    def test_relations_have_evidence_times_and_confidence(self):
        """Of every relation, after every step, what the extraction of each unit says (A.2)."""
        texts = [
            "I visited Clara in Utrecht and bought a lamp.",
            "I sold the boat.",
            "I visited Clara again. Clara visited my sister.",
        ]
        memory = build(diary([0, 3, 9], texts))
        told = {}
        for unit, s in zip(memory.units, history(memory.steps), strict=True):
            name = {n: s.facts[n]["name"] for n in nodes(s, "entity")}
            when = moments(memory.units)[unit.index].seconds
            for found in dict.fromkeys(Offline().extract(unit.text, unit.time).relations):
                row = told.setdefault((found.head, found.label, found.tail), [[], when, 0.0])
                row[0] = sorted({*row[0], unit.index})
                row[2:] = [max(row[2], found.confidence), when]
            kept = {
                (name[r.source], r.label, name[r.target]): [
                    [int(unit) for unit in r.facts["units"].split()],
                    r.facts["first"],
                    r.facts["confidence"],
                    r.facts["last"],
                ]
                for r in s.relations
                if r.label != MAYBE
            }
            assert kept == told
            assert all(r.weight == len(r.facts["units"].split()) for r in s.relations if r.facts)
        assert told["Ada", "visited", "Clara"][0] == [0, 2]

    def test_plural_and_singular_are_one_entity(self):
        s = build(diary([0, 1], ["I fed the dog.", "I fed the dogs."])).structure
        (dog,) = [n for n in nodes(s, "entity") if s.facts[n]["name"] == "dog"]
        assert s.facts[dog]["aliases"].split() == ["dog", "dogs"]
        assert s.coverage(dog) == (0, 1)


@pytest.fixture(scope="module")
def week():
    texts = [
        *("I painted the red fence with Clara.", "I painted the red fence again."),
        *("Clara moved to Utrecht in the rain.", "I sold the old boat to Clara."),
    ]
    return build(diary([0, 1, 9, 40], texts))


class TestRecall:
    def test_a_follow_up_is_scored_by_equation_3(self, week):
        result, asked, best = rescored(week, "How many boats did Clara buy?")
        assert len(asked) == 2
        chain = result.stages[-1]
        assert list(chain.scores) == pytest.approx([best[n] for n in chain.nodes], abs=1e-4)

    @pytest.mark.parametrize("asked", ["What was painted in January 2023?", "Who moved in May?"])
    def test_equation_3_with_a_time(self, week, asked):
        rescored(week, asked)

    @pytest.mark.parametrize("hops", [0, 1, 2, 3])
    def test_strength_restated_path_by_path(self, hops):
        """An entity is worth the best way to it from those the question names or is like."""
        pairs = pairwise(("Ada", "Ben", "Clara", "Dora", "Emil"))
        texts = [*(f"{one} met {other}." for one, other in pairs), "It rained."]
        memory = build(diary(list(range(5)), texts), hops=hops, seeds=0, decay=0.5)
        s = memory.structure
        ties = {frozenset((one.source, one.target)) for one in s.relations}
        ways = {n: 1.0 for n in nodes(s, "entity") if s.facts[n]["name"] == "Ada"}
        for _ in range(hops):  # every step from everywhere; a longer way is never worth more
            reached = [(b, 0.5 * ways[a]) for a in ways for t in ties if a in t for b in t - {a}]
            for node, worth in reached:
                ways[node] = max(ways.get(node, 0.0), worth)
        stages = memory.model.retrieve("Whom did Ada meet?", memory.view("dense")).stages
        (found,) = (stage for stage in stages if stage.name == "entities")
        assert dict(zip(found.nodes, found.scores, strict=True)) == ways
        assert len(ways) > hops

    def test_the_rows_of_table_5(self, week):
        for row in next(p for p in parameters(HMem) if p.name == "ablate").spec.choices:
            memory = build(week.conversation, ablate=row, scope="mixed")
            assert memory.check() == []
            asked, s = "How many boats did Clara buy?", memory.structure
            stages = memory.model.retrieve(asked, memory.view("dense", 50)).stages
            kinds = {s.kind[n] for st in stages if st.name == "score" for n in st.nodes}
            assert ("summary" in kinds) == (row not in ("w/o tree", "w/o long memory")), row
            assert ("event" in kinds) == (row != "w/o tree"), row
            assert bool(nodes(s, "entity")) == (row != "w/o graph")
            names = [stage.name for stage in stages]
            assert ("entities" in names) == (row != "w/o graph")
            assert names.count("score") == 2 - (row == "w/o missing-info query")
            scored = next(stage for stage in stages if stage.name == "score")
            assert ("R 0.00" in scored.note) == (row == "w/o memory robustness")

    def test_a_model_may_put_the_first_in_order(self, week):
        asked, calls = "What did Clara do?", {}
        for rerank in (0, 3):
            memory = replace(week, settings={**week.settings, "rerank": rerank})
            plain = memory.ask(asked, method="native")
            assert any("as no model is set" in s.note for s in plain.stages) == bool(rerank)
            assert plain.after == week.ask(asked, method="native").after
            model = HMem(rerank=rerank, tasks=Backwards())
            calls[rerank] = model.retrieve(asked, memory.view("dense")).ranked
        assert calls[3][:3] == calls[0][2::-1]
        assert calls[3][3:] == calls[0][3:]

    def test_units_follow_for_whoever_asks_on_their_level(self, week):
        memory = build(week.conversation, scope="long")
        found = memory.ask("Where did Clara move?", method="native", k=1)
        units = memory.ask("Where did Clara move?", method="native", k=1, levels=[0]).evidence
        assert found.structure.top[found.evidence[0].node] > 0
        assert [e.turn_ids for e in units] == [("D3:1",)]


@dataclass(frozen=True)
class Backwards(Offline):
    """Puts everything in the opposite order."""

    def order(self, text, texts, scores):
        return list(range(len(texts)))[::-1]


def rescored(memory, question):
    """Equation 3 for every item that a stage scored, from the structure alone, best of all
    parts and follow-ups."""
    s, model = memory.structure, memory.model
    result = model.retrieve(question, memory.view("dense", 50))
    said = [moment.seconds for moment in moments(memory.units)]
    asked = [question]
    times = [part.when for part in model.tasks.plan(question, memory.units[-1].time)]
    for stage in result.stages:
        if stage.name == "follow-up" and "“" in stage.note:
            asked.append(stage.note.split("“")[1].split("”")[0])
    best = {}
    scored = [stage for stage in result.stages if stage.name == "score"]
    assert len(scored) == len(asked)
    for text, stage in zip(asked, scored, strict=True):
        cosine = np.clip(s.vector @ memory.embedder.embed([text])[0], 0, None)
        for node, scored_as in zip(stage.nodes, stage.scores, strict=True):
            facts = s.facts[node]
            age = (said[-1] - facts.get("last", said[int(s.stop[node]) - 1])) / DAY
            met = facts.get("n", facts.get("mentions", 0))
            r = math.exp(-age / (model.tau * (1 + model.eta * math.log(1 + met))))
            total = 0.7 * cosine[node] + 0.15 * when(s, node, times[0]) + 0.15 * r
            best[node] = max(best.get(node, 0), total)
            assert scored_as == pytest.approx(total, abs=1e-4)
    return result, asked, best


def when(s, node, asked):
    """Equation 1 for an item and the time of a question; a fragment has its first event's."""
    if asked is None or s.kind[node] == "entity":
        return 0.0
    events = [node] if s.kind[node] else [p for p in s.parents[node] if s.kind[p] == "event"]
    if not events:
        return 0.0
    facts = s.facts[events[0]]
    own = (facts.get("about_from", facts["from"]), facts.get("about_to", facts["to"]))
    return time_relevance(own, tuple(map(seconds, asked)))
