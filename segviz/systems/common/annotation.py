"""Binds annotators and tasks of systems to the services of a build, and calls them in groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from segviz.construct import Annotate, Services, param
from segviz.construct.annotate import TITLE, Annotation, Extractive
from segviz.construct.tasks import Offline
from segviz.handover import built_in, calling, check_text

T = TypeVar("T")


@dataclass(frozen=True)
class CheckedAnnotator:
    """Annotator from outside segviz; raises HandoverError if that fails or returns no text."""

    inner: Any

    def __call__(self, texts: Sequence[str]) -> str | tuple[str, str]:
        """Returns its text, or title and text, for a copy of ``texts``, which it may change."""
        with calling(self.inner):
            reply = self.inner(list(texts))
            if isinstance(reply, tuple) and len(reply) == 2:
                return check_text(reply[0], self.inner), check_text(reply[1], self.inner)
            return check_text(reply, self.inner)


def prepared(component: T, services: Services) -> T:
    """Returns a component bound to ``services`` by its ``prepare``; a foreign one is checked."""
    prepare: Any = getattr(component, "prepare", None)
    with calling(component):
        bound: T = component if prepare is None else prepare(services)
    if built_in(bound) or not callable(bound) or hasattr(bound, "choose"):
        return bound
    return cast(T, CheckedAnnotator(bound))


def write(annotate: Annotate, groups: Sequence[Sequence[Annotation]]) -> list[Annotation]:
    """Returns an annotation for each group of children's; a single one passes through.

    An annotator of segviz that has ``many`` gets all groups in one call. Each annotation gets the
    days and the height that follow from its children.
    """
    many: Callable[..., list[Annotation]] | None = getattr(annotate, "many", None)
    if many is not None:
        texts = many(groups)
    else:
        texts = [
            _annotation(annotate([child.text for child in group])) if len(group) > 1 else group[0]
            for group in groups
        ]
    return [text.over(group) for text, group in zip(texts, groups, strict=True)]


def _annotation(reply: str | tuple[str, str]) -> Annotation:
    """Returns a text, or a title with its text, as an annotation."""
    if isinstance(reply, str):
        return Annotation(reply)
    title, text = reply
    return Annotation(text, {TITLE: title})


def shortened(annotate: Annotate, by: int) -> Annotate:
    """Returns an annotator whose ``max_words``, if any, is lowered by ``by``, not below 20."""
    component: Any = annotate
    if isinstance(component, CheckedAnnotator):
        return CheckedAnnotator(shortened(component.inner, by))
    known = fields(component) if is_dataclass(component) else ()
    if by > 0 and "max_words" in {field.name for field in known}:
        words = component.max_words
        component = replace(component, max_words=min(words, max(20, words - by)))
    return cast(Annotate, component)


def or_offline(component: T, services: Services) -> T:
    """Returns a component bound to ``services``; without its chat model the offline one."""
    if getattr(component, "needs_chat", False) and services.chat is None:
        return cast(T, Extractive() if callable(component) else Offline())
    return prepared(component, services)


def annotator(help: str, source: str) -> Any:
    """Declares the parameter for the annotator of a system; its default is extractive, offline."""
    source = f"{source}; offline extracts are ours"
    return param(help=help, registry="annotate", factory=Extractive, source=source)


def judgements(help: str, source: str) -> Any:
    """Declares the parameter for the tasks of a system; its default is offline rules."""
    source = f"{source}; offline rules are ours"
    return param(help=help, registry="tasks", factory=Offline, source=source)
