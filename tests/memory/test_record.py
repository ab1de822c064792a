"""A build keeps its steps as columns; what comes back is what the system gave."""

import pickle
from dataclasses import fields, replace
from threading import Event

import pytest

from segviz.embedding import HashingEmbedder
from segviz.memory import Building, build
from segviz.systems import SYSTEMS
from segviz.tree import Add, Cost, Replayer, Revise, Step, costs_of, replay, total_cost
from segviz.tree.inspect import written
from segviz.waiting import heartbeat
from tests.benchmarks.synthetic import conversation
from tests.memories import KINDS
from tests.store.samples import alike, same
from tests.trees import small_chat


@pytest.fixture(scope="module", params=KINDS)
def build_of(request):
    building = Building(conversation(60), request.param, "turn", embedder=HashingEmbedder())
    return building, tuple(building)


class TestBuild:
    def test_every_step_comes_back(self, build_of):
        building, given = build_of
        kept = building.memory.steps
        assert same(kept, given)
        assert [step.cost for step in kept] == [step.cost for step in given]
        assert all(step.cost.seconds > 0 for step in kept)
        assert same(tuple(reversed(kept)), given[::-1])
        assert same(kept[5:30:7], given[5:30:7])
        assert kept[:30][5:9] == kept[5:9] != kept[6:10]
        assert len({kept[5:9], kept[:30][5:9], kept}) == 2

    def test_what_is_asked_of_all_steps_at_once(self, build_of):
        building, given = build_of
        for part in (slice(None), slice(0, 20), slice(10, 40, 3)):
            kept, steps = building.memory.steps[part], given[part]
            for costs in (costs_of(kept), costs_of(steps)):
                rows = zip(*(column.tolist() for column in costs.values()), strict=True)
                assert [Cost(*row) for row in rows] == [step.cost for step in steps]
                assert list(costs) == [field.name for field in fields(Cost)]
            assert total_cost(kept) == total_cost(steps)
            nodes = {e.node for step in steps for e in step.events if isinstance(e, Add | Revise)}
            for node in (*sorted(nodes)[:20], 10**6):
                ours, theirs = list(written(kept, node)), list(written(steps, node))
                assert [(w.step, w.before, w.after) for w in ours] == [
                    (w.step, w.before, w.after) for w in theirs
                ]

    def test_every_moment(self, build_of):
        building, given = build_of
        memory = building.memory
        for step in (0, 1, 2, 33, 60, 34, 20):
            assert alike(memory.at(step), replay(given[:step]))

    def test_a_pickle(self, build_of):
        kept = pickle.loads(pickle.dumps(build_of[0].memory)).steps
        assert same(kept, build_of[1])
        assert kept == kept[:]

    def test_a_fold_goes_on_from_a_structure(self, build_of):
        _, given = build_of
        fold = Replayer(replay(given[:40]))
        for number, step in enumerate(given[40:], 40):
            fold.take(number, step)
        assert alike(fold.freeze(), replay(given))

    def test_the_memory_of_a_part_stays_as_it_is(self):
        building = Building(small_chat(), unit="turn", embedder=HashingEmbedder())
        parts, given = [], []
        for step in building:
            given.append(step)
            parts.append(building.memory)
        for count, memory in enumerate(parts, start=1):
            assert same(memory.steps, tuple(given[:count]))
            assert alike(memory.structure, replay(given[:count]))


def test_no_further_text_is_embedded_when_the_caller_has_stopped():
    begun, stopped, ended, sizes = Event(), Event(), Event(), []

    class Slow(HashingEmbedder):
        def embed(self, texts):
            sizes.append(len(texts))
            begun.set()
            stopped.wait(20)
            ended.set()
            return super().embed(texts)

    def beat():
        if begun.is_set():
            raise KeyboardInterrupt

    building = Building(conversation(1_000), "dense", "turn", embedder=Slow())
    with pytest.raises(KeyboardInterrupt), heartbeat(beat):
        list(building)
    stopped.set()
    assert ended.wait(20)
    whole = tuple(Building(conversation(1_000), "dense", "turn", embedder=HashingEmbedder()))
    assert len(sizes) == 1
    assert sizes[0] < 1_000
    assert same(tuple(building), whole)  # the next run is complete
    assert len(sizes) > 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda s: replace(s, unit=replace(s.unit, text="Eve: no")),
            "step 1 for the unit .*Eve: no",
        ),
        (lambda s: replace(s, unit=replace(s.unit, index=99)), "step 1 for the unit .*index=99"),
        (
            lambda s: Step(s.unit, "", None, (replace(s.events[0], facts={"a": {1}}),)),
            "a step for unit 0 .* plain JSON values",
        ),
    ],
)
def test_the_builder_says_what_is_wrong_with_a_step(change, said):
    class Odd:
        name, invariants, online = "odd", (), True

        def steps(self, arrivals, services):
            system = SYSTEMS["segment-tree"]()
            yield from map(change, system.steps(arrivals, services))

    with pytest.raises(ValueError, match=f"the system 'odd' gave {said}"):
        build(small_chat(), Odd(), unit="turn", embedder=HashingEmbedder())
