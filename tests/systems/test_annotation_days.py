"""Prompts for texts name the days of the sessions that they quote, in every system."""

from __future__ import annotations

import pytest

import segviz
from segviz.construct import PROMPT
from segviz.llm import Chat, Reply
from segviz.memory import make_system
from segviz.text.dates import day_in_words
from tests.memories import sample


class Writes(Chat):
    """Writes a new text for each prompt."""

    name = "writes"

    def __init__(self):
        self.seen, self.prompts = [], {}

    def of(self, role):
        return self

    def outcomes(self, prompts):
        texts = [f"Title: T\nText {len(self.seen) + i}." for i in range(len(prompts))]
        self.seen += prompts
        return [Reply(text, 1, raw=text, model="w") for text in texts]


@pytest.mark.parametrize(
    ("system", "settings"),
    [
        *(("segment-tree", {"refresh": refresh}) for refresh in ("eager", "lazy", "joined")),
        *((name, {}) for name in ("clustering", "raptor", "memtree", "memforest", "xmemory")),
    ],
)
def test_every_prompt_names_the_days_of_its_parts_and_can_be_restored(system, settings):
    conversation, chat = sample(sessions=4), Writes()
    made = make_system(system, annotate={"name": "llm"}, **settings)
    memory = segviz.build(conversation, made, chat=chat)
    known = {day_in_words(session.start.date()) for session in conversation.sessions}
    heads = [part.head for prompt in chat.seen for part in prompt.parts]
    assert heads
    for head in heads:
        days = head.partition(", said ")[2].removeprefix("on ").removeprefix("from ").split(" to ")
        assert set(days) <= known
    # The days are those of the units below each child.
    final, restored = memory.structure, 0
    for node in final.nodes.tolist():
        if PROMPT in final.facts[node] and final.active[node] and len(final.children[node]) > 1:
            prompt = memory.prompt_of(node)
            # A tree of MemForest may be written anew before its children are linked again.
            assert prompt is not None or system == "memforest"
            restored += prompt is not None
    assert restored


@pytest.mark.parametrize("refresh", ["lazy", "joined"])
def test_postponed_texts_name_the_days_too(refresh):
    made = make_system("segment-tree", annotate={"name": "llm"}, refresh=refresh)
    memory = segviz.build(sample(sessions=4), made, chat=Writes())
    for step in range(5, len(memory.steps), 6):
        memory.settled(step, chat := Writes())
        assert all(", said " in part.head for prompt in chat.seen for part in prompt.parts)


def test_a_conversation_without_dates_has_plain_headings(tmp_path):
    path, chat = tmp_path / "chat.txt", Writes()
    path.write_text("".join(f"{'AB'[i % 2]}: Line {i} about a boat.\n" for i in range(12)))
    made = make_system("segment-tree", annotate={"name": "llm"})
    segviz.build(segviz.load(path)[0], made, chat=chat)
    assert {part.head for prompt in chat.seen for part in prompt.parts} == {"Part"}
