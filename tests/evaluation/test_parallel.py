"""Many conversations at once: the same numbers wherever they are measured.

The tests of joblib need the extra ``parallel``, those of Dask ``cluster``; they are skipped
where the extra is not installed, and then say so.
"""

import os
import signal
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pytest

import segviz
from segviz.conversation import Question, reordered
from segviz.embedding import Cached
from segviz.evaluation import evaluate
from segviz.evaluation import parallel as module
from segviz.evaluation.parallel import WorkersLost, measure_many
from segviz.llm import Endpoint, OpenAIEmbedder
from tests.benchmarks.synthetic import conversation

BUILDERS = {
    name: partial(segviz.build, system=name, unit="turn", embedder="hashing")
    for name in ("segment-tree", "bm25")
}
SETTINGS = {"policy": "both", "alpha": 0.5}
SEEDS = {"seeds": (0, 1), "share": 0.3}


def asked(turns):
    spoken = conversation(turns)
    questions = [
        Question(i, turn.text, None, 1 + i % 4, (turn.id,))
        for i, turn in enumerate(spoken.turns[::9])
    ]
    return replace(spoken, questions=tuple(questions))


def slow(memory, questions, seed):
    """Measures nothing, in a while."""
    time.sleep(0.2)


def killed(talk):
    """A builder that ends its process."""
    os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def dask(cluster):
    """Makes joblib run on a cluster, the way a script does."""
    joblib = pytest.importorskip("joblib")
    distributed = pytest.importorskip("distributed")
    with (
        distributed.Client(cluster.scheduler_address, set_as_default=False) as client,
        joblib.parallel_config(backend="dask", client=client),
    ):
        yield client


@pytest.fixture(scope="module")
def talks():
    return [asked(30), asked(45)]


@pytest.fixture(scope="module")
def alone(talks):
    return measure_many(evaluate, talks, BUILDERS, **SEEDS, **SETTINGS)


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

    def test_what_is_known_is_not_measured_again(self, talks, alone):
        seen, kept = [], {}
        found = measure_many(
            evaluate,
            talks,
            {**BUILDERS, "bm25": None},  # would fail if it were built
            **SEEDS,
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

    @pytest.mark.parametrize(
        "model",
        [
            {"chat": object()},
            {"embedder": Cached(OpenAIEmbedder(Endpoint("http://127.0.0.1:1/v1", "", "e")))},
        ],
        ids=["chat", "embedder"],
    )
    def test_a_model_of_a_server_does_not_leave_the_process(self, talks, model):
        builders = {"x": partial(segviz.build, **model)}
        with pytest.raises(ValueError, match="key would be sent"):
            measure_many(evaluate, talks, builders, workers=2)

    def test_the_code_hash_covers_sources_and_tables(self, monkeypatch, tmp_path):
        package = tmp_path / "evaluate"
        package.mkdir()
        monkeypatch.setattr(module, "__file__", str(package / "many.py"))
        seen = set()
        for name, text in (("a.py", "1"), ("a.py", "2"), ("b.toml", "x"), ("notes.md", "y")):
            (package / name).write_text(text)
            seen.add(module.code_hash.__wrapped__())
        assert len(seen) == 3


class TestProcesses:
    @pytest.fixture(autouse=True)
    def _extra(self):
        pytest.importorskip("joblib", reason="the extra 'parallel' is not installed")

    def test_an_error_comes_here(self, talks):
        with pytest.raises(ValueError, match="unknown policy"):
            measure_many(evaluate, talks, BUILDERS, workers=2, policy="sideways")

    def test_results_are_those_of_one_process(self, talks, alone):
        kept = {}
        options = {"workers": 2, "keep": kept.__setitem__, **SEEDS, **SETTINGS}
        found = measure_many(evaluate, talks, BUILDERS, **options)
        assert written(found) == written(alone)
        assert written([kept[place] for place in range(8)]) == written(list(alone))

    @pytest.mark.slow
    def test_a_killed_worker_ends_it_with_what_is_done(self, talks):
        builders = {"bm25": BUILDERS["bm25"], "fatal": killed}
        kept = {}
        with pytest.raises(WorkersLost, match="use fewer workers"):
            measure_many(evaluate, talks[:1], builders, workers=2, keep=kept.__setitem__)
        assert set(kept) <= {0}

    def test_a_worker_with_other_code_is_refused(self, talks, monkeypatch):
        monkeypatch.setattr(module, "code_hash", lambda: "other")
        with pytest.raises(ValueError, match="a worker has another segviz"):
            measure_many(evaluate, talks, BUILDERS, workers=2)


@pytest.mark.slow
class TestCluster:
    def test_a_scheduler_that_is_gone_is_named(self, talks):
        distributed = pytest.importorskip("distributed")
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
        cluster = distributed.LocalCluster(host="127.0.0.1", silence_logs=50, **options)
        kept = {}

        def gone(place, result):
            kept[place] = result
            if len(kept) == 1:
                cluster.close()

        with (
            cluster,
            dask(cluster),
            pytest.raises(WorkersLost, match="connection to the scheduler"),
        ):
            measure_many(slow, talks * 6, BUILDERS, workers=None, keep=gone)
        assert kept
