"""An audit marks the questions it disputes; its report says what found no question."""

import csv
import io
import json

import pytest

import segviz
from segviz.conversation import Conversation, Corpus, Question, Session, Turn, sample_path
from segviz.loaders import LoadError, with_audit

FILE = sample_path("ines-theo")
DOG = "What names has Theo's dog gone by, from the shelter until now?"
BOAT = "Which three names has Ines's boat had or been promised, in order?"

ENTRIES = [
    {
        "question_id": "ines-theo_q0",
        "question": DOG,
        "error_type": "WRONG_CITATION",
        "correct_evidence": ["D4:3", "D5:2; D7:12"],
        "correct_answer": "Duke, Kanel, Mutter",
        "reasoning": "the last name is said later",
    },
    {
        "question": f"  {BOAT.upper()} ",
        "error_type": "INCOMPLETE",
        "correct_evidence": ["D1:6", "D99:1"],
    },
    {"question_id": "ines-theo_q2", "question": "Who sold the lighthouse?", "error_type": "OTHER"},
]


def audit(entries: object) -> bytes:
    return json.dumps(entries).encode()


def disputed(corpus: Corpus) -> dict[tuple[str, int], Question]:
    return {(c.id, q.index): q for c in corpus for q in c.questions if q.disputed is not None}


def talk(name: str, *questions: str) -> Conversation:
    turns = (Turn("D1:1", "Ada", "Hello."), Turn("D1:2", "Ben", "Yes."))
    return Conversation(
        name,
        ("Ada", "Ben"),
        (Session("s1", None, "", turns),),
        tuple(Question(row, text, "no", 1, ("D1:1",)) for row, text in enumerate(questions)),
    )


def test_disputed_questions_carry_the_error_and_the_correction():
    found = disputed(with_audit(segviz.load(FILE), audit(ENTRIES), "audit.json"))
    assert list(found) == [("ines-theo", 0), ("ines-theo", 1)]
    dog, boat = (question.disputed for question in found.values())
    assert (dog.kind, dog.reason) == ("wrong citation", "the last name is said later")
    assert (dog.evidence, dog.answer) == (("D4:3", "D5:2", "D7:12"), "Duke, Kanel, Mutter")
    assert (boat.evidence, boat.unresolved, boat.answer) == (("D1:6",), ("D99:1",), None)


def test_the_report_counts_entries_without_a_question_and_places_unresolved_evidence(tmp_path):
    path = tmp_path / "audit.json"
    path.write_bytes(audit(ENTRIES))
    report = segviz.load(FILE, audit=path).report.audit
    assert (report.name, report.matched, report.unmatched) == ("audit.json", 2, 1)
    assert (report.questions, report.unresolved) == (2, 1)
    assert "[1].correct_evidence[1]" in [finding.where for finding in report.findings]
    assert segviz.load(FILE).report.audit is None


def as_table() -> bytes:
    rows = io.StringIO()
    writer = csv.DictWriter(rows, ["question", "error_type", "correct_evidence"])
    writer.writeheader()
    for entry in ENTRIES:
        cited = "; ".join(entry.get("correct_evidence", ()))
        writer.writerow(
            {n: entry[n] for n in ("question", "error_type")} | {"correct_evidence": cited}
        )
    return rows.getvalue().encode()


@pytest.mark.parametrize(
    "data",
    [
        audit({"errors": ENTRIES, "version": 2}),
        audit({"ines-theo": ENTRIES}),
        audit([{"conversation": "ines-theo", "errors": ENTRIES}]),
        "\n".join(map(json.dumps, ENTRIES)).encode(),
        as_table(),
    ],
    ids=["under a key", "by conversation", "grouped", "JSON Lines", "table"],
)
def test_shapes_of_an_audit_are_read_alike(data):
    found = disputed(with_audit(segviz.load(FILE), data))
    assert list(found) == [("ines-theo", 0), ("ines-theo", 1)]
    assert found["ines-theo", 1].disputed.unresolved == ("D99:1",)


@pytest.mark.parametrize(
    ("id_of_entry", "marked"),
    [
        ("conv-4_q0", [("conv-4", 0)]),
        ("conv-47 #1", [("conv-47", 1)]),
        ("conv-48_q1", [("conv-4", 1), ("conv-47", 1)]),  # no conversation of the file
        ("", [("conv-4", 0), ("conv-4", 1), ("conv-47", 0), ("conv-47", 1)]),
    ],
)
def test_the_id_of_an_entry_tells_equal_questions_apart(id_of_entry, marked):
    corpus = Corpus((talk("conv-4", "Why?", "Why?"), talk("conv-47", "Why?", "Why?")))
    entry = {"question_id": id_of_entry, "question": "Why?", "error_type": "AMBIGUOUS"}
    assert list(disputed(with_audit(corpus, audit([entry])))) == marked


def test_an_entry_about_a_named_conversation_marks_no_other():
    corpus = Corpus((talk("conv-4", "Who?"), talk("conv-47", "Why?")))
    entry = {"question_id": "conv-4_q0", "question": "Why?", "error_type": "AMBIGUOUS"}
    found = with_audit(corpus, audit([entry]))
    assert not disputed(found)
    assert (found.report.audit.matched, found.report.audit.unmatched) == (0, 1)


@pytest.mark.parametrize(
    ("given", "evidence", "answer"),
    [
        ({"correct_answer": "yes"}, ("D1:1",), "yes"),
        ({"correct_evidence": ["D1:2"]}, ("D1:2",), "no"),
        ({"correct_evidence": []}, (), "no"),
        ({"error_type": "AMBIGUOUS"}, ("D1:1",), "no"),
    ],
)
def test_a_corrected_question_has_what_the_audit_gives_and_else_its_gold(given, evidence, answer):
    corpus = with_audit(Corpus((talk("a", "Why?"),)), audit([{"question": "Why?", **given}]))
    corrected = corpus[0].questions[0].corrected
    assert (corrected.evidence, corrected.answer) == (evidence, answer)


@pytest.mark.parametrize(
    "data", [b"", b"plain words", audit([{"question": "Why?", "answer": "no"}]), audit([1, 2])]
)
def test_a_file_that_is_no_audit_is_refused_by_its_name(data):
    with pytest.raises(LoadError) as refused:
        with_audit(segviz.load(FILE), data, "other.json")
    assert refused.value.where.startswith("other.json")
    assert "question" in refused.value.expected


def test_a_missing_audit_is_refused(tmp_path):
    with pytest.raises(LoadError, match=r"none\.json"):
        segviz.load(FILE, audit=tmp_path / "none.json")


def test_a_corpus_that_is_read_item_by_item_takes_no_audit(tmp_path):
    path = tmp_path / "many.json"
    one = {"question_id": "a", "question_type": "x", "question": "Why?", "answer": "no"}
    one |= {"haystack_session_ids": ["s"], "haystack_dates": ["2023/05/28 (Sun) 19:47"]}
    one |= {"haystack_sessions": [[{"role": "user", "content": "Hello."}]]}
    path.write_text(json.dumps([one, {**one, "question_id": "b"}]), "utf-8")
    corpus = segviz.load(path, by_items=1)
    assert len(corpus) == 2
    with pytest.raises(LoadError):
        with_audit(corpus, audit(ENTRIES))


def test_marks_are_saved_with_a_memory(tmp_path):
    conversation = with_audit(segviz.load(FILE), audit(ENTRIES))[0]
    memory = segviz.build(conversation, "bm25")
    memory.save(tmp_path / "marked.json")
    assert segviz.open(tmp_path / "marked.json").conversation.questions == conversation.questions
