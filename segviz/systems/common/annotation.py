"""Annotation and task components of systems: bound to services, called in groups, offline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any, TypeVar, cast

from segviz.construct import Annotate, Services, param
from segviz.construct.annotate import Extractive
from segviz.construct.tasks import Offline
from segviz.handover import built_in, calling, check_text

T = TypeVar("T")


@dataclass(frozen=True)
class CheckedAnnotator:
    """An annotator from outside segviz; raises HandoverError where that fails or gives no text."""

    inner: Any

    def __call__(self, texts: Sequence[str]) -> str:
        """Returns the annotator's text of a list of its own, which it may change."""
        with calling(self.inner):
            return check_text(self.inner(list(texts)), self.inner)

    @property
    def many(self) -> Callable[[Sequence[Sequence[str]]], list[str]] | None:
        """Writes a text for each group; None where the annotator takes one group at a time."""
        inner = getattr(self.inner, "many", None)
        return None if inner is None else partial(self._several, inner)

    def _several(self, inner: Callable[..., Any], groups: Sequence[Sequence[str]]) -> list[str]:
        with calling(self.inner):
            texts = [check_text(text, self.inner) for text in inner([list(g) for g in groups])]
            if len(texts) != len(groups):
                raise ValueError(f"{len(texts)} texts for {len(groups)} groups")
            return texts


def prepared(component: T, services: Services) -> T:
    """Returns a component bound to the build's services, if it has ``prepare``.

    An annotator from outside segviz is checked at every text.
    """
    prepare: Any = getattr(component, "prepare", None)
    with calling(component):
        bound: T = component if prepare is None else prepare(services)
    if built_in(bound) or not callable(bound) or hasattr(bound, "choose"):
        return bound
    return cast(T, CheckedAnnotator(bound))


def write(annotate: Annotate, groups: Sequence[Sequence[str]]) -> list[str]:
    """Returns one text per group; a group of one text passes it through.

    All groups go to the component in one call if it supports that.
    """
    many = getattr(annotate, "many", None)
    if many is not None:
        several: list[str] = many(groups)
        return several
    return [annotate(group) if len(group) > 1 else group[0] for group in groups]


def shortened(annotate: Annotate, by: int) -> Annotate:
    """Returns the component with ``max_words``, if any, lowered by ``by``, but not below 20."""
    component: Any = annotate
    if isinstance(component, CheckedAnnotator):
        return CheckedAnnotator(shortened(component.inner, by))
    known = fields(component) if is_dataclass(component) else ()
    if by > 0 and "max_words" in {field.name for field in known}:
        words = component.max_words
        component = replace(component, max_words=min(words, max(20, words - by)))
    shorter: Annotate = component
    return shorter


def or_offline(component: T, services: Services, offline: Callable[[], T]) -> T:
    """Returns the component bound to ``services``; ``offline()`` if it needs a missing model."""
    if getattr(component, "needs_chat", False) and services.chat is None:
        return offline()
    return prepared(component, services)


def annotator(help: str, source: str) -> Any:
    """Declares the parameter for the annotator of a system; its default is extractive, offline."""
    source = f"{source}; offline extracts are ours"
    return param(help=help, registry="annotate", factory=Extractive, source=source)


def judgements(help: str, source: str) -> Any:
    """Declares the parameter for the tasks of a system; its default is offline rules."""
    source = f"{source}; offline rules are ours"
    return param(help=help, registry="tasks", factory=Offline, source=source)
