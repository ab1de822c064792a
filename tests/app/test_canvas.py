"""The Streamlit mount, as far as it can be tested without a browser."""

from streamlit.testing.v1 import AppTest

from segviz.ui.widgets.canvas import _node


def app() -> None:
    """A page with one leaf."""
    import streamlit as st

    from segviz.ui.widgets.canvas import CanvasActions, tree_canvas
    from tests.scenes import leaves, tree_message

    payload = tree_message(
        leaves("a leaf"), unit_sessions=[0], session_labels=["S1"], identity="x", selected=0
    )
    heard: list[int | None] = []
    tree_canvas(payload, key="tree", height=300, actions=CanvasActions(select=heard.append))
    st.write(f"heard {heard}")


def test_without_a_click_the_payload_decides() -> None:
    for _ in range(2):  # the component registers with every new runtime
        page = AppTest.from_function(app).run(timeout=20)
        assert not page.exception
        assert [text.value for text in page.markdown] == ["heard []"]
        (tree,) = (mounted.proto.bytes for mounted in page.get("bidi_component"))
        assert b"a leaf" in tree


def test_a_click_beside_the_tree_differs_from_no_click() -> None:
    heard: list[int | None] = []
    for sent in (4, -1, None, "4"):
        _node(heard.append, sent)
    assert heard == [4, None]
