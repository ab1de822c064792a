"""A model for each role."""

import pytest

from segviz.llm import ChatByRole
from segviz.llm.prompts import annotation_prompt, batch_prompt, judge_prompt
from tests.llm import server as wire
from tests.llm.conftest import Bench
from tests.systems.test_llm_builds import steady


@pytest.fixture
def chat(bench: Bench) -> ChatByRole:
    bench.server.answer = steady
    return ChatByRole(bench.chat(), {"annotation": bench.chat(model="writer")})


def test_every_prompt_goes_to_the_model_of_its_role(bench: Bench, chat: ChatByRole):
    texts = [annotation_prompt([f"Ada has {n} boats.", "Ben has none."], 40) for n in range(2)]
    prompts = [texts[0], batch_prompt("hello", [(1, "boats")]), texts[1]]
    replies = chat.replies(prompts)
    assert [reply.model for reply in replies] == ["writer", "small", "writer"]
    assert [reply.text.split()[-1] for reply in replies[::2]] == ["Ben", "Ben"]
    assert {r["model"] for r in bench.server.chats if wire.enum(r)} == {"small"}
    assert chat.counts()["answered"] == 3


def test_no_model_grades_its_own_answers_unless_it_is_named_for_that(
    bench: Bench, chat: ChatByRole
):
    assert not chat.has("grade")
    with pytest.raises(ValueError, match="grading"):
        chat.reply(judge_prompt("q", "gold", "said"))
    named = ChatByRole(bench.chat(), {"grade": bench.chat(model="judge")})
    assert named.reply(judge_prompt("q", "gold", "said")).model == "judge"


def test_a_role_that_is_none_is_refused(bench: Bench):
    with pytest.raises(ValueError, match="'writing'; choose among decision"):
        ChatByRole(bench.chat(), {"writing": bench.chat()})
