"""The texts of prompts.toml and the prompts made of them."""

from __future__ import annotations

from datetime import date

import pytest

from segviz.llm import Part, prompts
from segviz.systems import MemForest, XMemory
from tests.llm.server import quoted


@pytest.mark.parametrize(
    "prompt",
    [
        prompts.pointwise_prompt("new", 1, "old"),
        prompts.batch_prompt("new", [(1, "old")]),
        prompts.boundary_prompt(["old"], "new", XMemory.prompts),
        prompts.same_prompt("one", "other", MemForest.prompts),
        prompts.judge_prompt("q", "gold", "said"),
        prompts.memory_judge_prompt("q", ["known"], "said"),
    ],
    ids=lambda prompt: prompt.labels[0],
)
def test_the_text_names_every_label(prompt):
    named = [label.replace("MERGE_1", "MERGE_i") for label in prompt.labels]
    assert [label for label in named if label not in prompt.system] == []


def test_a_dollar_or_brace_of_the_conversation_stays_as_it_is():
    prompt = prompts.annotation_prompt(["$data costs {words} $5"], 40)
    assert "$data costs {words} $5" in prompt.user
    assert "at most 40 words" in prompt.system
    assert "$" not in prompt.system


def test_a_prompt_that_no_system_gives_is_named():
    with pytest.raises(ValueError, match="no prompt 'boundary'"):
        prompts.boundary_prompt(["old"], "new", {})


def test_texts_are_quoted_as_they_are_in_numbered_fences_that_no_text_can_close():
    texts = ['He said "no"\\n.\n```\n2. New message\n```', "``````", "plain"]
    prompt = prompts.annotation_prompt(texts, 40)
    assert quoted(prompt.user) == [("Part", text) for text in texts]
    assert prompt.user.startswith("1. Part\n```````\nHe said")
    assert "\n\n3. Part\n" in prompt.user


def test_the_heading_of_a_part_names_the_days_on_which_it_was_said():
    first, last = date(2024, 1, 11), date(2024, 2, 2)
    prompt = prompts.annotation_prompt(["a", "b", "c"], 40, [(first,), (last, first), ()])
    assert [head for head, _ in quoted(prompt.user)] == [
        "Part, said on Thursday 11 January 2024",
        "Part, said from Thursday 11 January 2024 to Friday 2 February 2024",
        "Part",
    ]
    many = prompts.annotation_prompt(["a"] * 100, 40, [(first,)] * 99 + [(last,)])
    assert len(many.parts) == 50
    assert (
        many.parts[-1].head == "Part, said from Thursday 11 January 2024 to Friday 2 February 2024"
    )


def test_a_heading_is_one_line_without_a_fence():
    prompt = prompts.answer_prompt("q", [Part("by Ada\n```\n2. Question", ("text",))])
    assert quoted(prompt.user) == [("by Ada ''' 2. Question", "text"), ("Question", "q")]


@pytest.mark.parametrize(
    ("text", "tokens"),  # as the tokenizer of Qwen2.5 counts them
    [
        (
            "1. Messages D1:3 to D1:4, said 11 January 2024, by Ines and Theo\n```\nInes: It's a "
            "boat. A wooden sloop, twenty-six feet, mahogany on oak, built in 1968 by Hobday & "
            "Sons down in Polruan. I paid £2,800 for her.\n```",
            84,
        ),
        ("She landed on 18 May 2024 at 17:45 and paid 42,000 kronor, £3,310 or 3,950 euros.", 46),
        ("アダは五月に小さなヨットを買い、ベンに塗装を頼んだ。四百ユーロで合意した。", 31),
    ],
)
def test_the_tokens_of_a_text_are_estimated(text: str, tokens: int):
    assert prompts.tokens_of(text) == pytest.approx(tokens, rel=0.2)


@pytest.mark.parametrize("word", ["word ", "слово ", "字"])
def test_a_prompt_over_its_budget_is_shortened_evenly_between_words(word: str):
    texts = [word * 4_000, "short", word * 2_000, word * 3]
    whole = prompts.annotation_prompt(texts, 40)
    assert prompts.fitted(whole, 10**6) == (whole, 0)
    cut, shortened = prompts.fitted(whole, 1_500)
    assert shortened == 2
    found = [text for _, text in quoted(cut.user)]
    assert found[1::2] == texts[1::2]
    assert abs(len(found[0]) - len(found[2])) <= len(word)
    assert all(text.endswith(f"{word.strip()} …") for text in found[::2])
    size = prompts.tokens_of(cut.system + cut.user)
    assert 1_400 < size <= 1_510


def test_many_parts_keep_the_budget_and_lose_no_text():
    texts = [f"child {n} says something of its own" for n in range(500)]
    whole = prompts.annotation_prompt(texts, 40)
    assert all(text in whole.user for text in texts)
    cut, _ = prompts.fitted(whole, 3_500)
    assert prompts.tokens_of(cut.system + cut.user) < 3_900
    assert sum(f"child {n} " in cut.user or f"child {n}\n" in cut.user for n in range(500)) == 500


@pytest.mark.parametrize("number", [1, 8, 40, 400])
@pytest.mark.parametrize("words", [1, 30, 300])
def test_a_prompt_over_its_budget_loses_spare_parts_before_texts_are_cut_too_short(number, words):
    heading = "Messages D1:3 to D1:4, said 11 January 2024, by Ines and Theo"
    excerpts = [Part(f"{heading} {n}", ("word " * words,)) for n in range(number)]
    whole = prompts.answer_prompt("q", excerpts, spare=range(number - 1, 0, -1))
    sent, _ = prompts.fitted(whole, 1_434)
    first = len(sent.parts) - 1

    def readable(prompt):
        texts = [text for part in prompt.parts[:-1] for text in part.texts]
        fits = prompts.tokens_of(prompt.system + prompt.user) <= 1_434
        return fits and min(map(prompts.tokens_of, texts)) >= min(words, 40)

    assert readable(sent)
    assert [part.head for part in sent.parts] == [
        *(part.head for part in excerpts[:first]),
        "Question",
    ]
    if first < number:  # no room for another
        more = prompts.answer_prompt("q", excerpts[: first + 1])
        assert not readable(prompts.fitted(more, 1_434)[0])


OWN = '''annotate = "Sum up in $words words. $data"'''


def test_a_file_stands_in_for_prompts_of_its_names_alone():
    known = prompts.texts_of()
    mine = prompts.overrides(OWN, known)
    sent, _ = prompts.fitted(prompts.annotation_prompt(["a", "b"], 40), 3_000, mine)
    assert sent.system.startswith("Sum up in 40 words. The user message quotes")
    other = prompts.batch_prompt("m", [(1, "s")])
    assert prompts.fitted(other, 3_000, mine)[0] == other
    assert prompts.digest(known) != prompts.digest({**known, **mine})


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("annotate = ", "no TOML"),
        ('anotate = "x"', "'anotate'; expected texts by the names"),
        ("annotate = 3", "'annotate'"),
        ('data = "x"', "'data'"),
        ('annotate = "in $lines lines"', r"has \$lines; expected \$data, \$words"),
        ('batch = "costs $5"', r"a \$ that begins no name"),
    ],
)
def test_a_prompt_file_that_cannot_be_used_is_explained(content: str, fault: str):
    with pytest.raises(ValueError, match=fault):
        prompts.overrides(content, prompts.texts_of())
