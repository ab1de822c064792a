"""``segviz grade`` over the wire: cost first, wrong replies, a server that dies, the same bytes."""

import csv
import json
import re

import click
import pytest

from segviz.cli import models as module
from segviz.evaluation import bleu1, token_f1
from segviz.llm import Price
from tests.llm.server import ModelServer, empty, enum, say, status, texts_under

QUESTIONS = [
    {"question": "Which boat 0?", "answer": "red boat", "evidence": ["D1:1"], "category": 4},
    {"question": "Which boat 1?", "answer": "red boat", "evidence": ["D1:2"], "category": 4},
    {"question": "Which boat 2?", "answer": "a canoe", "evidence": ["D1:3"], "category": 1},
    {"question": "Which plane?", "adversarial_answer": "a glider", "category": 5},
    {"question": "Which car?", "evidence": ["D1:2"], "category": 3},
]
"""Four with a gold answer, the last without."""

PROBED = ("Which fruit", "Write the numbers")


def answer(request):
    """The answerer knows red boats alone; the judge accepts what shares a word with the gold."""
    if not enum(request):
        asked = texts_under(request, "Question")
        return "Not mentioned." if "plane" in str(asked) else "red boat"
    if not texts_under(request, "Reference"):
        return enum(request)[-1]  # a decision of a build
    (gold,), (said,) = (texts_under(request, name) for name in ("Reference", "Answer"))
    return "3" if set(gold.split()) & set(said.split()) else "1"


def probed(request):
    return any(part in str(request["messages"]) for part in PROBED)


@pytest.fixture
def server(run, monkeypatch):
    with ModelServer() as running:
        running.answer = lambda request: "one two" if probed(request) else answer(request)
        monkeypatch.setenv("SEGVIZ_BASE_URL", running.url)
        yield running


@pytest.fixture
def asked(talk):
    talk.write_text(json.dumps(json.loads(talk.read_text()) | {"qa": QUESTIONS}))
    return talk


GRADE = ("--embedder", "hashing", "--system", "dense", "--model", "small", "--judge", "strict")


def test_answers_are_graded_and_overlaps_counted(run, server, asked):
    ran = run("grade", asked, *GRADE, "-k", 5, "--deduplicate", "--yes", "--json")
    assert ran.code == 0
    found = ran.json
    (row,) = found["rows"]
    assert (row["settings"]["k"], row["settings"]["deduplicate"]) == (5, True)
    assert (row["system"], row["retrieval"], row["questions"]) == ("dense", "native", 4)
    assert found["answerer"].startswith("small")
    assert found["judge"].startswith("strict")
    accuracy = row["measures"]["accuracy"]
    assert (accuracy["all"]["value"], accuracy["all"]["n"]) == (0.75, 4)
    assert accuracy["without_adversarial"]["value"] == pytest.approx(2 / 3)
    f1 = [1, 1, token_f1("red boat", "a canoe"), 1]
    assert row["measures"]["token_f1"]["all"]["value"] == pytest.approx(sum(f1) / 4)
    assert {name: mean["value"] for name, mean in row["categories"].items()} == {
        "1 multi-hop": 0,
        "4 single-hop": 1,
        "5 adversarial": 1,
    }
    answers = {each["question"]: each for each in found["answers"]}
    assert sorted(answers) == [0, 1, 2, 3]  # the last has no gold answer
    assert answers[2]["bleu1"] == bleu1("red boat", "a canoe")
    assert [answers[place]["right"] for place in range(4)] == [True, True, False, True]
    models = [request["model"] for request in server.asked]
    assert (models.count("small"), models.count("strict")) == (4, 3)


def test_the_table_has_a_row_for_each_system_and_retrieval_with_paired_gains(run, server, asked):
    ways = ("--systems", "dense,segment-tree", "--retrievals", "native,none,bottom-up")
    common = [word for word in GRADE if word not in ("--system", "dense")]
    out = run("grade", asked, *common, *ways, "--yes").out
    assert re.search(r"answered from +judge accuracy +gain", " ".join(out.split()))
    lines = [line for line in out.splitlines() if " · " in line and "[+0.000" in line]
    rows = [re.split(r"  +", line) for line in lines]
    assert [row[0] for row in rows] == [
        *("dense · native", "dense · collapsed", "dense · bottom-up 0.1, H 2"),
        *("segment-tree · native", "segment-tree · collapsed", "segment-tree · bottom-up 0.1, H 2"),
    ]
    own, same = rows[0][0], rows[1][0]
    assert [row[3] for row in rows] == [own, same, same] * 2
    assert "4 questions of 1 conversation" in out
    assert "nan" not in out  # of the one question of a category
    distinct = {str(request["messages"]) for request in server.asked}
    assert len(server.asked) == len(distinct)  # the same evidence is sent once


def test_excerpts_that_a_prompt_had_no_room_for_are_counted(run, server, asked):
    talk = json.loads(asked.read_text())
    text = "a boat sails along the coast " * 10
    turns = [{"speaker": "A", "dia_id": f"D1:{n + 1}", "text": f"{n} {text}"} for n in range(40)]
    asked.write_text(json.dumps(talk | {"session_1": turns}))
    short = (*GRADE[:6], "--unit", "turn", "-k", "40", "--prompt-tokens", "1000")
    graded = ("grade", asked, *short, "-y")
    answers = run(*graded, "--json").json["answers"]
    assert all(0 < each["left_out"] < 39 for each in answers)
    assert "4 answers without the lowest-ranked excerpts" in run(*graded).out
    asked = ("ask", asked, "--number", "0", *short, "--answer")
    left = run(*asked, "--json").json["answer"]["left_out"]
    assert left == answers[0]["left_out"]
    assert f"answer from the best {40 - left} of 40 excerpts:\n" in run(*asked).out


def test_calls_tokens_and_time_are_told_before_anything_is_sent(run, server, asked):
    ran = run("grade", asked, *GRADE)
    assert ran.code == 2
    assert "--yes" in ran.err
    assert server.asked == []
    told = re.findall(r"(answers|grades) by (\w+): about (\d+) calls .* minute", ran.err)
    assert told == [("answers", "small", "4"), ("grades", "strict", "3")]


def test_a_model_that_answers_nothing_was_asked_all_the_same(run, server, asked):
    server.fault = lambda request: empty()
    ran = run("grade", asked, *GRADE[:-2], "--yes", "--retries", "0")
    assert server.asked
    assert "nothing used" not in ran.err


@pytest.mark.parametrize("fair", [True, False])
def test_a_judge_that_gives_one_grade_alone_is_said(run, server, asked, fair):
    """As a model of half a billion parameters did: 1 for all eight answers, right or wrong."""
    talk = json.loads(asked.read_text())
    boats = [{**QUESTIONS[0], "question": f"Which boat {n}?"} for n in range(5)]
    asked.write_text(json.dumps(talk | {"qa": [*boats, QUESTIONS[2]]}))
    usual = server.answer
    server.answer = lambda r: usual(r) if fair or not texts_under(r, "Reference") else "1"
    said = "the judge gave the grade 1 to all 6 answers" in run("grade", asked, *GRADE, "-y").out
    assert said is not fair


def test_the_log_begins_at_once_and_counts_replies(run, server, asked):
    assert "dense · native: 0 of 4 questions, 0 replies\n" in run("grade", asked, *GRADE, "-y").err


@pytest.mark.parametrize("yes", [True, False])
def test_a_server_that_is_away_is_said_once(run, server, asked, yes):
    given = ("--server", "http://127.0.0.1:9/v1", "--retries", "0", *(["--yes"] if yes else []))
    ran = run("grade", asked, *GRADE, *given)
    assert ran.code == (3 if yes else 2)
    assert ran.err.count("the connection failed") == 1


@pytest.mark.parametrize("agrees", [True, False])
def test_it_starts_if_the_user_agrees(run, server, asked, monkeypatch, agrees):
    monkeypatch.setattr(module, "sys", Terminal)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: agrees)
    ran = run("grade", asked, *GRADE)
    assert ran.code == 0
    assert bool(server.asked) == agrees
    assert ("nothing was asked" in ran.err) != agrees


class Terminal:
    """In the place of ``sys``: somebody sits there."""

    class stdin:
        @staticmethod
        def isatty():
            return True


def test_money_is_told_where_the_price_is_known(run, server, asked, monkeypatch):
    monkeypatch.setattr(module, "price", lambda *_: Price(1_000.0, 0.0))
    assert re.search(r"answers by small: .*, \$\d+\.\d\d", run("grade", asked, *GRADE).err)


def test_a_model_does_not_grade_itself_unnamed(run, server, asked):
    ran = run("grade", asked, *GRADE[:-2], "--yes", "--json")
    assert "no model grades" in ran.err
    assert ran.json["judge"] == ""
    graded = {each["question"]: each["right"] for each in ran.json["answers"]}
    assert graded == {0: None, 1: None, 2: None, 3: True}
    assert not [request for request in server.asked if enum(request)]
    assert run("grade", asked, "--embedder", "hashing").code == 2


def test_a_reply_that_is_no_grade_is_left_out_and_noted(run, server, asked):
    server.fault = lambda request: (
        say("three") if enum(request) and "boat 1?" in str(request["messages"]) else None
    )
    ran = run("grade", asked, *GRADE, "--retries", "0", "--yes", "--json")
    (row,) = ran.json["rows"]
    assert (ran.code, row["faults"], row["measures"]["accuracy"]["all"]["n"]) == (0, 1, 3)
    assert "expected a grade" in ran.json["answers"][1]["fault"]


def test_disputed_questions_are_counted_or_left_out(run, server, asked, tmp_path):
    audit = [{"question": "Which boat 2?", "error_type": "WRONG_ANSWER"}]
    (tmp_path / "audit.json").write_text(json.dumps(audit))
    assert run("grade", asked, *GRADE, "--yes", "--no-disputed").code == 2
    assert server.asked == []
    marked = (*GRADE, "--audit", "audit.json", "--yes")
    (row,) = run("grade", asked, *marked, "--json").json["rows"]
    assert row["measures"]["accuracy"]["all"]["value"] == 0.75
    assert row["measures"]["accuracy"]["without_disputed"]["value"] == 1
    assert "without disputed" in run("grade", asked, *marked).out
    assert "with disputed" in run("grade", asked, *marked, "--no-disputed").out


def test_a_judge_on_another_server_sees_grades_alone(run, server, asked):
    with ModelServer() as other:
        other.answer = answer
        ran = run("grade", asked, *GRADE, "--judge-server", other.url, "--yes")
        assert ran.code == 0
        assert all(map(enum, other.asked))
        assert len(other.asked) == 3
    assert not any(map(enum, server.asked))
    for url in (server.url, other.url):
        assert f"texts of the conversation are sent to {url}" in ran.err


def test_a_limit_takes_questions_from_everywhere(run, server, asked):
    found = run("grade", asked, *GRADE, "--limit", "2", "--yes", "--json").json["answers"]
    assert [each["question"] for each in found] == [0, 2]


def test_every_answer_is_a_line_of_the_csv(run, server, asked, tmp_path):
    server.answer = lambda request: "3" if enum(request) else "=1+1"
    assert run("grade", asked, *GRADE, "--yes", "-o", "all.csv").code == 0
    rows = list(csv.DictReader((tmp_path / "all.csv").read_text("utf-8").splitlines()))
    assert [row["question"] for row in rows] == ["0", "1", "2", "3"]
    assert {row["answer"] for row in rows} == {"'=1+1"}


def test_questions_of_several_memories_are_paired(run, server, asked):
    for name in ("a", "b"):
        assert run("build", asked, "--embedder", "hashing", "-o", f"{name}.json").code == 0
    rows = run("grade", "a.json", "b.json", *GRADE[4:], "--yes", "--json").json["rows"]
    assert [row["system"] for row in rows] == ["a", "b"]
    assert rows[1]["measures"]["accuracy"]["gain"]["value"] == 0


def test_a_server_that_dies_pauses_and_the_same_command_ends_with_the_same_bytes(
    run, server, asked, tmp_path, monkeypatch
):
    command = ("grade", asked, *GRADE, "--yes", "--json", "--concurrency", "1", "--retries", "0")
    monkeypatch.setenv("SEGVIZ_CACHE", str(tmp_path / "another"))
    whole = run(*command)
    monkeypatch.setenv("SEGVIZ_CACHE", str(tmp_path / "cache"))
    server.requests.clear()
    server.fault = lambda request: status(500) if len(server.asked) > 5 else None
    ran = run(*command)
    assert (ran.code, ran.out) == (3, "")
    assert "the same command continues" in ran.err
    answered = [str(request["messages"]) for request in server.asked[:5]]
    server.fault = lambda request: None
    server.requests.clear()
    assert run(*command).out == whole.out
    assert len(server.asked) == 2
    assert not {str(r["messages"]) for r in server.asked} & set(answered)
    server.fault = lambda request: status(500)
    server.requests.clear()
    assert run(*command).out == whole.out  # nothing is left to ask
    assert server.asked == []


def test_a_table_of_a_paper_is_measured_with_models(run, server, asked):
    command = ("reproduce", "segtreemem", "table-4", "--data", asked, "--embedder", "hashing")
    models = ("--model", "small", "--judge", "strict")
    assert "--judge" in run(*command).out
    assert run(*command, *models[:2]).code == 2
    assert run(*command, *models, "--yes", "--workers", "2").code == 2
    ran = run(*command, *models)
    assert (ran.code, server.asked) == (2, [])
    told = dict(re.findall(r"(\w+) by \w+: about (\d+) calls", ran.err))
    assert set(told) == {"decisions", "texts", "answers", "grades"}
    ran = run(*command, *models, "--yes", "--json")
    assert ran.code == 0, ran.err
    rows = {row["method"]: row for row in ran.json["entries"][0]["rows"]}
    assert rows["BM25"]["judge accuracy"]["n"] == 4
    assert rows["BM25"]["judge accuracy, paper"] == 0.469
    sent = len(server.asked)
    assert run(*command, *models, "--yes", "--json").json["entries"][0]["rows"] == [*rows.values()]
    assert len(server.asked) == sent


def test_a_figure_is_measured_with_models_on_a_tree_of_choice(run, server, asked):
    command = ("reproduce", "segtreemem", "figure-6", "--data", asked, "--embedder", "hashing")
    models = ("--model", "small", "--judge", "strict")
    ran = run(*command, *models)
    assert (ran.code, server.asked) == (2, [])  # calls and tokens first; nothing is sent
    assert re.search(r"answers by small: about \d+ calls?.*, [\d,]+ tokens read", ran.err)
    ran = run(*command, *models, "--yes", "--json")
    assert ran.code == 0, ran.err
    (entry,) = ran.json["entries"]
    assert entry["rows"][0]["judge accuracy"]["n"] == 4
    decided = [one for one in server.asked if "MERGE" in str(one) or "SPLIT" in str(one)]
    assert decided
    sent = len(server.asked)
    tree = ("--set", "compatibility=cosine", "--set", "annotate=llm")
    assert run(*command, *tree, *models, "--yes").code == 0
    later = server.asked[sent:]
    assert not [one for one in later if "MERGE" in str(one) or "SPLIT" in str(one)]
    wrong = run("reproduce", "segtreemem", "figure-5", "--data", asked, *tree)
    assert wrong.code == 2
    assert "one segment tree" in wrong.err
    assert run(*command, "--set", "compatibility=none", "--data", asked).code == 2
