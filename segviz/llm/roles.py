"""Sends every prompt to the chat model of its role: decisions, texts, answers or grades."""

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
    """Returns the role, one of ROLES, of the model that a prompt is for."""
    return _OF_PROMPTS.get(prompt.name, "decision")


class ChatByRole(Chat):
    """Chat that has a model for each role.

    The model ``usual`` takes the roles without a model of their own, except grading: no model
    grades its own answers unless it is named for that.
    """

    def __init__(self, usual: OpenAIChat, by_role: Mapping[str, OpenAIChat]) -> None:
        """Takes a model for all roles, and models by role; raises ValueError for another role."""
        unknown = next((role for role in by_role if role not in ROLES), None)
        if unknown is not None:
            raise ValueError(f"unknown role {unknown!r}; choose among {', '.join(ROLES)}")
        self.usual = usual
        self._by_role = dict(by_role)
        self.prompts = usual.prompts

    def has(self, role: str) -> bool:
        """Returns True if there is a model for this role."""
        return role != "grade" or role in self._by_role

    def of(self, role: str) -> OpenAIChat:
        """Returns the model for a role; raises ValueError if there is none for grading."""
        if not self.has(role):
            raise ValueError("no model is named for grading; name one, another than answers")
        return self._by_role.get(role, self.usual)

    @property
    def clients(self) -> list[OpenAIChat]:
        """Clients of the models of all roles, each once."""
        return list(dict.fromkeys((self.usual, *self._by_role.values())))

    @property
    def name(self) -> str:
        """Name that identifies the models of decisions and texts with their settings."""
        names = {role: self.of(role).name for role in ROLES[:2]}
        if len({*names.values()}) == 1:
            return names["decision"]
        return ", ".join(f"{role}: {name}" for role, name in names.items())

    @property
    def at_once(self) -> int:
        """Number of requests that the server of the usual model gets at the same time."""
        return self.usual.at_once

    def about(self, role: str) -> dict[str, Any]:
        """Returns facts about the model for a role by name: server, parameters, fingerprints."""
        return self.of(role).about(role)

    def counts(self) -> Counter[str]:
        """Returns the sums of the counters of all models, see ``Chat``."""
        sums = Counter[str]()
        for client in self.clients:
            sums.update(client.counts())
        return sums

    def count_made(self, *, text: bool, by_model: bool) -> None:
        """Counts a text or a decision of a build, made by a model or offline in its place."""
        self.usual.count_made(text=text, by_model=by_model)

    def outcomes(self, prompts: Sequence[Prompt]) -> list[Reply | LabelError]:
        """Answers prompts, see ``Chat.outcomes``; those of one role together."""
        answers: dict[int, Reply | LabelError] = {}
        for role in dict.fromkeys(map(role_of, prompts)):
            places = [i for i, prompt in enumerate(prompts) if role_of(prompt) == role]
            outcomes = self.of(role).outcomes([prompts[i] for i in places])
            answers |= zip(places, outcomes, strict=True)
        return [answers[i] for i in range(len(prompts))]

    def close(self) -> None:
        """Closes the connections to the servers of all models."""
        for client in self.clients:
            client.close()
