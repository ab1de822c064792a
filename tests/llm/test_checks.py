"""Replies as small models give them: which become memory, and what follows the others."""

import pytest

from segviz.construct.annotate import FAULT, REPLY, TITLE, WRITTEN_BY, Extractive
from segviz.llm import Prompt
from segviz.llm.checks import spoken, tokens_for, unusable
from segviz.llm.prompts import annotation_prompt
from tests.llm import server as wire
from tests.llm.conftest import Bench
from tests.systems.test_llm_builds import build, steady

GOOD = (
    "Title: The sloop\n"
    "Ada bought a small sloop in Harlingen in May and asked Ben to repaint it. Ben wanted 450 "
    "euros; they agreed on 400 and on finishing before the regatta on 3 July."
)
LOOP = "Ada and Ben talk about the boat and how the boat is a boat. " * 4
BAD = {
    "an introduction": f"Sure! Here is a summary of the conversation:\n\n{GOOD}",
    "an introduction after the title": "Title: Boat\nHere's a summary: Ada has a boat.",
    "a heading": f"Summary:\n{GOOD.partition(chr(10))[2]}",
    "a refusal": "I'm sorry, but I cannot summarise this conversation for you.",
    "a loop": f"Title: Boat\n{LOOP}",
    "a stutter": "Title: Boat\nAda has a boat boat boat boat boat.",
    "a loop without blanks": "标题：\n" + "他们谈到了船和船的颜色以及比赛。" * 8,
    "escapes": "Title: Boat\nAda: I have a boat" + "\\\\n" * 40 + "Ben: which one",
    "signs": "Title: Boat\n--- *** ### | | | ada ||| *** --- ###",
    "the first person": "Title: Boat\nI bought a boat, and I have not told my father.",
    "no text": "Title: The boat of Ada",
    "a flood": "Title: Boat\n" + " ".join(f"word{n} of{n * 7}" for n in range(90)),
}


# Replies of a model of half a billion parameters to the first lines of the bundled sample.
TURNS = (
    "Ines: It's a boat. A wooden sloop, twenty-six feet, mahogany on oak, built in 1968. I paid "
    "£2,800 for her.",
    "Theo: You get seasick on pedalos. I was there, on that lake near Bakewell.",
    "Ines: That was one pedalo, and it was sinking.",
)
RECORDED = {
    "it was a list": "Title: Theo and Ines discussing their boat ride\n"
    "Part 1: Ines asks Theo if she is sitting down\n"
    "Part 2: Theo explains that it's a boat, a wooden sloop, twenty-six feet, mahogany on oak",
    "it copied the messages": f"Title: Theo and Ines' Conversations\n\n{TURNS[0]}\n{TURNS[1]}",
    "": "Title: The sloop\nInes paid £2,800 for a wooden sloop of 1968. Theo said that she gets "
    f"seasick.\n{TURNS[2]}",
}


@pytest.mark.parametrize("reason", RECORDED)
def test_a_list_and_a_copy_of_the_turns_are_no_summary(reason: str):
    assert unusable(RECORDED[reason], 80, "\n".join(TURNS)) == reason


@pytest.mark.parametrize("name", BAD)
def test_a_text_that_cannot_become_memory_is_refused_with_the_reason(name: str):
    assert unusable(BAD[name], 80).startswith(("it ", "too few"))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "Ada bought it.",
        "Ada said: “I bought it, and I have not told my father.” Ben laughed.",
        "アダは五月に小さなヨットを買い、ベンに塗装を頼んだ。四百ユーロで合意した。",
        "Ада купила небольшую лодку в мае и попросила Бена её покрасить за 400 евро.",
        "अदा ने मई में एक छोटी नाव खरीदी और बेन से उसे रंगने को कहा।",
    ],
)
def test_a_plain_text_of_any_script_passes(text: str):
    assert unusable(text, 80) == ""


@pytest.mark.parametrize(
    ("reply", "said", "thinks"),
    [
        ("<think>hm</think>\nIt is.", "It is.", False),
        ("hm, the boat…</think>It is.", "It is.", False),
        ("<think>hm, the boat", "", True),
        ("It is.", "It is.", False),
    ],
)
def test_reasoning_is_no_part_of_what_is_said(reply: str, said: str, thinks: bool):
    assert spoken(reply) == (said, thinks)


def test_a_summary_that_ends_in_whole_messages_is_a_copy():
    # As a 1.5B model answered: a summary of the first part, then the second part word by word.
    end = "Ada: It has to go.\nBen: And who's Des? Should I already be afraid of him?"
    written = (
        "Ada tells Ben that she bought a wooden sloop, built in 1968 by Hobday & Sons in Polruan. "
        "He recalls that she gets seasick on pedalos, and asks whether the sloop floats at all.\n"
    )
    assert unusable(f"{written}{end}", 80, end) == "it copied the messages"
    assert unusable(f"{written}Ben: He is glad.", 80, end) == ""


TEXT = annotation_prompt(["Ada: I bought a sloop.", "Ben: Which one?"], 80)
CUT = wire.say("Title: Boat\nAda bought a sloop and then they tal", finish="length")


@pytest.mark.parametrize(
    "bad",
    [wire.say(BAD["a loop"]), CUT, wire.say("<think>So the boat", finish="length")],
    ids=["loop", "cut", "thinks"],
)
def test_a_failed_text_is_asked_for_differently_each_time_and_the_good_one_is_kept(
    bench: Bench, bad: wire.Fault
):
    bench.server.script(bad, bad, wire.say(GOOD))
    reply = bench.chat().reply(TEXT)
    assert (reply.text, reply.refused) == (GOOD, "")
    first, second, third = bench.server.requests
    assert (first["temperature"], first["seed"]) == (0, 0)
    assert first["temperature"] < second["temperature"] < third["temperature"]
    assert [second["seed"], third["seed"]] == [1, 2]
    assert "For your last reply" in second["messages"][1]["content"]
    assert first["max_tokens"] == tokens_for(80) < bench.endpoint.max_tokens
    assert first["frequency_penalty"] > 0
    assert bench.chat().reply(TEXT).cached


def test_after_two_more_tries_a_text_is_refused_for_good_with_what_came(bench: Bench):
    bench.server.fault = lambda request: CUT
    reply = bench.chat().reply(TEXT)
    assert (reply.text, "cut off" in reply.refused) == ("", True)
    assert reply.raw.endswith("they tal")
    assert len(bench.server.requests) == 3
    bench.server.fault = lambda request: None
    again = bench.chat().reply(TEXT)
    assert again.cached
    assert (again.text, again.refused, again.raw) == ("", reply.refused, reply.raw)


def test_a_label_has_few_tokens_unless_the_model_reasons_first(bench: Bench):
    chat = bench.chat()
    chat.reply(Prompt("s", "u", ("a", "b")))
    bench.server.script(wire.say("<think>is it a", finish="length"))
    for question in ("v", "w"):
        assert chat.reply(Prompt("s", question, ("a", "b"))).text == "a"
    limits = [request["max_tokens"] for request in bench.server.requests]
    assert limits == [20, 20, 1024, 1024]


def test_a_server_that_takes_no_penalty_is_asked_without(bench: Bench):
    bench.server.refuses = {"frequency_penalty"}
    bench.server.answer = lambda request: GOOD
    assert bench.chat(retries=0).reply(TEXT).text == GOOD
    assert "frequency_penalty" not in bench.server.requests[-1]


def test_what_is_no_json_is_asked_for_again_then_refused(bench: Bench):
    prompt = Prompt("s", "u", json=True)
    bench.server.script(wire.say("facts: none"), wire.say('```json\n{"facts": []}\n```'))
    assert bench.chat().reply(prompt).text.startswith("```json")
    bench.server.fault = lambda request: wire.say('{"facts": [', finish="length")
    assert "cut off" in bench.chat().reply(Prompt("s", "v", json=True)).refused


def test_no_bad_reply_becomes_memory_unmarked(bench: Bench):
    """A model whose every second text is unusable."""
    bad = [wire.say(text) for text in BAD.values()] + [CUT]

    def fault(request: wire.Body) -> wire.Fault | None:
        number = sum(map(ord, "".join(wire.texts_under(request, "Part"))))
        return bad[number % len(bad)] if number % 2 else None

    bench.server.fault = fault
    bench.server.answer = lambda request: steady(request) if wire.enum(request) else GOOD
    memory = build(bench.chat())
    body = GOOD.partition("\n")[2]
    by_model = offline = 0
    for node in memory.structure.nodes.tolist():
        facts = memory.structure.facts[node]
        if WRITTEN_BY not in facts:
            continue
        if facts[WRITTEN_BY] == "small":
            by_model += 1
            assert (memory.structure.text[node], facts[TITLE]) == (body, "The sloop")
            assert (facts[REPLY], facts[FAULT]) == (GOOD, "")
        else:
            offline += 1
            assert facts[WRITTEN_BY] == Extractive.name
            assert "cannot be used" in facts[FAULT]
            assert facts[REPLY] in {f.text.strip() for f in bad}
            assert facts[TITLE] == ""
    assert by_model
    assert offline
    notes = " ".join(step.note for step in memory.steps)
    assert "because no reply of the model could be used" in notes
