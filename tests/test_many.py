"""Many conversations at once: the same numbers wherever they are measured.

The tests of joblib need the extra ``parallel``, those of Dask ``cluster``; they are skipped
where the extra is not installed, and then say so.
"""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from functools import partial

import pytest

import segviz
from segviz.conversation import Question
from segviz.evaluate import evaluate, sweep
from segviz.evaluate import many as module
from segviz.evaluate.many import evaluate_many, sweep_many
from segviz.evaluate.permutation import reordered
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


@pytest.fixture(scope="module")
def talks():
    return [asked(60), asked(90)]


@pytest.fixture(scope="module")
def alone(talks):
    return evaluate_many(talks, BUILDERS, seeds=(0, 1), share=0.3, **SETTINGS)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        host="127.0.0.1",
        silence_logs=50,
    ) as cluster:
        yield cluster


def written(found):
    """To the last digit; a mean over nothing is NaN, which equals nothing."""
    return repr(found)


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
        found = sweep_many(talks, BUILDERS, **GRID)
        memory = BUILDERS["bm25"](talks[1])
        assert written(found[-1].result) == written(sweep(memory, talks[1].questions, **GRID))

    def test_progress(self, talks):
        seen = []
        evaluate_many(talks, BUILDERS, progress=lambda *at: seen.append(at))
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
            evaluate_many(talks, BUILDERS, **wrong)

    @pytest.mark.parametrize("place", [{"workers": 2}, {"scheduler": "tcp://127.0.0.1:1"}])
    def test_a_chat_model_does_not_leave_the_process(self, talks, place):
        builders = {"x": partial(segviz.build, chat=object())}
        with pytest.raises(ValueError, match="key would be sent"):
            evaluate_many(talks, builders, **place)

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
            evaluate_many(talks, BUILDERS, **place)


class TestProcesses:
    @pytest.fixture(autouse=True)
    def _extra(self):
        pytest.importorskip("joblib", reason="the extra 'parallel' is not installed")

    def test_same_numbers(self, talks, alone):
        found = evaluate_many(talks, BUILDERS, seeds=(0, 1), share=0.3, workers=2, **SETTINGS)
        assert written(found) == written(alone)

    def test_an_error_comes_here(self, talks):
        with pytest.raises(ValueError, match="unknown policy"):
            evaluate_many(talks, BUILDERS, workers=2, policy="sideways")


class TestCluster:
    def test_same_numbers(self, talks, alone, cluster):
        found = evaluate_many(
            talks,
            BUILDERS,
            seeds=(0, 1),
            share=0.3,
            scheduler=cluster.scheduler_address,
            **SETTINGS,
        )
        assert written(found) == written(alone)

    def test_sweeps_too(self, talks, cluster):
        found = sweep_many(talks, BUILDERS, scheduler=cluster.scheduler_address, **GRID)
        assert written(found) == written(sweep_many(talks, BUILDERS, **GRID))

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

        found = evaluate_many(
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

    def test_a_scheduler_that_does_not_answer(self, talks, cluster):
        import dask

        with (
            dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
            pytest.raises(ValueError, match="no Dask scheduler answers"),
        ):
            evaluate_many(talks, BUILDERS, scheduler="tcp://127.0.0.1:1")
