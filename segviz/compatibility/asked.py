"""What the compatibility models that ask a chat model share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from segviz.compatibility.calibrated import Calibrated
from segviz.protocols import (
    Arrival,
    Candidate,
    Chat,
    LabelError,
    Services,
    Verdict,
    require_chat,
)


@dataclass(frozen=True)
class Asked:
    """Binding to the build's chat model, and ``calibrated`` where its answers are no labels.

    A model defines ``_ask``, which may let a LabelError pass.
    """

    name: ClassVar[str]
    needs_chat: ClassVar[bool] = True

    chat: Chat | None = field(default=None, compare=False, repr=False)
    fallback: Calibrated = field(default_factory=Calibrated, compare=False, repr=False)

    def prepare(self, services: Services) -> Self:
        """The same model bound to the build's chat model."""
        chat = require_chat(services, self.name)
        return replace(self, chat=chat, fallback=self.fallback.prepare(services))

    def choose(self, unit: Arrival, candidates: Sequence[Candidate]) -> int | None:
        """Position of the candidate the model chose, or None."""
        return self.judge(unit, candidates).chosen

    def judge(self, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        """The choice with the model's labels; ValueError where no chat model is bound."""
        if not candidates:
            return Verdict(None, (), "There is no inner node to join yet.")
        if self.chat is None:
            raise ValueError(f"{self.name} has no chat model; build with chat=…")
        try:
            return self._ask(self.chat, unit, candidates)
        except LabelError as error:
            return self.fallback.instead_of(error, unit, candidates)

    def _ask(self, chat: Chat, unit: Arrival, candidates: Sequence[Candidate]) -> Verdict:
        raise TypeError(f"{type(self).__name__} does not say how it asks")
