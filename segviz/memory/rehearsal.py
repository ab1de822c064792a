"""Estimates model calls by doing the work with a stand-in for the model, which counts the prompts.

In a build the offline parts decide and write, so that the number of prompts is plausible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from segviz.construct import System
from segviz.conversation import Conversation
from segviz.embedding import Embedder, get_embedder
from segviz.llm import Chat, ChatByRole, Endpoint, LabelError, Price, Prompt, Reply
from segviz.llm.prompts import expected_tokens, fitted, tokens_of
from segviz.llm.roles import role_of
from segviz.llm.usage import Tries
from segviz.memory.builder import Building
from segviz.memory.factory import paid
from segviz.memory.memory import Memory
from segviz.text.captions import counted

_NOTHING = "nothing is asked in a rehearsal"
_LEAVES = 500  # rehearsed leaves; the cost of further ones is extrapolated
_MEASURED = 5  # replies of a model from which on its share of retries is used


@dataclass(frozen=True)
class CallEstimate:
    """Expected number of model calls with their input and output tokens.

    ``retries`` of the calls repeat a request after an unusable reply. Their share is that of the
    model's replies so far. For ``unmeasured`` calls there are too few replies: their retries are
    not included.
    """

    calls: float = 0
    tokens_in: float = 0
    tokens_out: float = 0
    retries: float = 0
    unmeasured: float = 0

    def times(self, factor: float) -> CallEstimate:
        """Returns the estimate for ``factor`` times as much work."""
        return CallEstimate(*(getattr(self, each.name) * factor for each in fields(self)))

    def __add__(self, other: CallEstimate) -> CallEstimate:
        names = [each.name for each in fields(self)]
        return CallEstimate(*(getattr(self, name) + getattr(other, name) for name in names))

    @property
    def replies(self) -> float:
        """Number of prompts: the calls without retries."""
        return self.calls - self.retries

    @property
    def phrase(self) -> str:
        """Number of calls in words, with the retries in it."""
        calls, retries = counted(round(self.calls), "call"), round(self.retries)
        if self.unmeasured >= self.calls:
            return f"{calls} (retries are not measured yet and not included)"
        share = f"{retries:,} of them retries" if retries else "no retries"
        return f"{calls} ({share}, as {'far as ' * bool(self.unmeasured)}measured before)"

    def __str__(self) -> str:
        """Returns ``12 calls (2 of them retries, …), 3,400 tokens read and 120 written``."""
        return (
            f"{self.phrase}, {self.tokens_in:,.0f} tokens read and {self.tokens_out:,.0f} written"
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

    def __init__(self, chat: ChatByRole | None = None) -> None:
        """Takes the models it stands in for: their prompts, limits and retries so far."""
        self.prompts: dict[str, str] = dict(chat.prompts) if chat else {}
        self.by_role: dict[str, CallEstimate] = {}
        self._chat = chat
        self._answers: dict[Prompt, Reply | LabelError] = {}

    def of(self, role: str) -> Rehearsal:
        """Returns the model for a role, which is this one."""
        return self

    def has(self, role: str) -> bool:
        """Returns True: it stands in for every model."""
        return True

    def counts(self) -> dict[str, int]:
        """Returns the expected calls and tokens so far, as a model counts its own."""
        total = sum(self.by_role.values(), CallEstimate())
        read, written = round(total.tokens_in), round(total.tokens_out)
        return {
            "answered": round(total.calls),
            "answered_tokens": read + written,
            "answered_output": written,
        }

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Reply | LabelError]:
        """Counts prompts and returns a reply for each, a LabelError if it asks for a label."""
        return [self._outcome(prompt) for prompt in prompts]

    def _outcome(self, prompt: Prompt) -> Reply | LabelError:
        """Returns the stand-in's reply to a prompt; an equal prompt is counted once."""
        role = role_of(prompt)
        model = self._chat.of(role) if self._chat and self._chat.has(role) else None
        limit = model.endpoint.prompt_tokens if model else Endpoint.prompt_tokens
        prompt, _ = fitted(prompt, limit, self.prompts)
        if prompt not in self._answers:
            tries = model.tries(prompt.name) if model else Tries()
            self._answers[prompt] = self._counted(prompt, role, tries)
        return self._answers[prompt]

    def _counted(self, prompt: Prompt, role: str, tries: Tries) -> Reply | LabelError:
        """Adds a prompt's expected calls and tokens to its role; returns a stand-in's reply."""
        reads, writes = tokens_of(prompt.system + prompt.user), expected_tokens(prompt)
        needed = CallEstimate(1, reads, writes, unmeasured=1)
        # Calls and tokens for each prompt of this kind, as measured.
        if tries.prompts >= _MEASURED:
            calls = tries.requests / tries.prompts
            written = writes * tries.wrote / tries.expected
            needed = CallEstimate(calls, calls * reads, written, retries=calls - 1)
        self.by_role[role] = self.by_role.get(role, CallEstimate()) + needed
        if prompt.labels:
            return LabelError(_NOTHING, "")
        if role != "answer":
            return Reply("", refused=_NOTHING)
        # Different for each prompt, so that each answer needs a grade.
        return Reply(f"{len(self._answers)} " + "word " * writes)


def rehearse(
    conversation: Conversation,
    system: System,
    unit: str,
    embedder: Embedder,
    chat: ChatByRole | None = None,
) -> tuple[dict[str, CallEstimate], Memory]:
    """Estimates the model calls of a build without sending any.

    The offline parts build at most the first 500 leaves; calls are scaled to all leaves.

    Args:
        conversation: the conversation to build from.
        system: the system that is built.
        unit: the rule of the leaves.
        embedder: the embedder of the build; a paid one is replaced by an offline one.
        chat: the models of the build, whose prompts, limits and retries so far are used.

    Returns:
        The estimates by role, and the memory.
    """
    stand_in = Rehearsal(chat)
    offline = get_embedder() if paid(embedder) else embedder
    building = Building(conversation, system, unit, embedder=offline, chat=stand_in)
    whole = len(building.units)
    building.units = building.units[:_LEAVES]
    for _ in building:
        pass
    share = whole / max(1, len(building.units))
    needed = {role: each.times(share) for role, each in stand_in.by_role.items()}
    return needed, building.memory
