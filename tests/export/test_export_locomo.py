"""LoCoMo files: what is written is read back as it was."""

from dataclasses import replace
from datetime import datetime

import pytest

from segviz.conversation import TITLES, Conversation, Session, Turn, sample_path
from segviz.export import locomo_json
from segviz.export.locomo import locomo_date
from segviz.loaders import load, parse
from tests.export.views import HOSTILE
from tests.store.samples import every_form
from tests.trees import chat

# Letters that a file in the wrong encoding shows, too.
MISLEADING = Session("session_1", None, "", (Turn("D1:1", "\u00c3\u00a9", "\u00c2\u00a1", None),))
CONVERSATIONS = {
    "every part": every_form().conversation,
    "hostile": chat([[("<b>Eve</b>", text) for text in HOSTILE if "\x00" not in text]]),
    "misleading": Conversation("\u00c2\u00a1", ("\u00c3\u00a9",), (MISLEADING,), (), "other"),
}


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_what_is_written_is_read_back(name):
    conversation = CONVERSATIONS[name]
    written = locomo_json([conversation])
    (found,) = parse(written.encode("utf-8"), "written.json")
    dates = [s.raw_date if s.start is None else locomo_date(s.start) for s in conversation.sessions]
    expected = replace(
        conversation,
        source_format="LoCoMo",
        sessions=tuple(
            replace(s, raw_date=date) for s, date in zip(conversation.sessions, dates, strict=True)
        ),
    )
    assert found == expected
    assert locomo_json([found]) == written


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (datetime(2023, 5, 8, 13, 56), "1:56 pm on 8 May, 2023"),
        (datetime(2024, 2, 29, 0, 5), "12:05 am on 29 February, 2024"),
        (datetime(999, 12, 1, 12, 0), "12:00 pm on 1 December, 0999"),
    ],
)
def test_dates_by_hand(moment, written):
    assert locomo_date(moment) == written


@pytest.mark.parametrize("name", TITLES)
def test_the_samples_come_back_as_they_are(name, tmp_path):
    corpus = load(sample_path(name))
    path = tmp_path / "again.json"
    path.write_text(locomo_json(corpus), encoding="utf-8")
    assert list(load(path)) == list(corpus)
