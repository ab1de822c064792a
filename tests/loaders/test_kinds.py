"""Kinds of files of other people: what is not read is reported, copies are read once, roles."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from segviz.loaders import load
from segviz.loaders.roles import named_role, role_of
from segviz.loaders.turn_lists import words_of
from tests.data import real_data
from tests.loaders.reading import failure, only, read, said

ASK = {"role": "user", "content": "Who painted the gate?"}
TOLD = {"role": "assistant", "content": "Old Hanna did, in May."}
MORE = {"role": "user", "content": "Which colour was it?"}
GREEN = {"role": "assistant", "content": "A dark bottle green."}
TALK = [("user", "Who painted the gate?"), ("assistant", "Old Hanna did, in May.")]
WHOLE = [*TALK, ("user", "Which colour was it?"), ("assistant", "A dark bottle green.")]


def unread(document: object) -> list[str]:
    return [f.what for f in read(document).report.findings if "of the prose" in f.what]


# --- prose that is not read ----------------------------------------------------------


def test_prose_under_an_unknown_key_is_reported_with_its_share_and_an_example() -> None:
    rows = [{**ASK, "aftermath": "The ladder fell over twice."}, TOLD]
    (note,) = unread(rows)
    assert note.startswith("39% of the prose in the file is not read: '[].aftermath' (39%)")
    assert "'The ladder fell over twice.'" in note


@pytest.mark.parametrize("key", ["summary", "persona", "system_prompt", "session_3_summary"])
def test_what_is_left_out_on_purpose_raises_no_alarm(key: str) -> None:
    assert unread({"messages": [ASK, TOLD], key: "They talk about a gate and its painter."}) == []


def test_what_is_left_out_on_purpose_is_counted_in_an_alarm() -> None:
    document = {"messages": [ASK, TOLD], "summary": "A gate.", "odd": "Nobody reads this line."}
    (note,) = unread(document)
    assert note.endswith("left out on purpose: 1 summaries")


def test_messages_of_tools_and_other_branches_raise_no_alarm() -> None:
    tool = {"role": "tool", "content": "gate: painted by Hanna in the month of May"}
    assert unread([ASK, tool, TOLD]) == []
    tree = [
        {"id": "1", "parent_id": None, "text": "Who painted it?", "role": "user"},
        {"id": "2", "parent_id": "1", "text": "Old Hanna did.", "role": "assistant"},
        {"id": "3", "parent_id": "1", "text": "Nobody knows that.", "role": "assistant"},
    ]
    assert unread(tree) == []


def test_a_column_of_prose_that_is_not_read_is_reported() -> None:
    table = "who,text,aside\nAnn,Is it dry?,The barn is full of hay.\nBob,It is.,We need a roof.\n"
    assert "'[].aside'" in unread(table.encode())[0]


@pytest.mark.parametrize(
    "path",
    [("locomo", "conv-47-bare.json"), ("realmem", "Pak_Budi.json")],
    ids=lambda path: path[1],
)
def test_a_data_set_raises_no_alarm(path: tuple[str, str]) -> None:
    findings = load(real_data(*path)).report.findings
    assert not [each for each in findings if "of the prose" in each.what]


# --- roles ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "kind", "name"),
    [
        *(("USER", "person", "user"), ("HumanMessage", "person", "human")),
        *(("assistant_message", "assistant", "assistant"), ("AIMessageChunk", "assistant", "ai")),
        *(("gen_ai.system.message", "system", "system"), ("tool-return", "tool", "tool")),
        *(("redacted_thinking", "reasoning", ""), ("Event/Call", "event", ""), ("Ann", "", "")),
    ],
)
def test_one_table_knows_roles_in_any_spelling(written: str, kind: str, name: str) -> None:
    found = named_role(written)
    assert found[0] == kind
    assert not name or found[1].startswith(name)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ({"role": "model", "isThought": True}, "reasoning"),
        ({"kind": "response", "text": "x"}, "assistant"),
        ({"message_type": "tool_return_message"}, "tool"),
        ({"event": "slot", "value": "x"}, "event"),
        ({"message_state": "DELETED"}, "deleted"),
        ({"author": "Toolan", "text": "x"}, ""),
    ],
)
def test_a_role_stands_under_keys_of_many_names(raw: Mapping[str, object], kind: str) -> None:
    assert role_of(raw)[0] == kind


def test_only_persons_and_assistants_speak() -> None:
    asides = [{"kind": kind, "text": "aside"} for kind in ("SYSTEM", "thinking", "tool-call")]
    rows = [{"kind": "user-prompt", "text": "a"}, *asides, {"kind": "response", "text": "b"}]
    assert said(rows) == [("user", "a"), ("assistant", "b")]


def test_markup_becomes_text_where_the_file_says_so() -> None:
    row = {"from": "Ann", "content": "<p>It is <b>late</b> &amp; dark.</p>", "format": "html"}
    assert said([row, {**row, "format": "plain"}])[0] == ("Ann", "It is late & dark.")
    assert said([{**row, "format": "plain"}])[0][1].startswith("<p>")


@pytest.mark.parametrize("value", [{"user_id": 7}, {"displayName": "7"}, {"emailAddress": "7"}])
def test_a_speaker_is_found_under_nested_names(value: object) -> None:
    assert said([{"creator": value, "text": "hi"}]) == [("7", "hi")]


# --- siblings, copies, conversations -------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [ASK], "response": {"choices": [{"message": TOLD}]}},
        {"input": [ASK], "output": TOLD},
        {"inputs": {"messages": [ASK]}, "outputs": {"messages": [ASK, TOLD]}},
        {"prompt": ASK["content"], "completion": TOLD["content"]},
        {"message": {"text": ASK["content"]}, "response": [{"value": TOLD["content"]}]},
        {"user_message": ASK["content"], "assistant_message": TOLD["content"]},
    ],
)
def test_a_request_and_its_reply_are_one_dialogue(record: object) -> None:
    assert said([record]) == TALK
    assert unread([record]) == []


def test_requests_that_repeat_what_was_said_are_read_once() -> None:
    log = [
        {"session_id": "a", "time": "2025-05-01 10:00", "input": [ASK], "output": TOLD},
        {
            "session_id": "a",
            "time": "2025-05-01 10:05",
            "input": [ASK, TOLD, MORE],
            "output": GREEN,
        },
    ]
    assert said(log) == WHOLE
    assert "2 messages that the file repeats" in read(log).report.findings[0].what
    assert said(log[::-1]) == WHOLE


def test_many_pairs_are_compared_with_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(
        "segviz.loaders.exchanges.words_of", lambda raw: (seen.append(raw), words_of(raw))[1]
    )
    assert len(said([{"prompt": f"p {n}", "completion": f"c {n}"} for n in range(300)])) == 600
    assert len(seen) < 10 * 600


def test_a_growing_list_of_snapshots_is_one_conversation() -> None:
    rows = [ASK, TOLD, MORE, GREEN]
    shots = [{"at": n, "values": {"messages": rows[:n]}} for n in (1, 2, 4)]
    assert said(shots) == said(shots[::-1]) == WHOLE
    assert len(read([{"messages": rows[:2]}, {"messages": rows[:2]}])) == 2


def test_the_same_id_is_one_turn_and_other_texts_stay() -> None:
    rows = [{**row, "uuid": f"u{n}"} for n, row in enumerate((ASK, TOLD, MORE, GREEN))]
    assert said([*rows[:2], *rows]) == WHOLE
    again = [{**ASK, "id": "x1"}, {**TOLD, "id": "x1"}]
    assert said(again) == TALK


def test_workspaces_and_people_are_conversations_and_titles_separate_chats() -> None:
    pairs = [
        {"prompt": "p", "response": "r", "workspace": name} for name in ("barn", "mill", "barn")
    ]
    assert [(c.id, len(c.turns)) for c in read(pairs)] == [("barn", 4), ("mill", 2)]
    pairs = [{"prompt": "p", "response": "r", "user_id": name} for name in ("ann", "bob")]
    assert read(pairs).ids == ("ann", "bob")
    chats = {"sessions": [{"topic": name, "messages": [ASK, TOLD]} for name in ("Barn", "Mill")]}
    assert read(chats).ids == ("Barn", "Mill")


def test_of_a_tree_of_answers_the_best_branch_is_read_and_a_thread_whole() -> None:
    keys = ("id", "parent_id", "text", "role", "rank")
    rows = [("1", None, "q", "user", None), ("2", "1", "worse", "assistant", 1)]
    rows += [("3", "1", "better", "assistant", 0), ("4", None, "other", "user", None)]
    corpus = read([dict(zip(keys, row, strict=True)) for row in rows])
    assert [[turn.text for turn in each.turns] for each in corpus] == [["q", "better"], ["other"]]
    assert "1 message on other branches" in corpus.report.findings[0].what
    asked = {"text": "q", "role": "prompter"}
    answers = [{"text": text, "role": "assistant"} for text in ("good answer here", "bad one too")]
    nested = {"prompt": {**asked, "replies": answers}}
    assert said(nested) == [("prompter", "q"), ("assistant", "good answer here")]
    assert unread(nested) == []
    replies = [{"user": "Bob", "text": "Yes."}, {"user": "Cy", "text": "No."}]
    thread = [{"user": "Ann", "text": "Is it dry?", "replies": replies}]
    assert [turn.speaker for turn in only(thread).turns] == ["Ann", "Bob", "Cy"]


def test_spans_of_opentelemetry_are_a_dialogue() -> None:
    def message(row: Mapping[str, str]) -> str:
        part = f'{{"type": "text", "content": "{row["content"]}"}}'
        return f'[{{"role": "{row["role"]}", "parts": [{part}]}}]'

    names = {"gen_ai.input.messages": message(ASK), "gen_ai.output.messages": message(TOLD)}
    attributes = [{"key": key, "value": {"stringValue": text}} for key, text in names.items()]
    span = {"startTimeUnixNano": "1746093600000000000", "attributes": attributes}
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    assert said(document) == TALK
    assert str(only(document).turns[0].time) == "2025-05-01 10:00:00"


def test_lists_of_texts_and_transcripts_in_cells_are_dialogues() -> None:
    assert said({"dialog": ["a b", "c d"]}) == [("Speaker 1", "a b"), ("Speaker 2", "c d")]
    named = {"first_session_dialogue": ["a", "b"], "first_session_speakers": ["Ann", "Bob"]}
    assert said(named) == [("Ann", "a"), ("Bob", "b")]
    cells = [{"id": n, "date": "2025-05-01", "transcript": "Ann: hi\nBob: ho"} for n in (1, 2)]
    corpus = read(cells)
    assert [len(each.turns) for each in corpus] == [2, 2]
    assert corpus[0].speakers == ("Ann", "Bob")


@pytest.mark.parametrize("first", ["question", "B"])
def test_a_question_beside_its_dialogue_is_read(first: str) -> None:
    own = {"self_instruct": {"B": "Who painted it?", "A": "Hanna"}}
    own = (
        own if first == "B" else {"questions": [{"question": "Who painted it?", "answer": "Hanna"}]}
    )
    (question,) = only([{"messages": [ASK, TOLD], **own}]).questions
    assert (question.text, question.answer) == ("Who painted it?", "Hanna")


# --- data sets, mappings, refusals ---------------------------------------------------


def test_batches_without_messages_are_refused() -> None:
    batches = [{"batch_number": 1, "plan": "a trip"}, {"batch_number": 2}]
    assert "no known conversation format" in failure(batches).what


def test_batches_are_sessions_and_questions_in_a_folder_below_are_read(tmp_path: Path) -> None:
    batches = [{"batch_number": n, "turns": [[{**ASK, "id": n}, TOLD]]} for n in (1, 2)]
    questions = {"facts": [{"question": "Who?", "answer": "Hanna", "source_chat_ids": [2]}]}
    (tmp_path / "questions").mkdir()
    (tmp_path / "chat.json").write_text(json.dumps(batches), "utf-8")
    (tmp_path / "questions" / "all.json").write_text(json.dumps(questions), "utf-8")
    (conversation,) = load(tmp_path)
    assert [len(session.turns) for session in conversation.sessions] == [2, 2]
    assert [(q.text, q.category, q.evidence) for q in conversation.questions] == [
        ("Who?", "facts", ("S2:1",))
    ]


def test_questions_in_a_table_name_their_dialogue_and_the_message_before_which_they_are_asked(
    tmp_path: Path,
) -> None:
    system = {"role": "system", "content": "A user who paints gates."}
    chats = [{"aa": [system, ASK, TOLD, system, MORE, GREEN]}, {"bb": [ASK, TOLD]}]
    (tmp_path / "contexts.jsonl").write_text("\n".join(map(json.dumps, chats)), "utf-8")
    names = "user_question_or_message,correct_answer,all_options,shared_context_id"
    rows = [f"{names},end_index_in_shared_context"]
    rows += [f"\"Who, then?\",(b),\"['(a) Bob', '(b) Hanna']\",{each}" for each in ("aa,3", "bb,2")]
    (tmp_path / "questions.csv").write_text("\n".join(rows), "utf-8")
    first, second = (each.questions[0] for each in load(tmp_path))
    assert (first.text, first.answer, first.asked_at) == ("Who, then?", "(b) Hanna", "S1:3")
    assert second.asked_at is None


def test_the_error_prints_a_mapping_that_reads_the_file() -> None:
    words = ["Is it dry in there?", "It is very dry.", "Good to know.", "So it is."]
    dated = enumerate(words, start=1)
    rows = [{"wann": f"2025-05-0{n}", "wer": "AB"[n % 2], "was": text} for n, text in dated]
    remedy = failure(rows).remedy
    mapping = {"text": "was", "speaker": "wer", "time": "wann"}
    assert f"columns={mapping}" in remedy
    assert "--columns text=was,speaker=wer,time=wann" in remedy
    assert said(rows, columns=mapping)[0] == ("B", "Is it dry in there?")


def test_results_without_their_conversation_are_named() -> None:
    assert "results of an evaluation" in failure([{"question_id": "q", "hypothesis": "Blue"}]).what


def test_a_graph_of_a_trace_is_named() -> None:
    nodes = [{"name": f"msg-{n}", "value": "Who painted it?", "full_node_id": n} for n in (1, 2)]
    graph = {"nodes": nodes, "edges": [], "operations": [], "sessions": [{"session_id": "s"}]}
    assert "trace of a memory system as a graph (smartcomment)" in failure(graph).what
