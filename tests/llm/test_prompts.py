"""The texts of prompts.toml and the prompts made of them."""

from __future__ import annotations

import pytest

from segviz.llm import prompts
from segviz.systems import MemForest, XMemory


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
