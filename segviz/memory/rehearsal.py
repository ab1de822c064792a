"""Estimates model calls by doing the work with a stand-in for the model, which counts the prompts.

In a build the offline parts decide and write in place of the model, so that the tree, and with it
the number of prompts, is plausible.
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
from segviz.llm.roles import role_of
from segviz.memory.builder import Building
from segviz.memory.factory import paid
from segviz.memory.memory import Memory
from segviz.text.captions import counted

_NOTHING = "nothing is asked in a rehearsal"
_LEAVES = 500  # rehearsed leaves; the cost of further ones is extrapolated
# Tokens of a label, of a short answer, of other free text, and for each word of a text.
_LABEL, _ANSWER, _FREE, _PER_WORD = 8, 20, 200, 1.4


@dataclass(frozen=True)
class CallEstimate:
    """Number of model calls with their input and output tokens, without retries and repeats."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def times(self, factor: float) -> CallEstimate:
        """Returns the estimate for ``factor`` times as much work."""
        sizes = (self.calls, self.tokens_in, self.tokens_out)
        return CallEstimate(*(round(size * factor) for size in sizes))

    def __add__(self, other: CallEstimate) -> CallEstimate:
        return CallEstimate(
            self.calls + other.calls,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
        )

    def __str__(self) -> str:
        """Returns ``12 calls, 3,400 tokens read and 120 written``."""
        return (
            f"{counted(self.calls, 'call')}, {self.tokens_in:,} tokens read and "
            f"{self.tokens_out:,} written"
        )

    def dollars(self, price: Price | None) -> float | None:
        """Returns the cost in US dollars; None if no price is known."""
        if price is None:
            return None
        return (self.tokens_in * price.input + self.tokens_out * price.output) / 1_000_000


class Rehearsal(Chat):
    """Stand-in for a chat model that counts different prompts and sends none.

    It answers questions with meaningless words, and leaves all other texts and decisions to the
    offline parts.
    """

    name = "rehearsal"

    def __init__(self, budget: int, prompts: Mapping[str, str]) -> None:
        """Sets the longest prompt in tokens, and replacements for system messages by name."""
        self.prompts = dict(prompts)
        self.by_role: dict[str, CallEstimate] = {}
        self._budget = budget
        self._answers: dict[Prompt, Reply | LabelError] = {}

    def of(self, role: str) -> Rehearsal:
        """Returns the model for a role, which is this one."""
        return self

    def has(self, role: str) -> bool:
        """Returns True: it stands in for every model."""
        return True

    def about(self, role: str) -> dict[str, Any]:
        """Returns {}: no model is called."""
        return {}

    def counts(self) -> dict[str, int]:
        """Returns {}: no request is sent."""
        return {}

    def count_made(self, *, text: bool, by_model: bool) -> None:
        """Ignores texts and decisions of the offline parts."""

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Reply | LabelError]:
        """Counts prompts and returns a reply for each, a LabelError if it asks for a label."""
        return [self._outcome(fitted(each, self._budget, self.prompts)[0]) for each in prompts]

    def _outcome(self, prompt: Prompt) -> Reply | LabelError:
        if prompt not in self._answers:
            self._answers[prompt] = self._counted(prompt)
        return self._answers[prompt]

    def _counted(self, prompt: Prompt) -> Reply | LabelError:
        role = role_of(prompt)
        written = _ANSWER if prompt.name == "answer" else _FREE
        written = round(prompt.words * _PER_WORD) if prompt.words else written
        read = tokens_of(prompt.system) + tokens_of(prompt.user)
        needed = CallEstimate(1, read, _LABEL if prompt.labels else written)
        self.by_role[role] = self.by_role.get(role, CallEstimate()) + needed
        if prompt.labels:
            return LabelError(_NOTHING, "")
        if role != "answer":
            return Reply("", refused=_NOTHING)
        # Different for each prompt, so that each answer needs a grade.
        return Reply(f"{self.by_role[role].calls} " + "word " * _ANSWER)


def rehearse(
    conversation: Conversation,
    system: System,
    unit: str,
    embedder: Embedder,
    prompt_tokens: int,
    prompts: Mapping[str, str],
) -> tuple[CallEstimate, Memory]:
    """Estimates the model calls of a build without sending any.

    The offline parts build at most the first 500 leaves; calls are scaled to all leaves. The memory
    they built is returned, too.

    Args:
        conversation: the conversation to build from.
        system: the system that is built.
        unit: the rule of the leaves.
        embedder: the embedder of the build; a paid one is replaced by an offline one.
        prompt_tokens: longest prompt.
        prompts: replacements for system messages, by name.
    """
    chat = Rehearsal(prompt_tokens, prompts)
    offline = get_embedder() if paid(embedder) else embedder
    building = Building(conversation, system, unit, embedder=offline, chat=chat)
    whole = len(building.units)
    building.units = building.units[:_LEAVES]
    for _ in building:
        pass
    share = whole / max(1, len(building.units))
    return sum(chat.by_role.values(), CallEstimate()).times(share), building.memory
