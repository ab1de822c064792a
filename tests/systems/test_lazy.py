"""Lazy refresh: the same tree laws, fewer annotations, everything fresh at session ends."""

import random

from segviz.construct import Services
from segviz.memory import arrivals
from segviz.systems import SYSTEMS
from segviz.systems.segment_tree.system import SegmentTree
from segviz.tree import Step, history, replay
from segviz.tree.invariants import check
from tests.memories import built
from tests.systems.common import Blank, bracket
from tests.systems.test_segment_tree import Scripted, as_nested
from tests.trees import arrival


def grow(script, sessions, refresh):
    units = [arrival(i, session) for i, session in enumerate(sessions)]
    system = SegmentTree(Scripted(script), bracket, refresh)
    return list(system.steps(units, Services(Blank())))


def cases():
    rng = random.Random(7)
    for _ in range(30):
        n = rng.randrange(2, 25)
        script = [None if rng.random() < 0.3 else rng.random() for _ in range(n)]
        sessions = sorted(rng.randrange(4) for _ in range(n))
        yield script, sessions


def test_same_tree_as_eager_whenever_a_session_ends_with_fewer_annotations():
    saved = 0
    for script, sessions in cases():
        eager, lazy = (grow(script, sessions, r) for r in ("eager", "lazy"))
        written = [sum(s.cost.annotated for s in steps) for steps in (eager, lazy)]
        assert written[1] <= written[0]
        saved += written[0] - written[1]
        pairs = zip(history(eager), history(lazy), strict=True)
        for position, (a, b) in enumerate(pairs):
            assert check(b, SYSTEMS["segment-tree"].invariants) == []
            ends = position + 1 == len(sessions) or sessions[position + 1] != sessions[position]
            if ends:
                assert as_nested(a) == as_nested(b)
            else:
                assert a.edges.tolist() == b.edges.tolist()
                assert a.stop.tolist() == b.stop.tolist()
    assert saved > 0


class TestBeforeAQuestion:
    def test_the_texts_are_those_an_eager_build_had_then(self):
        for script, sessions in cases():
            eager, lazy = (grow(script, sessions, r) for r in ("eager", "lazy"))
            system = SegmentTree(Scripted(script), bracket, "lazy")
            for step, wanted in enumerate(history(eager), start=1):
                structure = replay(lazy[:step])
                events = system.settle(structure, lazy[:step], Services(Blank()))
                late = Step(lazy[step - 1].unit, "", None, events)
                settled = replay([*lazy[:step], late])
                assert as_nested(settled) == as_nested(wanted)
                changed = {e.node for e in events}
                assert changed == set(system.pending(structure, lazy[:step]))

    def test_an_eager_tree_has_nothing_pending(self):
        steps = grow([None, 0.0], [0, 0], "eager")
        system = SegmentTree(Scripted([None]), bracket)
        assert system.pending(replay(steps), steps) == ()
        assert system.settle(replay(steps), steps, Services(Blank())) == ()

    def test_a_question_at_an_earlier_step_sees_the_tree_as_if_all_ended_there(self):
        memory = built(sessions=6, refresh="lazy")
        opened = [i for i in range(1, len(memory.steps)) if memory.pending(i)]
        # Where what waits would read otherwise; elsewhere the new text is the old one.
        late = opened[len(opened) // 2 :]
        step = next(i for i in late if memory.settled(i).text != memory.at(i).text)
        stream = arrivals(memory.units, memory.embedder)[:step]
        ended = replay(SegmentTree(refresh="lazy").steps(stream, Services(memory.embedder)))
        assert memory.settled(step).text == ended.text
        result = memory.ask("What did Theo bake?", step=step)
        assert result.structure.text == ended.text
        assert result.structure is memory.settled(step).collapsed
