"""Many conversations at once: the same numbers wherever they are measured.

The tests of joblib need the extra ``parallel``, those of Dask ``cluster``; they are skipped
where the extra is not installed, and then say so.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import segviz
from segviz.conversation import Question, reordered
from segviz.embedding import Cached
from segviz.evaluation import evaluate
from segviz.evaluation import parallel as module
from segviz.evaluation.parallel import WorkersLost, measure_many
from segviz.evaluation.sweep import sweep
from segviz.llm import Endpoint, OpenAIEmbedder
from tests.benchmarks.synthetic import conversation

BUILDERS = {
    name: partial(segviz.build, system=name, unit="turn", embedder="hashing")
    for name in ("segment-tree", "bm25")
}
SETTINGS = {"policy": "both", "alpha": 0.5}
GRID = {"policies": ("top-down", "both"), "alphas": (0.1, 0.5), "horizons": (0, 2)}


def asked(turns):
    spoken = conversation(turns)
    questions = [
        Question(i, turn.text, None, 1 + i % 4, (turn.id,))
        for i, turn in enumerate(spoken.turns[::9])
    ]
    return replace(spoken, questions=tuple(questions))


@dataclass(frozen=True)
class Killed:
    """A builder whose process is killed the first time, which the file ``once`` remembers;
    every time without one."""

    once: Path | None
    build: Any

    def __call__(self, talk):
        if self.once is None or not self.once.exists():
            if self.once is not None:
                self.once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.build(talk)


@pytest.fixture(scope="module")
def talks():
    return [asked(60), asked(90)]


@pytest.fixture(scope="module")
def alone(talks):
    return measure_many(evaluate, talks, BUILDERS, seeds=(0, 1), share=0.3, **SETTINGS)


def written(found):
    """To the last digit; a mean over nothing is NaN, which equals nothing."""
    return repr(found)


def working(memory, questions, seed):
    """The process that measures."""
    return os.getpid()


class TestOneProcess:
    def test_equals_one_by_one(self, talks, alone):
        expected = []
        for talk in talks:
            for name, build in BUILDERS.items():
                for seed in (0, 1):
                    moved = reordered(talk, 0.3, seed)
                    found = evaluate(build(moved), moved.questions, seed=seed, **SETTINGS)
                    expected.append((talk.id, name, seed, found))
        found = [(m.conversation, m.system, m.seed, m.result) for m in alone]
        assert written(found) == written(expected)

    def test_sweeps_too(self, talks):
        found = measure_many(sweep, talks, BUILDERS, **GRID)
        memory = BUILDERS["bm25"](talks[1])
        assert written(found[-1].result) == written(sweep(memory, talks[1].questions, **GRID))

    def test_progress(self, talks):
        seen = []
        measure_many(evaluate, talks, BUILDERS, progress=lambda *at: seen.append(at))
        assert seen == [(i, 4) for i in range(1, 5)]

    def test_what_is_known_is_not_measured_again(self, talks, alone):
        seen, kept = [], {}
        found = measure_many(
            evaluate,
            talks,
            {**BUILDERS, "bm25": None},  # would fail if it were built
            seeds=(0, 1),
            share=0.3,
            known={place: m for place, m in enumerate(alone) if m.system == "bm25"},
            keep=kept.__setitem__,
            progress=lambda *at: seen.append(at),
            **SETTINGS,
        )
        assert written(found) == written(alone)
        assert written(kept) == written({p: alone[p] for p in kept})
        assert [alone[place].system for place in kept] == ["segment-tree"] * 4
        assert seen == [(i, 4) for i in range(1, 5)]

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"workers": 0}, "workers is 0"),
            ({"share": 1.5}, "share is 1.5"),
            ({"alpha": 2}, "alpha is 2"),
        ],
    )
    def test_bad_settings_are_told(self, talks, wrong, message):
        with pytest.raises(ValueError, match=message):
            measure_many(evaluate, talks, BUILDERS, **wrong)

    @pytest.mark.parametrize("place", [{"workers": 2}, {"scheduler": "tcp://127.0.0.1:1"}])
    @pytest.mark.parametrize(
        "model",
        [
            {"chat": object()},
            {"embedder": Cached(OpenAIEmbedder(Endpoint("http://127.0.0.1:1/v1", "", "e")))},
        ],
        ids=["chat", "embedder"],
    )
    def test_a_model_of_a_server_does_not_leave_the_process(self, talks, place, model):
        builders = {"x": partial(segviz.build, **model)}
        with pytest.raises(ValueError, match="key would be sent"):
            measure_many(evaluate, talks, builders, **place)

    @pytest.mark.parametrize(
        ("missing", "place", "extra"),
        [
            ("joblib", {"workers": 2}, "parallel"),
            ("distributed", {"scheduler": "tcp://127.0.0.1:1"}, "cluster"),
        ],
    )
    def test_a_missing_extra_is_named(self, talks, monkeypatch, missing, place, extra):
        def absent(name):
            assert name == missing
            raise ImportError

        monkeypatch.setattr(module, "import_module", absent)
        with pytest.raises(ValueError, match=rf"segviz\[{extra}\]"):
            measure_many(evaluate, talks, BUILDERS, **place)


class TestProcesses:
    @pytest.fixture(autouse=True)
    def _extra(self):
        pytest.importorskip("joblib", reason="the extra 'parallel' is not installed")

    def test_an_error_comes_here(self, talks):
        with pytest.raises(ValueError, match="unknown policy"):
            measure_many(evaluate, talks, BUILDERS, workers=2, policy="sideways")

    def test_a_conversation_that_cannot_be_read_comes_here(self, talks):
        """Late enough for joblib to ask for it from a thread of its own."""

        class Damaged(list):
            def __getitem__(self, place):
                if place == 7:
                    raise LookupError("no messages in [7]")
                return super().__getitem__(place)

        with pytest.raises(LookupError, match=r"no messages in \[7\]"):
            measure_many(evaluate, Damaged(talks[:1] * 8), BUILDERS, workers=2, **SETTINGS)

    @pytest.mark.slow
    def test_a_worker_killed_on_the_way_changes_nothing(self, talks, alone, tmp_path):
        builders = {name: Killed(tmp_path / "once", BUILDERS[name]) for name in BUILDERS}
        found = measure_many(
            evaluate, talks, builders, seeds=(0, 1), share=0.3, workers=2, **SETTINGS
        )
        assert (tmp_path / "once").exists()
        assert written(found) == written(alone)

    @pytest.mark.slow
    def test_a_worker_killed_between_two_tasks_changes_nothing(self, talks):
        seen = []

        def kill_once(place, outcome):
            if not seen:
                os.kill(outcome.result, signal.SIGKILL)
                time.sleep(0.5)  # the pool notices before it is given its next task
            seen.append(place)

        found = measure_many(working, talks, BUILDERS, seeds=(0, 1), workers=2, keep=kill_once)
        assert sorted(seen) == list(range(8))
        assert len({m.result for m in found}) == 3

    @pytest.mark.slow
    def test_a_task_that_always_kills_its_worker_is_given_up(self, talks, monkeypatch):
        monkeypatch.setattr(module, "_ROUNDS", 2)
        kept = {}
        with pytest.raises(WorkersLost, match="use fewer workers"):
            measure_many(
                evaluate,
                talks[:1],
                {"bm25": BUILDERS["bm25"], "fatal": Killed(None, None)},
                workers=2,
                keep=kept.__setitem__,
            )
        assert set(kept) <= {0}


@pytest.mark.slow
class TestCluster:
    def test_sweeps_too(self, talks, cluster):
        found = measure_many(sweep, talks, BUILDERS, scheduler=cluster.scheduler_address, **GRID)
        assert written(found) == written(measure_many(sweep, talks, BUILDERS, **GRID))

    def test_a_worker_killed_on_the_way_changes_nothing(self, talks, alone, cluster):
        from distributed import Client

        with Client(cluster, set_as_default=False) as client:
            workers = client.run(os.getpid)
        victim = next(iter(workers.values()))
        killed = []

        def kill_once(done, total):
            if not killed:
                os.kill(victim, signal.SIGKILL)
                killed.append(done)

        found = measure_many(
            evaluate,
            talks,
            BUILDERS,
            seeds=(0, 1),
            share=0.3,
            scheduler=cluster.scheduler_address,
            progress=kill_once,
            **SETTINGS,
        )
        assert killed == [1]
        assert written(found) == written(alone)

    def test_a_worker_without_this_segviz_is_told(self, talks, cluster, monkeypatch):
        monkeypatch.setattr(module.metadata, "version", lambda name: "9.9")
        with pytest.raises(ValueError, match=r"where segviz 9\.9 is needed"):
            measure_many(evaluate, talks, BUILDERS, scheduler=cluster.scheduler_address)

    def test_a_scheduler_without_workers_is_told(self, talks, monkeypatch):
        distributed = pytest.importorskip("distributed")
        monkeypatch.setattr(module, "_WAIT_SECONDS", 0.1)
        empty = {"n_workers": 0, "dashboard_address": ":0", "silence_logs": 50}
        with (
            distributed.LocalCluster(host="127.0.0.1", **empty) as cluster,
            pytest.raises(ValueError, match="has no workers; start some with `dask worker"),
        ):
            measure_many(evaluate, talks, BUILDERS, scheduler=cluster.scheduler_address)

    def test_a_scheduler_that_is_gone_is_told(self, talks):
        distributed = pytest.importorskip("distributed")
        options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
        cluster = distributed.LocalCluster(host="127.0.0.1", silence_logs=50, **options)
        kept = {}

        def gone(place, outcome):
            kept[place] = outcome
            if len(kept) == 1:
                cluster.close()

        with cluster, pytest.raises(WorkersLost, match="connection to the scheduler"):
            measure_many(
                evaluate,
                talks * 6,
                BUILDERS,
                scheduler=cluster.scheduler_address,
                keep=gone,
                **SETTINGS,
            )
        assert kept

    @pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "http://127.0.0.1:1"])
    def test_a_scheduler_that_does_not_answer(self, talks, cluster, monkeypatch, address):
        monkeypatch.setattr(module, "_WAIT_SECONDS", 1)
        with pytest.raises(ValueError, match="no Dask scheduler answers"):
            measure_many(evaluate, talks, BUILDERS, scheduler=address)
