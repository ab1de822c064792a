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
    """Request to a chat model.

    With ``labels`` the reply must be exactly one of them; the client enforces it by structured
    output and refuses anything else. With ``words`` the reply is a text of at most so many words
    that becomes memory; with ``json`` it is a JSON object. Such replies are checked. ``user``
    quotes the ``parts``. ``name`` is the name of the system message in ``prompts.toml``, ``told``
    the values filled into it.
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
    """Chat model's answer with its cost; ``cached`` replies cost nothing now.

    ``waived`` is the reason to go without an answer, ``refused`` why no reply of the model could be
    used; ``text`` is then empty, whatever the labels. ``raw`` is the reply as received, ``model``
    the name of the model.
    """

    text: str
    tokens: int = 0
    cached: bool = False
    waived: str = ""
    refused: str = ""
    raw: str = ""
    model: str = ""


class ModelError(RuntimeError):
    """Failure to reach or pay a model after a limited number of retries.

    The message says what happened and what to do. Finished work is cached: a new try continues
    there.
    """


class LastingFault(ModelError):
    """Missing answer to one ``prompt``, which the model refuses or leaves empty.

    ``reason`` says why. Retries will hardly help, but other prompts may work. A client with
    ``waive(prompt, reason)`` can go without the answer; the build then decides or writes offline at
    this place.
    """

    def __init__(self, message: str, prompt: Prompt, reason: str) -> None:
        super().__init__(message)
        self.prompt = prompt
        self.reason = reason


class LabelError(ModelError):
    """Repeated answers outside the label set; ``answer`` is the last of them."""

    def __init__(self, message: str, answer: str) -> None:
        super().__init__(message)
        self.answer = answer


class Chat(Protocol):
    """Chat model, or one for each role. Implementations inherit ``reply`` and ``replies``.

    ``prompts`` replace the system messages of their names. ``counts`` returns counters that only
    grow:

    - ``calls``, ``tokens``: requests sent, with retries, without cached replies.
    - ``answered``, ``answered_tokens``, ``answered_output``: prompts answered, their tokens, and
    the
      tokens the model wrote, sent or cached; a repeated or resumed build has the same numbers.
    - ``from_cache``: the cached ones among them.
    - ``waived_texts``: prompts without labels that go without an answer.
    - ``refused``: prompts whose replies could not be used.
    - ``shortened``: texts cut to fit the token budget of a prompt.
    - ``decided``, ``written``, ``decided_instead``, ``written_instead``: see ``count_made``.
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

    def waived(self, prompt: Prompt) -> str:
        """Returns the reason why this prompt needs no answer; "" if it needs one."""
        ...

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Reply | LabelError]:
        """Answers independent prompts in order, a bounded number of them at once.

        Args:
            prompts: the prompts; equal ones are sent once.

        Returns:
            For each prompt its reply, or a LabelError if the model kept answering outside the
            labels. So decisions made in its place do not depend on which request was faster.

        Raises:
            LastingFault: Only this prompt fails.
            ModelError: The server still fails after a limited number of retries. Answers that came
                before are cached.
        """
        ...

    def replies(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Answers prompts as ``outcomes``, but raises the first LabelError among them."""
        found = self.outcomes(prompts)
        for each in found:
            if isinstance(each, LabelError):
                raise each
        return [each for each in found if isinstance(each, Reply)]

    def reply(self, prompt: Prompt) -> Reply:
        """Answers one prompt, with the errors of ``replies``."""
        return self.replies([prompt])[0]
