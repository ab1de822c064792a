"""The protocol of chat models: prompts, replies, and the errors a model may raise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol


class Part(NamedTuple):
    """A quoted part of a prompt: its heading, and texts that may be shortened."""

    head: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request to a chat model.

    With ``labels`` the reply must be exactly one of them; the client enforces it by
    structured output and refuses anything else. With ``words`` the reply is a text of at most so
    many words that becomes memory; with ``json`` it is a JSON object. Such replies are checked.
    ``user`` quotes the ``parts``. ``name`` is the
    name of the system message in ``prompts.toml``, ``told`` the values filled into it.
    """

    system: str
    user: str
    labels: tuple[str, ...] = ()
    words: int = 0
    json: bool = False
    parts: tuple[Part, ...] = ()
    name: str = ""
    told: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """A chat model's answer with what it cost; ``cached`` replies cost nothing now.

    ``waived`` is why there is no answer where somebody decided to do without, ``refused`` why
    the model's replies could not be used: then ``text`` is empty, whatever the labels. ``raw`` is
    the reply as it came, ``model`` the name of the model.
    """

    text: str
    tokens: int = 0
    cached: bool = False
    waived: str = ""
    refused: str = ""
    raw: str = ""
    model: str = ""


class ModelError(RuntimeError):
    """A model could not be reached or paid for after bounded retries; the message says
    what happened and what to do. Finished work is in the cache, so trying again goes on
    where it stopped."""


class LastingFault(ModelError):
    """A model gives no usable answer to one ``prompt`` (it refuses it, or answers with
    nothing), for this ``reason``; other prompts may fare better.

    Trying again will hardly help. A client that has ``waive(prompt, reason)`` can be told
    to do without the answer; the build then decides or writes offline at this place.
    """

    def __init__(self, message: str, prompt: Prompt, reason: str) -> None:
        super().__init__(message)
        self.prompt = prompt
        self.reason = reason


class LabelError(ModelError):
    """A model kept answering outside the label set; ``answer`` is what it said last."""

    def __init__(self, message: str, answer: str) -> None:
        super().__init__(message)
        self.answer = answer


class Chat(Protocol):
    """A chat model, or one for each role.

    ``prompts`` stand in for the system messages of their names. ``counts`` holds counters that
    only grow. ``calls`` and ``tokens`` count what was really requested, repeated tries included
    and cached replies not. ``answered``, ``answered_tokens`` and ``answered_output`` count the
    prompts answered, their tokens and those among them the model wrote, from wherever, so that
    they are the same in a repeated or resumed build; ``from_cache`` counts the answers among them
    that were taken from the cache. ``waived_texts`` counts the prompts without labels that were
    done without, ``refused`` those whose replies could not be used, ``shortened`` the texts cut so
    that a prompt keeps its budget. ``decided``, ``written``, ``decided_instead`` and
    ``written_instead`` are what components say with ``count_made``.
    """

    prompts: dict[str, str]

    @property
    def name(self) -> str:
        """Stable identity of the model and its settings."""
        ...

    def about(self, role: str) -> dict[str, Any]:
        """Returns model, server, parameters and fingerprints for a role, as plain values."""
        ...

    def counts(self) -> Mapping[str, int]:
        """Returns the counters by name."""
        ...

    def count_made(self, *, text: bool, by_model: bool) -> None:
        """Counts a text or a decision that the model made, or that was made in its place."""
        ...

    def reply(self, prompt: Prompt) -> Reply:
        """Returns the answer; ModelError after bounded retries: LabelError for a wrong label,
        LastingFault where this prompt alone gets no answer."""
        ...

    def replies(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Answers independent prompts, a bounded number of them at once."""
        ...

    def waived(self, prompt: Prompt) -> str:
        """Returns why an answer to this prompt is done without; "" where it is not."""
        ...

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Reply | LabelError]:
        """Answers as ``replies``, with the error in the place of a label that never came."""
        ...
