"""The inspector on both pages, over a tree and a graph with facts."""

import json

import pytest

from tests.app.conftest import clean, grow, open_path, page, read_message, texts

pytestmark = pytest.mark.usefixtures("small")


def opened(app):
    """Key and memory that are open: the latest asked for."""
    return next(reversed(app.session_state["memories"].items()))


def data(app, key):
    """What a mounted list component was given; None where it is not on the page."""
    for mounted in app.get("bidi_component"):
        if mounted.proto.id.endswith(f"-{key}"):
            return read_message(mounted.proto.bytes)
    return None


def selected(app, node, **state):
    """The page with a node selected, as a click on the canvas does it."""
    app.run()
    for name, value in state.items():
        app.session_state[name] = value
    app = clean(app.run())
    return select(app, node)


def select(app, node):
    app.session_state["selected"] = (opened(app)[0], node)
    return clean(app.run())


def tab(app, name):
    app.session_state["inspect"] = name
    return clean(app.run())


def rows(app, key, title):
    """Rows of the group whose title begins so."""
    groups = data(app, key)["groups"]
    return next((g["items"] for g in groups if g["title"].startswith(title)), [])


@pytest.mark.parametrize("system", ["segment-tree", "h-mem"])
def test_every_tab_shows_what_a_node_has(system):
    app = selected(page("grow"), 0, system=system)
    s = opened(app)[1].structure.collapsed
    retired = [node for node in s.nodes.tolist() if not s.active[node]]
    shared = [node for node, parents in enumerate(s.parents) if len(parents) > 1]
    related = [relation.target for relation in s.relations]
    for node in sorted({0, s.roots[-1], *retired[:1], *shared[:1], *related[:1]}):
        app.session_state["selected"] = (opened(app)[0], node)
        tab(app, "Text")
        assert rows(app, "node-text", "")[0]["text"] == s.text[node]
        assert (data(app, "node-facts") is None) == (not s.facts[node])
        if s.facts[node]:
            assert [r["head"] for r in rows(app, "node-facts", "")] == list(s.facts[node])
        assert data(app, "node-kin") is None  # only the open tab is computed
        tab(app, "Above and below")
        if data(app, "node-kin") is None:
            assert not s.parents[node]
            assert not s.children[node]
        else:
            children = rows(app, "node-kin", "Children")
            assert [r["node"] for r in children] == list(s.children[node][:50])
            others = rows(app, "node-kin", "Other parents")
            assert [r["node"] for r in others] == list(s.parents[node][1:])
            count = sum(node in (r.source, r.target) for r in s.relations)
            assert len(rows(app, "node-kin", "Related")) == min(50, count)
        tab(app, "Similar")
        if data(app, "node-nearest") is None:
            assert node == s.roots[0] == s.roots[-1]
        else:
            assert 1 <= len(rows(app, "node-nearest", "")) <= 5
        tab(app, "History")
        assert len(data(app, "node-history")["items"]) >= 1


def test_history_ends_at_the_step_shown_and_leads_to_the_next(monkeypatch):
    monkeypatch.delenv("SEGVIZ_FILE")  # the sample: its root was written more than ten times
    app = selected(grow(), 0)
    select(app, opened(app)[1].structure.roots[0])
    tab(app, "History")
    steps = [item["step"] for item in data(app, "node-history")["items"]]
    assert steps == sorted(steps, reverse=True)
    assert len(steps) == 10
    assert "later-step" not in [b.key for b in app.button]
    app.slider[0].set_value(steps[-1]).run()
    assert data(clean(app), "node-history")["items"][0]["step"] == steps[-1]
    app.button(key="later-step").click().run()
    assert clean(app).slider[0].value == steps[-2]
    select(app, 300)
    app.slider[0].set_value(2).run()
    assert "node 300 does not exist yet" in texts(clean(app))


def test_two_pins_are_compared_and_cleared():
    app = selected(page("ask"), 0)
    first, second, third = opened(app)[1].structure.leaves[2:5]
    select(app, first)
    app.button(key="pin").click().run()
    assert "Pin another node" in texts(clean(app))
    for node in (second, third):
        select(app, node).button(key="pin").click().run()
    assert f"**Pinned: nodes {second} and {third}**" in texts(clean(app))
    memory = opened(app)[1]
    for node in (second, third):
        shown = data(app, f"pin-text-{node}")["groups"][0]["items"][0]["text"]
        assert shown == memory.structure.text[node]
    app.session_state["pins-view"] = "Word by word"
    pieces = data(clean(app.run()), "pins-diff")["items"][0]["pieces"]
    assert "".join(text for kind, text in pieces if kind != "new") == memory.structure.text[second]
    app.button(key="pin").click().run()  # the third is still selected
    assert f"**Pinned: node {second}**" in texts(clean(app))
    app.button(key="clear-pins").click().run()
    assert "Pinned" not in texts(clean(app))


def test_pins_belong_to_their_memory():
    app = selected(grow(), 8)
    app.button(key="pin").click().run()
    app.selectbox(key="unit").set_value("turn").run()
    assert "Pinned" not in texts(clean(app))
    app.selectbox(key="unit").set_value("exchange").run()
    assert "**Pinned: node 8**" in texts(clean(app))


def test_a_memory_of_one_hostile_node(tmp_path):
    text = "<img src=x onerror=alert(1)> **bold** :red[x] $a$"
    path = tmp_path / "one.json"
    turns = [{"speaker": "A*", "dia_id": "D1:1", "text": text}]
    path.write_text(
        json.dumps(
            {
                "speaker_a": "A*",
                "speaker_b": "B",
                "session_1": turns,
                "session_1_date_time": "**no** <i>date</i>",
            }
        )
    )
    app = open_path(grow().run(), path)
    select(app, 0)
    assert rows(app, "node-text", "")[0]["text"] == f"A*: {text}"
    assert not [m for m in (*app.markdown, *app.caption) if "**no**" in str(m.value)]
    tab(app, "Above and below")
    assert "Nothing is above or below this node." in texts(app)
    tab(app, "Similar")
    assert "There is no node to compare" in texts(app)
    tab(app, "History")
    (entry,) = data(app, "node-history")["items"]
    assert entry["pieces"] == [["same", f"A*: {text}"]]
