"""The setting between browser and Python, and which of two answers counts."""

from __future__ import annotations

import shutil
from typing import Any

import numpy as np
import pytest

from segviz.frontend.canvas import javascript
from segviz.frontend.live import DRAWINGS, Live, LiveSetting, read_setting
from segviz.frontend.payload import COLUMNS, tree_payload
from segviz.retrieval import POLICIES, RetrievalSettings
from tests.frontend.node import run
from tests.trees import toy

SENT = {"policy": "both", "alpha": 0.3, "horizon": 4, "drawing": "change", "sequence": 7}


def test_a_legal_setting_is_read() -> None:
    assert read_setting(SENT) == LiveSetting("both", 0.3, 4, "change", 7)
    assert read_setting(SENT | {"alpha": 0}) == LiveSetting("both", 0.0, 4, "change", 7)


@pytest.mark.parametrize(
    "wrong",
    [
        {"policy": "sideways"},
        {"policy": None},
        {"policy": ["both"]},
        {"alpha": 1},
        {"alpha": -0.1},
        {"alpha": float("nan")},
        {"alpha": "0.3"},
        {"alpha": None},
        {"horizon": 1.5},
        {"horizon": -1},
        {"horizon": float("inf")},
        {"horizon": "2"},
        {"drawing": "sideways"},
        {"drawing": None},
        {"sequence": "7"},
        {"sequence": None},
    ],
)
def test_anything_else_is_no_setting(wrong: dict[str, Any]) -> None:
    assert read_setting(SENT | wrong) is None


@pytest.mark.parametrize("sent", [None, 3, "both", [], {}, {"policy": "both"}])
def test_what_has_no_fields_is_no_setting(sent: object) -> None:
    assert read_setting(sent) is None


def test_the_payload_carries_what_the_browser_computes_with() -> None:
    structure = toy()
    scores = np.arange(11) / 55
    live = Live(RetrievalSettings(k=4, levels=(0, 2), literal=True))
    message = tree_payload(
        structure,
        unit_sessions=[0] * 7,
        session_labels=["S1"],
        identity="x",
        mode="scores",
        initial=scores,
        live=live,
    )
    sent = message["live"]
    assert (sent["policy"], sent["alpha"], sent["horizon"]) == ("top-down", 0.1, 2)
    assert (sent["k"], sent["levels"], sent["distinct"]) == (4, [0, 2], False)
    assert list(sent["policies"]) == list(POLICIES)
    assert sent["drawing"] in DRAWINGS
    carrier = np.frombuffer(message["carrier"], dtype=COLUMNS["carrier"])
    assert carrier.tolist() == structure.carrier.tolist()
    assert carrier[8] == 3  # the parent of one leaf
    initial = np.frombuffer(message["initial"], dtype=COLUMNS["initial"])
    assert initial.tolist() == scores.tolist()


def test_without_controls_no_carriers_travel() -> None:
    message = tree_payload(toy(), unit_sessions=[0] * 7, session_labels=["S1"], identity="x")
    assert message["live"] is None
    assert message["carrier"] == b""


def test_controls_need_scores() -> None:
    with pytest.raises(ValueError, match="initial"):
        tree_payload(
            toy(),
            unit_sessions=[],
            session_labels=[],
            identity="x",
            live=Live(RetrievalSettings(k=3)),
        )


DIALS = """
const initial = Float64Array.from([0.5, 0.3, 0.2]);
const answer = (live, final) => ({ initial, final: Float64Array.from(final),
  edges: new Int32Array(0),
  top_initial: [0, 1, 2], top_final: [0, 1, 2], level: Int32Array.from([0, 0, 1]),
  start: Int32Array.from([0, 1, 0]), carrier: Int32Array.from([0, 1, 2]),
  parent: Int32Array.from([2, 2, -1]),
  live: { policy: "top-down", alpha: 0.1, horizon: 1, drawing: "mirrored", sequence: 0,
    k: 2, levels: null, distinct: true, ...live } });
const s = { dials: m.createDials(), data: null, sendSetting: (setting) => sent.push(setting) };
const sent = [];
const take = (live) => { s.data = answer(live, [9, 9, 9]); m.adopt(s); return seen(); };
const move = (part) => { m.change(s, part); m.recompute(s); return seen(); };
const seen = () => ({ alpha: s.dials.setting.alpha, sequence: s.dials.sequence,
  python: s.data.final[0] === 9, apart: s.dials.apart });
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory):
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    path = tmp_path_factory.mktemp("js") / "tree.mjs"
    path.write_text(javascript(), encoding="utf-8")
    return path


def steps(module, body: str) -> Any:
    return run(module, DIALS + body)


def test_a_late_answer_does_not_undo_a_change(module) -> None:
    first, moved, late, answered = steps(
        module,
        """const seenAll = [take({}), move({ alpha: 0.5 }), take({ alpha: 0.1 }),
             take({ alpha: 0.5, sequence: 1 })];
           clearTimeout(s.dials.timer);
           return seenAll;""",
    )
    assert first == {"alpha": 0.1, "sequence": 0, "python": True, "apart": ""}
    assert (moved["alpha"], moved["python"]) == (0.5, False)
    assert (late["alpha"], late["python"]) == (0.5, False)  # computed anew, for the new data
    assert (answered["alpha"], answered["python"]) == (0.5, True)
    assert float(answered["apart"]) == pytest.approx(9, abs=1)  # Python's 9 is far from it


def test_a_setting_made_elsewhere_is_taken(module) -> None:
    seen = steps(module, "take({ sequence: 4 }); return take({ alpha: 0.7, sequence: 4 });")
    assert (seen["alpha"], seen["python"]) == (0.7, True)


def test_a_python_that_has_begun_anew_is_believed(module) -> None:
    body = """take({ sequence: 4 }); move({ alpha: 0.5 }); clearTimeout(s.dials.timer);
      return take({ alpha: 0.2, sequence: 0 });"""
    seen = steps(module, body)
    assert (seen["alpha"], seen["sequence"], seen["python"]) == (0.2, 0, True)


def test_many_moves_are_one_report(module) -> None:
    body = """take({});
      for (const alpha of [0.2, 0.3, 0.4]) move({ alpha });
      await new Promise((done) => setTimeout(done, 400));
      move({ horizon: 3 });
      m.report(s);
      m.report(s);
      return sent;"""
    first, second = steps(module, body)
    assert read_setting(first) == LiveSetting("top-down", 0.4, 1, "mirrored", 3)
    assert read_setting(second) == LiveSetting("top-down", 0.4, 3, "mirrored", 4)


def test_a_lost_report_is_sent_again(module) -> None:
    body = """take({});
      move({ alpha: 0.4 });
      m.report(s);
      take({});
      await new Promise((done) => setTimeout(done, 20));
      const soon = sent.length;
      s.dials.sentAt -= 60000;
      take({});
      await new Promise((done) => setTimeout(done, 20));
      return [soon, sent];"""
    soon, sent = steps(module, body)
    assert soon == 1
    assert sent[1] == sent[0]
    assert len(sent) == 2


def test_a_single_key_waits_for_nothing_and_more_of_them_for_the_answer(module) -> None:
    body = """take({});
      const key = (alpha) => { move({ alpha }); m.keyLetGo(s); return sent.length; };
      const counts = [key(0.2), key(0.3), key(0.4)];
      take({ alpha: 0.2, sequence: 1 });
      counts.push(key(0.5));
      await new Promise((done) => setTimeout(done, 400));
      counts.push(sent.length);
      take({ alpha: 0.5, sequence: 4 });
      return [...counts, key(0.6), sent.map(({ alpha }) => alpha)];"""
    *seen, alphas = steps(module, body)
    # The answer to the first frees the fourth; the second and third go with it.
    assert seen == [1, 1, 1, 2, 2, 3]
    assert alphas == [0.2, 0.5, 0.6]
