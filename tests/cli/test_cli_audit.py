"""``segviz audit`` on dumps, systems and classes."""

import csv
import json

import pytest

from segviz.evaluation.stages import STAGES
from segviz.systems import SYSTEMS
from tests.memories import sample

KEPT = sample(sessions=6).turns[::3]


@pytest.fixture(autouse=True)
def begun(run, boat):
    """The conversation of a memory, as a file."""
    run("convert", boat, "-o", "ines-theo.json")


@pytest.fixture
def store(tmp_path):
    """A mem0 dump of every third turn of it."""
    rows = [
        {"id": turn.id, "memory": f"{turn.speaker}: {turn.text}", "created_at": "2031-01-01"}
        for turn in KEPT
    ]
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps({"results": rows}))
    return path


ASK = ("audit", "ines-theo.json", "--embedder", "hashing")


def test_a_dump_is_audited_as_text_json_csv_and_page(run, store, tmp_path):
    files = ("-o", tmp_path / "lost.csv", "--html", tmp_path / "audit.html")
    ran = run(*ASK, "--store", store, "-k", 1, *files)
    assert (ran.code, ran.err) == (0, "")
    for word in ("written", "session_1", "mem0"):
        assert word in ran.out
    rows = list(csv.DictReader((tmp_path / "lost.csv").read_text().splitlines()))
    found = run(*ASK, "--store", store, "-k", 1, "--json").json
    assert found["counts"]["texts"] == len(KEPT)
    (whole,) = found["stages"]["all"]
    assert whole["gold turns"] == len(rows) == len(found["evidence"])
    assert sum(whole[stage] for stage in STAGES) == pytest.approx(1)
    assert 0.4 < whole["never written"] < 0.9
    assert "default-src 'none'" in (tmp_path / "audit.html").read_text()


def test_the_bundled_facts_are_a_worked_example(run):
    whole = ("audit", "sample:ines-theo", *ASK[2:])
    found = run(*whole, "--store", "sample:ines-theo-facts", "--json").json
    assert found["counts"]["attributed"] == 0
    shares = found["stages"]["all"][0]
    assert 0.1 < shares["never written"] < 0.2 < shares["written, not ranked"] < shares["read"]
    assert {row["turn"] for row in found["evidence"] if row["stage"] == "never written"} >= {"D1:9"}


ANSWERS = (  # as segviz grade -o writes them, of two systems
    "conversation,system,retrieval,question,right",
    *(f"ines-theo,mem0,native,{number},False" for number in range(0, 40, 2)),
    *(f"ines-theo,bm25,native,{number},False" for number in range(1, 40, 2)),
    *("ines-theo,mem0,native,41,True", "ines-theo,mem0,native,43,", "other,mem0,native,45,False"),
)


def test_answers_tell_what_was_read_and_answered_wrong(run, store, tmp_path):
    (tmp_path / "answers.csv").write_text("\n".join(ANSWERS))
    asked = (*ASK, "--store", store, "-k", 60)
    before = run(*asked, "--json").json["evidence"]
    after = run(*asked, "--run", "answers.csv", "--json").json["evidence"]
    wrong = [row["number"] for row in after if row["stage"] == "read, answered wrong"]
    read = [row["number"] for row in before if row["stage"] == "read"]
    assert wrong == [number for number in read if number in range(0, 40, 2)] != []
    assert "answered" in run(*asked, "--run", "answers.csv").out


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (ANSWERS[:1] + ANSWERS[-1:], "no answer of mem0"),
        ((*ANSWERS, ANSWERS[1].replace("False", "True")), "two answers"),
        (("question,right", "Who?,1"), "no answer of mem0 to ines-theo"),
    ],
)
def test_answers_that_cannot_be_used_are_refused(run, store, tmp_path, rows, problem):
    (tmp_path / "answers.csv").write_text("\n".join(rows))
    ran = run(*ASK, "--store", store, "--run", "answers.csv")
    assert ran.code == 2
    assert problem in ran.err


def test_runs_of_several_memories_go_into_one_folder(run, store, tmp_path):
    for audited in (("--store", store), ("--system", "bm25")):
        assert run(*ASK, *audited, "--trec", "trec").code == 0
    assert sorted(path.name for path in (tmp_path / "trec").iterdir()) == [
        *("bm25.run", "mem0.run", "qrels.txt")
    ]


def test_a_run_needs_a_folder_that_can_be_made(run, tmp_path):
    (tmp_path / "notes").write_text("to do")
    asked = (*ASK, "--system", "bm25", "--trec")
    assert "'notes' is a file; a folder is expected" in run(*asked, "notes", "-o", "a.csv").err
    assert "no folder 'nowhere'; make it" in run(*asked, "nowhere/runs", "-o", "a.csv").err
    assert ((tmp_path / "notes").read_text(), (tmp_path / "a.csv").exists()) == ("to do", False)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "bm25.run").write_text("[]")
    ran = run(*asked, "runs", "--prompts", "runs/bm25.run")
    assert (ran.code, (tmp_path / "runs" / "bm25.run").read_text()) == (2, "[]")


def test_a_budget_ends_what_is_read(run):
    whole = ("audit", "sample:ines-theo", *ASK[2:], "--store", "sample:ines-theo-facts")
    few, none, many = (
        run(*whole, "--budget", tokens, "--json").json["stages"]["all"][0]
        for tokens in (40, 1, 100_000)
    )
    assert few["ranked, not read"] > 0
    assert none["read"] == 0
    assert many["read"] == pytest.approx(1 - many["never written"])


def test_systems_and_classes_are_audited_too(run, tmp_path, monkeypatch):
    kept = dict(SYSTEMS)
    (tmp_path / "brief.py").write_text(
        "class Brief:\n"
        "    def __init__(self): self.kept = []\n"
        "    def add(self, turn): self.kept.append(turn.text)\n"
        "    def search(self, question, k): return self.kept[:k]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    try:
        found = run(*ASK, "--system", "brief:Brief", "--unit", "turn", "--json").json
        assert (found["system"], found["settings"]["method"]) == ("brief", "native")
        made = run("build", ASK[1], "--system", "brief:Brief", "-o", "brief.npz", *ASK[2:])
        assert "not saved" in made.err
        assert "brief" in run("compare", ASK[1], "--systems", "brief:Brief", *ASK[2:]).out
    finally:
        SYSTEMS.clear()
        SYSTEMS.update(kept)
    assert run(*ASK, "--system", "bm25", "--json").json["system"] == "bm25"
    said = run(*ASK, "--system", "bm25").out
    assert not said.rstrip().endswith(":")  # no heading over an empty list


def test_a_memory_is_audited_like_the_system_it_is_built_by(run, boat):
    asked = (*ASK[2:], "--system", "segment-tree", "--set", "refresh=lazy")
    assert run("build", ASK[1], "-o", "lazy.npz", *asked).code == 0
    kept, built = run("audit", "lazy.npz", "--json").json, run(*ASK[:2], *asked, "--json").json
    assert kept == built
    assert kept != run("audit", boat, "--json").json
    ran = run("audit", boat, "--store", "sample:ines-theo-facts")
    assert (ran.code, "no use for --store" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            ("--store", "x.json", "--set", "a=b"),
            "x.json is not built here, so it has no use for --set",
        ),
        (("--store", "x.json", "--texts", "extracts"), "no use for --texts"),
        (("--system", "locomo-facts", "--unit", "turn"), "no use for --unit"),
        (("--store", "x.json", "--system", "bm25"), "not both"),
        (("--store", "x.json"), "no file 'x.json'"),
        (("--system", "locomo-facts"), "brings no facts"),
        (("--system", "nowhere:Thing"), "cannot be imported"),
        (("--system", "nothing"), "nothing"),
        (("--system", "bm25", "--conversation", "x"), "no conversation 'x'"),
        (("--system", "bm25", "-k", "0"), "k is 0"),
    ],
)
def test_what_cannot_be_audited_is_said(run, given, problem):
    ran = run(*ASK, *given)
    assert ran.code == 2
    assert problem in ran.err


def test_a_store_without_texts_is_refused(run, tmp_path):
    (tmp_path / "s.json").write_text('{"messages": [{"role": "user", "content": "x"}]}')
    ran = run(*ASK, "--store", "s.json")
    assert (ran.code, "no stored text" in ran.err) == (2, True)


def test_limits_decide_the_exit_code(run, store, tmp_path):
    asked = (*ASK, "--store", store, "-k", 5)
    fine = run(*asked, "--fail-under", "never-written=1")
    assert fine.code == 0
    assert "kept: never-written" in fine.out
    limits = ("--fail-under", "recall=.99,never-written=1")
    ran = run(*asked, *limits, "--junit", tmp_path / "audit.xml", "--json")
    assert ran.code == 3
    found = json.loads(ran.out)
    kept = {row["name"]: row["kept"] for row in found["limits"]}
    assert kept == {"recall": False, "never-written": True}
    assert found["advice"]
    assert 'failures="1"' in (tmp_path / "audit.xml").read_text()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--fail-under", "recall"), "expected a name and a share"),
        (("--fail-under", ""), "''; expected a name and a share"),
        (("--fail-under", ","), "''; expected a name and a share"),
        (("--fail-under", "=.1"), "'=.1'; expected a name and a share"),
        (("--fail-under", "recall=.1,recall=.9"), "'recall' twice"),
        (("--fail-under", "recall=2"), "expected a name and a share"),
        (("--fail-under", "speed=.1"), "is no limit; choose from recall"),
        (("--junit", "audit.xml"), "give both"),
    ],
)
def test_unusable_limits_are_refused(run, store, options, problem):
    ran = run(*ASK, "--store", store, *options)
    assert ran.code == 2
    assert problem in ran.err


def test_a_run_is_audited_on_every_conversation_that_it_answers(run, tmp_path):
    begun = sample(sessions=6)
    first, second = begun.questions[:2]
    rows = [
        {"question": first.text, "retrieved": list(first.evidence), "answer": first.answer},
        {"question": second.text, "retrieved": [], "answer": "No idea"},
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    files = ("--html", tmp_path / "audit.html", "-o", tmp_path / "lost.csv")
    ran = run(*ASK, "--run", path, "--fail-under", "recall=.9", *files)
    assert (ran.code, "failed: recall is 0." in ran.out) == (3, True)
    assert "Wrong questions first" in (tmp_path / "audit.html").read_text()
    found = run(*ASK, "--run", path, "--json").json
    assert found["grades"][0] == {"group": "all", "answers": 2, "right": 0.5}
    stages = {row["number"]: row["stage"] for row in found["evidence"]}
    assert stages == {0: "read", 1: "written, not ranked"}
    # The same conversation twice is two conversations.
    both = tmp_path / "both.json"
    (one,) = json.loads((tmp_path / "ines-theo.json").read_text())
    both.write_text(json.dumps([one, one | {"sample_id": "twin-1"}]))
    ran = run("audit", both, "--run", path, *ASK[2:])
    assert "2 conversations, 4 questions with evidence" in ran.out
    assert run("audit", both, "--run", path, *ASK[2:], *files).code == 2
    assert len(run("audit", both, "--run", path, *ASK[2:], "--json").json["conversations"]) == 2


def test_a_run_takes_no_options_of_a_build(run, tmp_path):
    (tmp_path / "run.json").write_text('[{"question_id": "0", "retrieved": ["D1:1"]}]')
    ran = run(*ASK, "--run", "run.json", "--set", "a=b", "--unit", "session")
    assert (ran.code, "run.json is not built here" in ran.err) == (2, True)
    assert "no use for --unit and --set; leave it out" in ran.err


def test_a_run_of_other_questions_is_refused(run, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([{"question": "Who?", "answer": "I"}]))
    ran = run(*ASK, "--run", path)
    assert (ran.code, "no record of a question of" in ran.err) == (2, True)
