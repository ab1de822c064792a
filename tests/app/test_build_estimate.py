"""How long the app says that a build will take, and what becomes of a build that is cancelled."""

from types import SimpleNamespace

import pytest
from streamlit.runtime.scriptrunner import StopException

from segviz.construct.tasks.words import salience
from segviz.embedding import Cached, HashingEmbedder
from segviz.memory import Building
from segviz.ui.sidebar import build
from tests.app.conftest import clean, grow
from tests.benchmarks.synthetic import conversation


class _Paced:
    """A build whose time passes as ``takes`` says of its leaves; the first takes half a second
    more."""

    def __init__(self, leaves, takes, clock):
        self.units, self._takes, self._clock = tuple(range(leaves)), takes, clock
        self._more = 0.5

    def __iter__(self):
        self._clock[0] += self._takes(len(self.units)) + self._more
        self._more = 0.0
        return iter(self.units)


def _runs_by(clock, monkeypatch):
    for name in ("monotonic", "thread_time"):
        monkeypatch.setattr(build, name, lambda: clock[0])


@pytest.mark.parametrize(
    ("leaves", "takes", "within"),
    [
        (64, lambda n: n / 1_000, 1.01),
        (2_001, lambda n: n / 1_000, 1.01),
        (100_000, lambda n: n / 1_000, 1.01),
        (5_000, lambda n: n * n / 1e6, 1.01),
        (100_000, lambda n: n * n / 1e6, 1.01),
        (5_000, lambda n: n / 2_000 + n * n / 1e6, 4.0),
        (5_000, lambda n: n / 1_000 * (2.5 if n == 1_024 else 1), 1.01),  # at last
        (100_000, lambda n: n / 10_000 * (1.6 if n == 4_096 else 1.0), 1.01),  # disturbed once
    ],
)
def test_a_build_is_expected_to_go_on_as_its_beginning_grows(monkeypatch, leaves, takes, within):
    clock = [0.0]
    _runs_by(clock, monkeypatch)
    paced = _Paced(leaves, takes, clock)
    told, truth = build.expected_seconds(lambda: paced), takes(leaves)
    assert truth / within <= told <= truth * within
    assert clock[0] < truth / 2 + 2  # trying is shorter than building


def test_texts_of_a_trial_are_read_again_in_the_next(monkeypatch):
    clock = [0.0]

    def reads(leaves):
        before = salience.cache_info().misses
        for number in range(leaves):
            salience(f"word{number}")
        return (salience.cache_info().misses - before) / 1_000

    _runs_by(clock, monkeypatch)
    paced = _Paced(5_000, reads, clock)
    assert build.expected_seconds(lambda: paced) == pytest.approx(5.0, 0.01)


def test_texts_of_a_trial_are_embedded_again_in_the_next(monkeypatch):
    clock = [0.0]

    class Slow(HashingEmbedder):
        def embed(self, texts):
            clock[0] += len(texts) / 100
            return super().embed(texts)

    _runs_by(clock, monkeypatch)
    talk, asked = conversation(3_000), Cached(Slow())
    models = SimpleNamespace(embedder=asked, chat=None)
    order = build.Order(talk, "turn", "dense", {}, models)
    monkeypatch.setattr(build.waiting, "computed", lambda *_: _[-1]())
    monkeypatch.setattr(build, "Building", Building)  # not the one of the tests of pages
    assert "30 seconds" in build._estimate(order, "")
    assert asked.misses == 0  # the build itself finds nothing done


@pytest.mark.usefixtures("small")
def test_a_small_build_that_was_cancelled_waits_for_a_click(monkeypatch):
    real = build.heartbeat

    def clicked(beat):
        raise StopException  # what a click does to the running script

    monkeypatch.setattr(build, "heartbeat", clicked)
    app = grow().run()
    app.button(key="cancel").click()
    monkeypatch.setattr(build, "heartbeat", real)
    clean(app.run())
    assert not app.session_state["memories"]
    clean(app.button(key="build").click().run())
    (memory,) = app.session_state["memories"].values()
    assert len(memory.steps) == len(memory.units)
