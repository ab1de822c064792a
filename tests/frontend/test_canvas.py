"""The Streamlit mount, as far as it can be tested without a browser."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from segviz.ui.widgets.canvas import _node


def app() -> None:
    """A page with one leaf."""
    import numpy as np
    import streamlit as st

    from segviz.tree import Structure
    from segviz.ui.widgets.canvas import clicked, tree_canvas
    from tests.scenes import tree_message

    zero = np.zeros(1, np.int32)
    structure = Structure(
        level=zero,
        start=zero,
        stop=zero + 1,
        text=("a leaf",),
        vector=np.zeros((1, 0), np.float32),
        active=np.ones(1, np.bool_),
        edges=np.zeros((0, 2), np.int32),
    )
    payload = tree_message(
        structure, unit_sessions=[0], session_labels=["S1"], identity="x", selected=0
    )
    st.write(f"selected {tree_canvas(payload, key='tree', height=300)}")
    st.write(f"clicked {clicked('tree', 7)}")


def test_without_a_click_the_payload_decides() -> None:
    for _ in range(2):  # the component registers with every new runtime
        page = AppTest.from_function(app).run(timeout=20)
        assert not page.exception
        assert [text.value for text in page.markdown] == ["selected 0", "clicked 7"]
        base, tree = (mounted.proto.bytes for mounted in page.get("bidi_component"))
        assert b"a leaf" in base
        assert len(tree) < 4_000
        page.run()  # the page has the base by now
        again, _ = (mounted.proto.bytes for mounted in page.get("bidi_component"))
        assert b"a leaf" not in again
        assert len(again) < 200


def test_a_click_beside_the_tree_differs_from_no_click() -> None:
    assert _node(4, 1) == 4
    assert _node(-1, 1) is None
    assert _node(None, 1) == 1
