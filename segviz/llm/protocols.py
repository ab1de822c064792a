"""The protocol of chat models: prompts, replies, and the errors a model may raise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol


class Part(NamedTuple):
    """Quotation in a prompt: its heading, and texts that may be shortened."""

    head: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """Request to a chat model: a ``system`` message, and a ``user`` message that quotes ``parts``.

    The reply is one of the ``labels`` if there are any. Else it is a text of at most ``words``
    words that becomes memory, or a JSON object with ``json``, or free text. A client checks labels,
    texts and objects. ``name`` is the name of the system message in ``prompts.toml``, ``values``
    are filled into that message. ``spare`` holds the positions of parts that may be
    left out of a prompt that is too long, the first to leave out first.
    """

    system: str
    user: str
    labels: tuple[str, ...] = ()
    words: int = 0
    json: bool = False
    parts: tuple[Part, ...] = ()
    name: str = ""
    values: tuple[tuple[str, str], ...] = ()
    spare: tuple[int, ...] = ()

    @property
    def source(self) -> str:
        """The quoted texts, one below the other."""
        return "\n".join(text for part in self.parts for text in part.texts)


@dataclass(frozen=True, slots=True)
class Reply:
    """Chat model's answer to a prompt: ``text``, with its ``tokens``.

    A ``cached`` reply costs nothing now. ``raw`` is the answer as received, ``model`` the name of
    the model. Without a usable answer ``text`` is "" and ``refused`` says why. ``left_out`` is the
    number of parts that the prompt had no room for.
    """

    text: str
    tokens: int = 0
    cached: bool = False
    refused: str = ""
    raw: str = ""
    model: str = ""
    left_out: int = 0


class ModelError(RuntimeError):
    """Failure to get a reply from a model after a limited number of retries.

    The message says what happened and what to do. Finished work is cached: a new try continues
    there.
    """


class LabelError(ModelError):
    """Failure of a model to answer with one of the labels; ``answer`` is its last answer or ""."""

    def __init__(self, message: str, answer: str) -> None:
        super().__init__(message)
        self.answer = answer


class Chat(Protocol):
    """Protocol of a chat model, or of models with a role each.

    Implementations inherit ``reply`` and ``replies``. By default a model counts nothing and has no
    facts.

    ``prompts`` replace the system messages of their names. ``counts`` returns counters that only
    grow:

    - ``calls``, ``tokens_in``, ``tokens_out``: requests sent, with retries, and their tokens.
    - ``answered``, ``answered_tokens``, ``answered_output``: prompts answered, all their tokens,
      and those the model wrote. Cached replies count too, so a repeated build has the same numbers.
    - ``from_cache``: prompts answered from the cache.
    - ``refused``: prompts whose replies could not be used.
    - ``shortened``: texts cut to fit the token budget of a prompt.
    - ``decided``, ``written``, ``decided_instead``, ``written_instead``: see ``count_made``.
    """

    prompts: dict[str, str]

    @property
    def name(self) -> str:
        """Name that identifies the model and its settings."""
        ...

    @property
    def at_once(self) -> int:
        """Number of prompts that the model answers at the same time."""
        return 1

    def about(self, role: str) -> dict[str, Any]:
        """Returns facts about the model for a role by name: server, parameters, fingerprints."""
        return {}

    def counts(self) -> Mapping[str, int]:
        """Returns the counters of requests, answers, decisions and texts, by name."""
        return {}

    def count_made(self, *, text: bool, by_model: bool) -> None:
        """Counts a text or a decision of a build, made by the model or offline in its place."""
        return

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Reply | LabelError]:
        """Answers independent prompts in order, a bounded number of them at once.

        Args:
            prompts: the prompts; equal ones are sent once.

        Returns:
            For each prompt its reply, or a LabelError if the model gave none of the labels. So
            decisions made in its place do not depend on which request was faster.

        Raises:
            ModelError: The server still fails after a limited number of retries, or has answered no
                prompt yet. Answers that came before are cached.
        """
        ...

    def replies(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Answers prompts as ``outcomes``, but raises the first LabelError among them."""
        outcomes = self.outcomes(prompts)
        for each in outcomes:
            if isinstance(each, LabelError):
                raise each
        return [each for each in outcomes if isinstance(each, Reply)]

    def reply(self, prompt: Prompt) -> Reply:
        """Answers one prompt; raises the errors of ``replies``."""
        return self.replies([prompt])[0]
