import gc
import re

import pytest

from segviz.llm import LabelError, ModelError, Prompt, prompts
from segviz.llm.client import RequestError
from tests.llm import server as wire
from tests.llm.conftest import KEY, Bench, limit, with_slow_timeout

LABELS = ("join", "new")
FREE = Prompt("You summarise.", "A said hello.")
CHOICE = Prompt("You choose.", "Join or new?", LABELS)


def test_free_text_goes_out_as_it_should_and_comes_back(bench: Bench):
    bench.server.answer = lambda request: "  They greeted.\n"
    chat = bench.chat(max_tokens=77, seed=5)
    reply = chat.reply(FREE)
    assert (reply.text, reply.cached) == ("They greeted.", False)
    assert bench.server.paths == ["/v1/chat/completions"]
    assert bench.server.authorizations == [f"Bearer {KEY}"]
    assert bench.server.requests == [
        {
            "model": "small",
            "messages": [
                {"role": "system", "content": FREE.system},
                {"role": "user", "content": FREE.user},
            ],
            "temperature": 0,
            "seed": 5,
            "max_tokens": 77,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
    ]
    assert reply.tokens == chat.usage.tokens == 5 + 2
    assert (chat.usage.calls, chat.usage.unknown_usage) == (1, 0)


def test_labels_are_asked_for_by_structured_output(bench: Bench):
    bench.server.answer = lambda request: wire.enum(request)[1]
    assert bench.chat().reply(CHOICE).text == "new"
    sent = bench.server.requests[0]["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["strict"] is True
    assert sent["json_schema"]["schema"]["properties"]["label"]["enum"] == list(LABELS)


@pytest.mark.parametrize(
    "said",
    [
        *("new", " new\n", '"new"', "'new'", "`new`", "**new**", "“new”", "New", "new."),
        *('{"label": "new"}', ' {"label":\n"new" } ', '```json\n{"label": "new"}\n```'),
        "```\nnew\n```",
        "<think>join or new? join…</think>\n\nnew",
    ],
)
def test_labels_are_read_leniently(bench: Bench, said: str):
    bench.server.script(wire.say(said))
    assert bench.chat().reply(CHOICE).text == "new"
    assert len(bench.server.requests) == 1


def test_labels_may_be_numbers_or_differ_in_case_alone(bench: Bench):
    chat = bench.chat(retries=0)
    bench.server.script(wire.say('{"label": 2}'), wire.say("a"), wire.say("A"))
    assert chat.reply(Prompt("", "1", ("1", "2"))).text == "2"
    assert chat.reply(Prompt("", "2", ("A", "a"))).text == "a"
    assert chat.reply(Prompt("", "3", ("A", "a"))).text == "A"


@pytest.mark.parametrize(
    "said", ["maybe", "join or new", "true", "[]", '{"answer": "new"}', "{" * 5000]
)
def test_a_label_outside_the_set_is_asked_again_with_a_reminder_then_reported(
    bench: Bench, said: str
):
    bench.server.script(*[wire.say(said)] * 3)
    with pytest.raises(LabelError) as caught:
        bench.chat(retries=2).reply(CHOICE)
    assert caught.value.answer == said
    assert "Tried 3 times" in str(caught.value)
    assert "join, new" in str(caught.value)
    first, *others = (request["messages"][1]["content"] for request in bench.server.requests)
    assert first == CHOICE.user
    assert len(others) == 2
    assert all(other.startswith(CHOICE.user) and '"join", "new"' in other for other in others)


def test_one_wrong_label_is_forgiven_and_only_the_right_one_kept(bench: Bench):
    bench.server.script(wire.say("perhaps"))
    chat = bench.chat()
    assert chat.reply(CHOICE).text == "join"
    assert chat.usage.calls == 2
    assert chat.usage.tokens_out == 1 + 2, "a refused answer was paid for as well"
    assert bench.chat().reply(CHOICE).cached


PASSING = {
    "429": wire.status(429),
    "500": wire.status(500),
    "503": wire.status(503),
    "timeout": wire.hang(),
    "dropped": wire.drop(),
    "broken": wire.broken(),
    "not UTF-8": wire.Fault(body=b'{"choices": "\xff\xfe"}'),
    "deep": wire.Fault(body=b"[" * 100_000),
    "html": wire.Fault(body=b"<html>Welcome</html>"),
    "truncated": wire.truncated(),
    "empty": wire.empty(),
    "no body": wire.Fault(body=b""),
    "no choices": wire.missing("choices"),
    "message null": wire.Fault(change=lambda r: {**r, "choices": [{"message": None}]}),
    "content a list": wire.Fault(
        change=lambda r: {**r, "choices": [{"message": {"content": [1]}}]}
    ),
    "label cut off": wire.say('{"label": "new"}', finish="length"),
}


@pytest.mark.parametrize("name", with_slow_timeout(PASSING))
def test_a_fault_is_tried_again_and_one_that_lasts_ends_in_an_error_for_people(
    bench: Bench, name: str
):
    if name == "deep":
        gc.collect()  # or garbage may be looked for where the recursion leaves it no room
    bench.server.fault = lambda request: PASSING[name]
    with pytest.raises(ModelError) as caught:
        bench.chat(retries=1, **limit(name)).reply(CHOICE)
    assert not isinstance(caught.value, LabelError)
    message = str(caught.value)
    assert "Tried 2 times" in message
    assert f"{bench.server.url} (small)" in message
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert bench.cache.counts() == (0, 0)
    bench.server.fault = lambda request: None
    bench.server.requests.clear()
    bench.server.script(PASSING[name])
    assert bench.chat(**limit(name)).reply(CHOICE).text == "join"
    first, second = bench.server.requests
    unfit = name in ("empty", "label cut off")
    assert (first == second) is not unfit, "a reply that came whole is asked for differently"


def test_nobody_listens(bench: Bench):
    with pytest.raises(ModelError, match=r"Tried 2 times.*that the server is running"):
        bench.chat(base_url="http://127.0.0.1:9/v1", retries=1).reply(FREE)


def test_free_text_that_was_cut_off_is_used(bench: Bench):
    bench.server.script(wire.say("They gree", finish="length"))
    assert bench.chat().reply(FREE).text == "They gree"


def test_a_model_that_only_thought_says_what_to_raise(bench: Bench):
    bench.server.script(*[wire.say("", finish="length")] * 5)
    with pytest.raises(ModelError, match=r"reasoning without an end.*Raise max_tokens"):
        bench.chat().reply(FREE)


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (400, "Check the model name"),
        (401, "Check the key"),
        (403, "may not use this model"),
        (404, "Check the base URL"),
        (422, "Check the model name"),
        (307, "sends to another address"),
    ],
)
def test_a_refusal_is_final_and_says_what_to_check(bench: Bench, code: int, advice: str):
    bench.server.script(wire.status(code, error="no <b>such</b>\nmodel"))
    with pytest.raises(RequestError, match=advice) as caught:
        bench.chat().reply(FREE)
    assert len(bench.server.requests) == 1
    assert "\n" not in str(caught.value)
    assert ("no <b>such</b> model" in str(caught.value)) == (code in (400, 403, 404, 422))


@pytest.mark.parametrize(
    "said",
    [
        "request (4627 tokens) exceeds the available context size (2048 tokens), try increasing it",
        "This model's maximum context length is 2048 tokens.",
        "input too long for this model",
    ],
)
def test_a_prompt_beyond_the_context_says_what_to_change(bench: Bench, said: str):
    bench.server.script(wire.Fault(status=400, error=said, code=400))
    with pytest.raises(RequestError, match="longer context, or lower prompt_tokens") as caught:
        bench.chat().reply(FREE)
    assert f"{said.rstrip('.')}. Tried once" in str(caught.value)


def test_a_prompt_is_cut_to_the_context_that_a_local_server_names(bench: Bench):
    bench.server.models = [{"id": "small", "meta": {"n_ctx": 2048, "n_ctx_train": 32_768}}]
    chat = bench.chat()
    chat.reply(prompts.annotation_prompt(["a long text " * 2_000, "Ben: Yes."], 80))
    sent = "".join(message["content"] for message in bench.server.requests[-1]["messages"])
    assert 1_300 < prompts.tokens_of(sent) < 1_500
    assert chat.about("annotation")["prompt_tokens"] < 1_500
    assert chat.counts()["shortened"] == 1
    bench.server.models = []  # while it is away its last context applies
    assert bench.chat().prompt_tokens == chat.prompt_tokens


def test_texts_never_follow_a_redirect(bench: Bench):
    with wire.ModelServer() as elsewhere:
        fault = wire.Fault(status=307, headers={"Location": elsewhere.url + "/chat/completions"})
        bench.server.script(fault)
        with pytest.raises(ModelError):
            bench.chat().reply(FREE)
        assert elsewhere.requests == []


def test_an_account_without_credit_is_named(bench: Bench):
    bench.server.fault = lambda r: wire.status(429, error="quota", code="insufficient_quota")
    with pytest.raises(ModelError, match="credit"):
        bench.chat(retries=1).reply(FREE)


def test_faults_of_several_kinds_share_the_tries(bench: Bench):
    bench.server.script(wire.status(503), wire.empty(), wire.status(429), wire.broken())
    with pytest.raises(ModelError, match="Tried 4 times"):
        bench.chat(retries=3).reply(FREE)
    assert len(bench.server.requests) == 4


@pytest.mark.parametrize("code", [400, 422])
def test_a_server_without_structured_output_is_asked_in_plain_text_from_then_on(
    bench: Bench, code: int
):
    error = "response_format is not supported"
    bench.server.fault = lambda r: (
        wire.status(code, error=error) if "response_format" in r else None
    )
    bench.server.answer = lambda request: "new"
    chat = bench.chat(retries=0)
    assert chat.reply(CHOICE).text == "new"
    assert forms(bench) == ["json_schema", "json_object", ""]
    assert '"join", "new"' in bench.server.requests[2]["messages"][1]["content"]
    for client in (chat, bench.chat(retries=0)):
        assert client.reply(Prompt("s", client.name + str(id(client)), LABELS)).text == "new"
    assert forms(bench)[3:] == ["", ""], "remembered, also by another client of this cache"
    bench.server.fault = lambda request: None
    assert bench.chat().reply(CHOICE).cached, "the key does not depend on how it was asked"


def forms(bench: Bench) -> list[str]:
    """The structured output each request asked for."""
    return [r.get("response_format", {}).get("type", "") for r in bench.server.requests]


# What llama-cpp-python answers to the form of OpenAI.
LITERAL = "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': "
LITERAL += "\"Input should be 'text' or 'json_object'\"}]"


@pytest.mark.parametrize("refused", [["json_schema"], ["json_schema", "json_object"]])
def test_a_form_of_output_that_makes_a_server_fail_gives_way_to_the_next(
    bench: Bench, refused: list[str]
):
    bench.server.fault = lambda r: (
        wire.status(500, error=LITERAL)
        if r.get("response_format", {}).get("type") in refused
        else None
    )
    bench.server.answer = lambda request: "new"
    asked = ["json_schema", "json_object", ""][: len(refused) + 1]
    assert bench.chat(retries=0).reply(CHOICE).text == "new"
    assert forms(bench) == asked
    assert bench.chat().reply(Prompt("s", "another", LABELS)).text == "new"
    assert forms(bench)[len(asked) :] == asked[-1:], "remembered"


def test_a_server_in_trouble_is_not_taken_for_one_without_structured_output(bench: Bench):
    bench.server.fault = lambda request: wire.status(500)
    with pytest.raises(ModelError, match="500"):
        bench.chat(retries=1).reply(CHOICE)
    bench.server.fault = lambda request: None
    bench.server.requests.clear()
    bench.server.script(wire.status(503, error="no grammar"), wire.status(503), wire.status(503))
    assert bench.chat().reply(CHOICE).text == "join"
    bench.server.script(*[wire.status(500)] * 4)
    assert bench.chat().reply(Prompt("s", "another", LABELS)).text == "join"
    assert set(forms(bench)) == {"json_schema"}, "a form that worked stays"


def test_other_parameters_a_server_refuses_are_left_out_too(bench: Bench):
    bench.server.refuses = {"temperature", "seed", "max_tokens", "response_format", "stream"}
    bench.server.answer = lambda request: "new"
    assert bench.chat(retries=0).reply(CHOICE).text == "new"
    assert set(bench.server.requests[-1]) == {"model", "messages", "max_completion_tokens"}


def test_a_refusal_that_never_ends_still_ends(bench: Bench):
    bench.server.fault = lambda request: wire.refuse("temperature, seed and response_format")
    with pytest.raises(ModelError, match="400"):
        bench.chat().reply(CHOICE)
    assert len(bench.server.requests) == 5


def test_a_refusal_in_words_counts_as_an_answer_outside_the_labels(bench: Bench):
    choice = {"message": {"content": None, "refusal": "I cannot help."}, "finish_reason": "stop"}
    fault = wire.Fault(change=lambda reply: {**reply, "choices": [choice]})
    bench.server.script(*[fault] * 2)
    with pytest.raises(LabelError) as caught:
        bench.chat(retries=1).reply(CHOICE)
    assert caught.value.answer == "I cannot help."
    bench.server.script(fault)
    with pytest.raises(ModelError, match="empty: I cannot help"):
        bench.chat(retries=0).reply(FREE)


@pytest.mark.parametrize(
    "fault",
    [
        wire.missing("usage"),
        wire.Fault(change=lambda r: {**r, "usage": None}),
        wire.Fault(
            change=lambda r: {**r, "usage": {"prompt_tokens": "9", "completion_tokens": -1}}
        ),
        wire.Fault(change=lambda r: {**r, "usage": {"prompt_tokens": True}}),
        wire.Fault(change=lambda r: {**r, "usage": {"prompt_tokens": 10**30}}),
    ],
)
def test_missing_usage_counts_nothing_and_is_flagged(bench: Bench, fault: wire.Fault):
    bench.server.script(fault)
    chat = bench.chat()
    assert chat.reply(FREE).tokens == chat.usage.tokens == 0
    assert chat.usage.unknown_usage == 1


@pytest.mark.parametrize(
    "change",
    [{"model": "large"}, {"temperature": 0.5}, {"seed": 1}, {"seed": None}, {"max_tokens": 9}],
)
def test_whatever_changes_an_answer_changes_the_key(bench: Bench, change: dict[str, object]):
    bench.chat().reply(FREE)
    assert bench.chat(key="another-key-1234", retries=1, concurrency=9).reply(FREE).cached
    assert not bench.chat(**change).reply(FREE).cached


def test_hostile_text_arrives_unharmed_but_for_what_no_text_can_have(bench: Bench):
    hostile = '</script>\x00\u202e\'; DROP TABLE--\ud800 𝕏 {"label": "new"}'
    bench.server.answer = lambda request: request["messages"][-1]["content"]
    said = bench.chat().reply(Prompt("", hostile)).text
    assert said == hostile.replace("\ud800", "?").replace("\x00", "\ufffd")
    assert bench.chat().reply(Prompt("", hostile)).cached
    bench.server.script(wire.Fault(body=b'{"choices":[{"message":{"content":"a\\ud800b"}}]}'))
    assert bench.chat().reply(Prompt("", "surrogate")).text == "a\ufffdb"


def test_replies_keep_order_bound_concurrency_and_ask_equal_prompts_once(bench: Bench):
    bench.server.delay = 0.02
    bench.server.answer = lambda request: "re " + request["messages"][-1]["content"]
    prompts = [Prompt("s", str(number % 20)) for number in range(30)]
    chat = bench.chat(concurrency=3)
    replies = chat.replies(prompts)
    assert [reply.text for reply in replies] == [f"re {number % 20}" for number in range(30)]
    assert len(bench.server.requests) == chat.usage.calls == 20
    assert 2 <= bench.server.most_at_once <= 3
    assert chat.replies([]) == []


def about(text: str):
    return lambda request: text in request["messages"][-1]["content"]


def test_when_one_fails_no_other_is_begun_and_what_is_finished_is_kept(bench: Bench):
    bad = about("unit 3")
    bench.server.fault = lambda request: wire.status(500) if bad(request) else None
    prompts = [Prompt("s", f"unit {number}") for number in range(9)]
    chat = bench.chat(concurrency=1, retries=1)
    with pytest.raises(ModelError, match="500"):
        chat.replies(prompts)
    assert bench.cache.counts() == (3, 0)
    bench.server.fault = lambda request: None
    bench.server.requests.clear()
    assert len(chat.replies(prompts)) == 9
    assert len(bench.server.requests) == 6


def test_wrong_labels_do_not_stop_the_others(bench: Bench):
    bench.server.answer = lambda request: "neither"
    good = about("unit 8")
    bench.server.fault = lambda request: wire.say("join") if good(request) else None
    prompts = [Prompt("s", f"unit {number}", LABELS) for number in range(9)]
    with pytest.raises(LabelError):
        bench.chat(concurrency=1, retries=0).replies(prompts)
    assert len(bench.server.requests) == 9
    # The wrong answers are kept too: a build that goes on must not ask for them again.
    assert bench.cache.counts() == (9, 0)
    with pytest.raises(LabelError) as again:
        bench.chat(concurrency=1, retries=0).replies(prompts)
    assert "neither" in again.value.answer
    assert len(bench.server.requests) == 9


def test_nothing_is_read_from_the_environment(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-another-server")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-for-another-server")
    bench.chat(key="").reply(FREE)
    assert bench.server.authorizations == ["Bearer none"]


def test_a_model_must_be_named(bench: Bench):
    with pytest.raises(ValueError, match="model is empty"):
        bench.chat(model="")


def test_errors_have_one_line_and_bounded_length(bench: Bench):
    bench.server.script(wire.status(400, error="x\r\n\x1b[31m" + "y" * 10_000))
    with pytest.raises(ModelError) as caught:
        bench.chat().reply(FREE)
    message = str(caught.value)
    assert len(message) < 700
    assert re.fullmatch(r"[^\x00-\x1f]*", message)
