"""Another build of the same conversation, drawn beside the one that is open."""

from urllib.parse import parse_qs

import pytest

from segviz.tree import Structure
from segviz.ui.widgets.tree import counterpart
from tests.app.conftest import clean, messages, page, shown, texts
from tests.app.test_address import address, opened
from tests.memories import built

COSINE = {"compatibility": "cosine", "compatibility.threshold": "0.15"}
CALIBRATED, OTHER = "compatibility calibrated", "compatibility cosine, threshold 0.15"


def trees(app):
    """The messages of the canvases on the page."""
    return [each for each in messages(app) if "levels_total" in each and "kinds" not in each]


def spans(tree, nodes):
    return {(int(tree["start"][node]), int(tree["stop"][node])) for node in nodes}


@pytest.mark.parametrize("step", [107, 161])
def test_a_new_threshold_stays_at_the_step_and_offers_the_build_before(step):
    app = opened({"sample": "ines-theo", "step": str(step)}, page("grow", linked=True))
    app.selectbox(key="segment-tree.compatibility").set_value("cosine").run()
    clean(app)
    (tree,) = trees(app)
    assert tree["step"] == step
    assert CALIBRATED in shown(app, "grow-beside").options
    shown(app, "grow-beside").set_value(CALIBRATED).run()
    new, old = trees(clean(app))
    assert (new["step"], old["step"]) == (step, step)
    assert new["identity"] == old["identity"]
    # What stands out are the nodes over units that no node of the other build covers exactly.
    for one, other in ((new, old), (old, new)):
        inner = [n for n in range(one["nodes"]) if one["level"][n] >= 0]
        every = spans(other, [n for n in range(other["nodes"]) if other["level"][n] >= 0])
        own = {n for n in inner if not spans(one, [n]) <= every}
        assert own <= set(one["differs"])
        rewritten = set(one["differs"]) - own
        assert spans(one, rewritten) <= spans(other, other["differs"])
    assert "Boundaries" in texts(app)
    assert parse_qs(address(app)["beside"]) == {"system": ["segment-tree"]}


def test_a_link_draws_both_builds_and_a_click_in_one_selects_in_both():
    link = {"sample": "ines-theo", **COSINE, "beside": "system=segment-tree", "question": "3"}
    app = opened(link, page("ask", linked=True))
    first, second = trees(app)
    plain = texts(app).replace("\\", "")
    assert f"**{OTHER}** (first)" in plain
    assert f"**{CALIBRATED}** (second)" in plain
    kept = app.session_state["memories"]
    (key,) = [k for k in kept if kept[k].settings["compatibility"]["name"] == "calibrated"]
    node = int(second["top_final"][0])
    app.session_state["selected"] = (key, node)
    clean(app.run())
    first, second = trees(app)
    assert second["selected"] == node
    start, stop = second["start"][node], second["stop"][node]
    lit = first["selected"]
    assert first["start"][lit] <= start
    assert stop <= first["stop"][lit]
    # The panels show the node of the tree that was clicked.
    assert f"node {node}" in texts(app)


def test_choosing_the_parameters_of_the_build_beside_leaves_one_tree():
    link = {"sample": "ines-theo", "beside": "system=segment-tree&texts=extracts"}
    app = opened(link, page("ask", linked=True))
    assert len(trees(app)) == 2
    app.segmented_control(key="texts").set_value("extracts").run()
    assert len(trees(clean(app))) == 1
    assert "beside" not in address(app)


def test_the_counterpart_of_a_node_is_the_smallest_over_its_units():
    memory = built()
    shape: Structure = memory.structure.collapsed
    early: Structure = memory.at(60).collapsed
    for node in early.nodes.tolist()[::7]:
        held = set(early.coverage(node))
        over = [n for n in shape.nodes.tolist() if shape.active[n] and held <= {*shape.coverage(n)}]
        least = min(len(shape.coverage(n)) for n in over)
        assert len(shape.coverage(counterpart(node, early, shape))) == least
    assert counterpart(None, early, shape) is None
