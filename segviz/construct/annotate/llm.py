"""Annotation by a chat model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from segviz.construct.annotate.extractive import Extractive
from segviz.construct.parameter import Declared, param
from segviz.construct.protocols import Services, require_chat
from segviz.llm import Chat
from segviz.llm.prompts import annotation_prompt


@dataclass(frozen=True)
class Summary(Declared):
    """A chat model writes the summary of the child annotations, in order.

    Source: SegTreeMem Algorithm 1, line 21, and App. G (the wording is ours). Departs
    from the source: a single child's text passes through without a call; an answer far
    beyond the asked length is cut, so that a model cannot flood the tree; a text that was
    waived is written offline (``extractive``) at the same length.
    """

    name: ClassVar[str] = "llm"
    needs_chat: ClassVar[bool] = True

    max_words: int = param(
        80,
        "Length asked for, in words.",
        (10, 400),
        source="SegTreeMem App. G without a length; 80 is ours",
    )
    chat: Chat | None = field(default=None, compare=False, repr=False)

    # Characters kept per word asked for: three times what English needs.
    _characters_per_word: ClassVar[int] = 20

    def prepare(self, services: Services) -> Summary:
        """Returns the same annotator bound to the build's chat model."""
        return replace(self, chat=require_chat(services, "llm annotation"))

    def __call__(self, texts: Sequence[str]) -> str:
        """Summary of ``texts`` (chronological); a single text passes through."""
        return self.many([texts])[0]

    def many(self, groups: Sequence[Sequence[str]]) -> list[str]:
        """One summary per group; independent groups are asked for at the same time."""
        if self.chat is None:
            raise ValueError("llm annotation has no chat model; build with chat=…")
        asked = [i for i, texts in enumerate(groups) if len(texts) > 1]
        prompts = [annotation_prompt(groups[i], self.max_words) for i in asked]
        offline = Extractive(max_words=self.max_words)
        written = {
            i: offline(groups[i])
            if reply.waived
            else reply.text.strip()[: self.max_words * self._characters_per_word]
            for i, reply in zip(asked, self.chat.replies(prompts), strict=True)
        }
        return [written.get(i, texts[0]) for i, texts in enumerate(groups)]
