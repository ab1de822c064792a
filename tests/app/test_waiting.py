"""A wait says what it is for, and a click on Stop ends it."""

from threading import Event, current_thread
from time import sleep

import pytest
from streamlit.testing.v1 import AppTest

from segviz.memory import Memory
from segviz.ui.widgets import waiting
from tests.app.conftest import clean, page


def _page() -> None:
    import streamlit as st

    from segviz.ui.widgets.waiting import computed

    done = st.session_state["done"]

    def work() -> int:
        done.wait(20)
        return 7

    st.write(f"found {computed('numbers', 'seven', 2, 'Count to seven', work)}")


def _twice() -> None:
    from time import sleep

    from segviz.ui.widgets.waiting import computed

    for key in ("first", "second"):
        computed("numbers", key, 2, "Count", lambda: sleep(0.6) or 7)


def test_two_values_of_one_name_may_both_take_long(monkeypatch):
    monkeypatch.setattr(waiting, "SILENT", 0.0)
    assert not AppTest.from_function(_twice).run().exception


def _in_a_row() -> None:
    from functools import partial

    import streamlit as st

    from segviz.ui.widgets.waiting import waiting
    from segviz.waiting import waited_for

    def said(number: int) -> str:
        st.session_state["said"].append(number)
        return "Count"

    for number in range(6):
        with waiting(partial(said, number), ""):
            waited_for(st.session_state["work"])


def test_waits_in_a_row_are_one_silence(monkeypatch):
    """None of six waits is long, but two of them leave a page without a note for too long."""
    now = [0.0]
    monkeypatch.setattr(waiting, "monotonic", lambda: now[0])

    def work() -> None:
        now[0] += 0.3
        sleep(0.3)  # longer than a beat

    app = AppTest.from_function(_in_a_row)
    app.session_state["said"], app.session_state["work"] = [], work
    clean(app.run())
    assert app.session_state["said"] == [1, 3, 5]


def test_short_work_draws_no_note():
    app = AppTest.from_function(_page)
    app.session_state["done"] = done = Event()
    done.set()
    app.run()
    assert not app.caption
    assert not app.button
    assert app.markdown[0].value == "found 7"


def test_stopped_work_gives_nothing_and_a_button_computes_it_after_all(monkeypatch):
    monkeypatch.setattr(waiting, "SILENT", 0.0)
    app = AppTest.from_function(_page)
    app.session_state["done"] = done = Event()
    app.session_state["stopped-numbers"] = "seven"  # as a click on Stop leaves it
    app.run()
    assert app.markdown[0].value == "found None"
    (again,) = app.button
    done.set()
    again.click().run()
    assert app.markdown[0].value == "found 7"


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["grow", "ask", "compare"])
def test_a_page_waits_with_a_note_for_labels_and_for_answers(monkeypatch, name):
    """What computes them is in a thread; only then can the page draw a note meanwhile."""
    waited: dict[tuple[str, int], bool] = {}
    for method, made in (("labels", Memory.labels), ("scorer", Memory.scorer)):

        def noting(self, *given, made=made, method=method):
            what = method, id(given[-1] if given else self.structure)
            waited.setdefault(what, current_thread().name == "segviz-model")  # then it is known
            return made(self, *given)

        monkeypatch.setattr(Memory, method, noting)
    clean(page(name).run())
    assert waited
    assert all(waited.values()), waited
