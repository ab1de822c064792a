"""Puts every prompt to the model of its role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from segviz.llm.chat import OpenAIChat
from segviz.llm.protocols import Chat, LabelError, Prompt, Reply

ROLES = ("decision", "annotation", "answer", "grade")
"""Tasks of models: where units join and other small judgements, texts of nodes, answers, grades."""

_OF_PROMPTS = {
    "annotate": "annotation",
    "answer": "answer",
    "answer_request": "answer",
    "judge": "grade",
    "memory_judge": "grade",
}


def role_of(prompt: Prompt) -> str:
    """Returns the role of a prompt: a text, an answer, a grade, else a decision."""
    return _OF_PROMPTS.get(prompt.name, "decision")


class ChatByRole(Chat):
    """A chat model for each role; a :class:`Chat`.

    A role without a model has ``usual``, but for grading: a model never grades its own answers
    unless it is named for that, so ``has("grade")`` is False without one.
    """

    def __init__(self, usual: OpenAIChat, by_role: Mapping[str, OpenAIChat]) -> None:
        """Raises ValueError for a role that is none of ROLES."""
        unknown = next((role for role in by_role if role not in ROLES), None)
        if unknown is not None:
            raise ValueError(f"unknown role {unknown!r}; choose among {', '.join(ROLES)}")
        self.usual = usual
        self._by_role = dict(by_role)
        self.prompts = usual.prompts

    def has(self, role: str) -> bool:
        """Returns True if a model may be asked in this role."""
        return role != "grade" or role in self._by_role

    def of(self, role: str) -> OpenAIChat:
        """Returns the model for a role; raises ValueError if no model may grade."""
        if not self.has(role):
            raise ValueError("no model is named for grading; name one, another than answers")
        return self._by_role.get(role, self.usual)

    @property
    def clients(self) -> list[OpenAIChat]:
        """The models, each once."""
        return list(dict.fromkeys((self.usual, *self._by_role.values())))

    @property
    def name(self) -> str:
        """Stable identity of the models of a build and their settings."""
        names = {role: self.of(role).name for role in ROLES[:2]}
        if len({*names.values()}) == 1:
            return names["decision"]
        return ", ".join(f"{role}: {name}" for role, name in names.items())

    def about(self, role: str) -> dict[str, Any]:
        """Returns model, server, parameters and fingerprints for a role."""
        return self.of(role).about(role)

    def counts(self) -> Counter[str]:
        """Returns the sums of the counters of all models, see ``Chat``."""
        sums = Counter[str]()
        for client in self.clients:
            sums.update(client.counts())
        return sums

    def count_made(self, *, text: bool, by_model: bool) -> None:
        """Counts a text or a decision that a model made, or that was made in its place."""
        self.usual.count_made(text=text, by_model=by_model)

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Reply | LabelError]:
        """Answers prompts, see ``Chat.outcomes``; those of one role together."""
        answers: dict[int, Reply | LabelError] = {}
        for role in dict.fromkeys(map(role_of, prompts)):
            places = [i for i, prompt in enumerate(prompts) if role_of(prompt) == role]
            found = self.of(role).outcomes([prompts[i] for i in places])
            answers |= zip(places, found, strict=True)
        return [answers[i] for i in range(len(prompts))]

    def waived(self, prompt: Prompt) -> str:
        """Returns why this prompt goes without an answer; "" if it does not."""
        return self.of(role_of(prompt)).waived(prompt)

    def waive(self, prompt: Prompt, reason: str) -> None:
        """Goes without an answer to this prompt, as ``OpenAIChat.waive``."""
        self.of(role_of(prompt)).waive(prompt, reason)

    def close(self) -> None:
        """Closes the connections."""
        for client in self.clients:
            client.close()
