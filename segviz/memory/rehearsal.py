"""Estimates the model calls of a build by building without a model.

The rehearsal counts every prompt. The offline parts decide and write in place of the model, so that
the tree, and with it the number of prompts, is plausible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from segviz.construct import System
from segviz.conversation import Conversation
from segviz.embedding import Embedder, get_embedder
from segviz.llm import Chat, LabelError, Price, Prompt, Reply
from segviz.llm.prompts import fitted, tokens_of
from segviz.llm.protocols import replies_of
from segviz.memory.builder import Building
from segviz.memory.factory import paid

_LEAVES = 500  # rehearsed leaves; the cost of further ones is extrapolated
_LABEL, _OBJECT, _PER_WORD = 8, 200, 1.4  # tokens of a label, of a JSON object, for each word


@dataclass(frozen=True)
class BuildEstimate:
    """Calls of a build and their input and output tokens, without retries and cached replies."""

    calls: int
    tokens_in: int
    tokens_out: int

    def dollars(self, price: Price | None) -> float | None:
        """Returns the cost in US dollars; None if no price is known."""
        if price is None:
            return None
        return (self.tokens_in * price.input + self.tokens_out * price.output) / 1_000_000


class _Rehearsal:
    """A chat model that counts its prompts and leaves all answers to the offline parts."""

    name = "rehearsal"

    def __init__(self, budget: int, prompts: Mapping[str, str]) -> None:
        self.prompts = dict(prompts)
        self.calls = self.tokens_in = self.tokens_out = 0
        self._budget = budget

    def about(self, role: str) -> dict[str, Any]:
        return {}

    def counts(self) -> dict[str, int]:
        return {}

    def count_made(self, *, text: bool, by_model: bool) -> None:
        pass

    def waived(self, prompt: Prompt) -> str:
        return ""

    def reply(self, prompt: Prompt) -> Reply:
        return self.replies([prompt])[0]

    def replies(self, prompts: Sequence[Prompt]) -> list[Reply]:
        return replies_of(self.outcomes(prompts))

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Reply | LabelError]:
        return [self._outcome(fitted(each, self._budget, self.prompts)[0]) for each in prompts]

    def _outcome(self, prompt: Prompt) -> Reply | LabelError:
        self.calls += 1
        self.tokens_in += tokens_of(prompt.system) + tokens_of(prompt.user)
        written = round(prompt.words * _PER_WORD) if prompt.words else _OBJECT
        self.tokens_out += _LABEL if prompt.labels else written
        if prompt.labels:
            return LabelError("nothing is asked in a rehearsal", "")
        return Reply("", refused="nothing is asked in a rehearsal")


def rehearse(
    conversation: Conversation,
    system: System,
    unit: str,
    embedder: Embedder,
    prompt_tokens: int,
    prompts: Mapping[str, str],
) -> BuildEstimate:
    """Estimates the model calls of a build; nothing is sent.

    Args:
        conversation: the conversation to build from.
        system: the system that is built.
        unit: the rule of the leaves.
        embedder: the embedder of the build; a paid one is replaced by an offline one.
        prompt_tokens: longest prompt.
        prompts: replacements for system messages, by name.
    """
    chat = _Rehearsal(prompt_tokens, prompts)
    asked: Chat = chat
    offline = get_embedder() if paid(embedder) else embedder
    building = Building(conversation, system, unit, embedder=offline, chat=asked)
    whole = len(building.units)
    building.units = building.units[:_LEAVES]
    for _ in building:
        pass
    share = whole / max(1, len(building.units))
    return BuildEstimate(
        round(chat.calls * share), round(chat.tokens_in * share), round(chat.tokens_out * share)
    )
