"""An audit opened beside a conversation in the app: marks, and a switch that leaves out."""

import json

import pytest

from tests.app.conftest import (
    ASKED,
    clean,
    keyed,
    labelled,
    open_path,
    page,
    tables,
    texts,
    unfolded,
)

pytestmark = pytest.mark.usefixtures("small")

AUDIT = [
    {
        "question": ASKED[1][0],
        "error_type": "WRONG_CITATION",
        "correct_evidence": ["D2:2", "D9:9"],
        "correct_answer": "**rye** <b>flour</b>",
    },
    {"question": "Who baked it?", "error_type": "HALLUCINATION"},
]


def upload(app, data: bytes):
    app = clean(app.run())
    (box,) = [one for one in app.file_uploader if str(one.key).startswith("audit-")]
    return clean(box.set_value(("errors.json", data, "application/json")).run())


@pytest.fixture
def audited():
    """Opens a page with the audit beside the small conversation."""
    return lambda name: upload(unfolded(page(name)), json.dumps(AUDIT).encode())


def atlas(app):
    return next(f.value for f in app.dataframe if "B against A" in f.value.columns)


def test_the_report_counts_entries_and_places_evidence_that_names_no_turn(audited):
    app = audited("ask")
    assert "1 of 2 entries" in texts(app)
    found = next(f.value for f in app.dataframe if list(f.value.columns) == ["where", "detail"])
    assert list(found["where"]) == ["[0].correct_evidence[1]"]


def test_the_atlas_marks_disputed_questions_and_leaves_them_out(audited):
    app = audited("sweep")
    rows = atlas(app)
    assert dict(zip(rows["question"], rows["disputed"], strict=True)) == {
        text: "wrong citation" if text == ASKED[1][0] else "" for text, *_ in ASKED
    }
    counted = next(one for one in tables(app) if "all questions" in one.columns)
    assert {"without disputed", "n without disputed"} <= set(counted.columns)
    assert "Over 4 questions" in app.main.markdown[0].help
    labelled(app.toggle, "Count disputed").set_value(False).run()
    assert "Over 3 questions" in clean(app).main.markdown[0].help
    assert "With disputed questions" in app.main.markdown[0].help
    assert ASKED[1][0] not in set(atlas(app)["question"])
    assert "but the disputed ones" in texts(app)


def test_compare_has_both_numbers(audited):
    app = audited("compare")
    for switch, other in ((True, "without disputed"), (False, "with disputed")):
        labelled(app.toggle, "Count disputed").set_value(switch).run()
        every = tables(clean(app))
        rows = next(rows for rows in every if "difference to the first" in rows.columns)
        assert set(rows["n"]) == {"4" if switch else "3"}
        assert other in rows.columns
        assert (ASKED[1][0] in set(atlas(app)["question"])) == switch


def test_ask_says_what_the_audit_says(audited):
    app = audited("ask")
    (box,) = keyed(app.selectbox, "question-box-")
    assert f"{ASKED[1][0]} · disputed" in box.options
    clean(box.set_value(1).run())
    assert "Corrected evidence: D2:2, D9:9" in texts(app)
    assert "Corrected answer: **rye** <b>flour</b>" in [
        line for one in app.text for line in str(one.value).splitlines()
    ]


def test_what_is_no_audit_is_said_and_nothing_is_marked():
    app = upload(unfolded(page("sweep")), b"[1, 2]")
    assert "This audit is not used." in texts(app)
    assert "disputed" not in atlas(app).columns
    assert not [one for one in app.toggle if one.key == "disputed"]


def test_a_conversation_without_questions_asks_for_no_audit(tmp_path):
    path = tmp_path / "talk.txt"
    path.write_text("Ada: Hello.\nBen: Yes.\n")
    app = open_path(page("grow").run(), path)
    assert not keyed(app.file_uploader, "audit-")
