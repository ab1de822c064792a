"""What an input is, and the pieces many of them are made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

Said = tuple[tuple[str, str], ...]
Made = bytes | str | Callable[[], bytes] | list[object] | dict[str, object]


@dataclass(frozen=True, eq=False)
class Input:
    """One input.

    One that is not ``read`` is refused, with the place. Of one that is ``kept`` counts the turns,
    ``said`` are speaker and text of each, and ``findings`` are kind and place, all there are.
    """

    number: int
    what: str
    made: Made
    name: str
    read: bool = False
    where: str = ""
    said: Said | None = None
    kept: int = 0
    findings: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file."""
        made = self.made() if callable(self.made) else self.made
        if isinstance(made, bytes):
            return made
        return (made if isinstance(made, str) else json.dumps(made)).encode()

    def __str__(self) -> str:
        """As the id of a test."""
        return f"N{self.number:02} {self.what}"


def refused(number: int, what: str, made: Made, where: str = "", name: str = "chat.json") -> Input:
    """An input that is not read."""
    return Input(number, what, made, name, where=where)


def read(
    number: int,
    what: str,
    made: Made,
    said: Iterable[tuple[str, str]] | int,
    *findings: str,
    name: str = "chat.json",
) -> Input:
    """An input that is read; ``said`` may be a number of turns. A finding is written
    ``kind | place``."""
    found = tuple(tuple(each.split(" | ")) for each in findings)
    if isinstance(said, int):
        return Input(number, what, made, name, True, kept=said, findings=found)
    turns = tuple(said)
    return Input(number, what, made, name, True, said=turns, kept=len(turns), findings=found)


ANN = {"speaker": "Ann", "text": "hello"}
BOB = {"speaker": "Bob", "text": "hi"}
ONE = (("Ann", "hello"),)
CHAT = (*ONE, ("Bob", "hi"))


def locomo(*turns: object, **extra: object) -> dict[str, object]:
    """A bare conversation of one session."""
    return {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": list(turns),
        **extra,
    }


def turn(number: int, speaker: object = "Ann", text: object = "hello", **extra: object) -> object:
    """A LoCoMo turn."""
    return {"speaker": speaker, "dia_id": f"D1:{number}", "text": text, **extra}


BARE = json.dumps(locomo(turn(1), turn(2, "Bob", "hi"))).encode()
