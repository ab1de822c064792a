"""File names, and foreign text made fit for XML."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.export import file_name
from segviz.export.text import legal, one_line


@given(st.text(), st.text(min_size=1, max_size=8))
def test_a_file_name_is_one_on_every_system(conversation, ending):
    name = file_name(conversation, "view", "svg")
    assert name.startswith("segviz-")
    assert name.endswith("view.svg")
    assert name.isascii()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.")
    assert len(name) < 90


@pytest.mark.parametrize(
    ("conversation", "name"),
    [
        ("conv-47", "segviz-conv-47-view.svg"),
        ("../../etc/passwd", "segviz-etc-passwd-view.svg"),
        ("Zoë & José", "segviz-Zoe-Jose-view.svg"),
        ("日本", "segviz-view.svg"),
        ("", "segviz-view.svg"),
    ],
)
def test_file_names(conversation, name):
    assert file_name(conversation, "view", "svg") == name


@given(st.text())
def test_legal_text_survives_an_xml_reader(text):
    element = ET.Element("a")
    element.text = legal(text)
    assert (ET.fromstring(ET.tostring(element)).text or "") == legal(text)
    assert legal(legal(text)) == legal(text)


def test_one_line_is_short_and_plain():
    assert one_line("a\n\u202eb  c", 10) == "a b c"
    assert one_line("abcdef", 4) == "abc…"
