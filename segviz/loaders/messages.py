"""What loaders of role-and-content messages share: LongMemEval and RealMem."""

from __future__ import annotations

from collections.abc import Sequence

from segviz.conversation import Session, Turn
from segviz.loaders.captions import counted, describe
from segviz.loaders.errors import LoadError
from segviz.loaders.formats.locomo.turns import read_turn
from segviz.loaders.notes import Note, Notes, Place, shown


def read_messages(
    block: object, speaker: str, session: int, place: Place, notes: Notes
) -> tuple[Turn, ...]:
    """The usable turns of ``[{<speaker>: …, content: …}, …]``, read by LoCoMo's rules."""
    if not isinstance(block, list):
        notes.skipped(place, f"expected a list of turns, found {describe(block)}")
        return ()
    names = {"speaker": speaker, "text": "content"}
    own = Notes()
    turns = []
    for row, raw in enumerate(block):
        if isinstance(raw, dict):
            raw = {ours: raw[theirs] for ours, theirs in names.items() if theirs in raw}
        draft = read_turn(raw, session, row + 1, (row,), own)
        if draft is not None:
            turns.append(Turn(f"S{session}:{row + 1}", draft.speaker, draft.text))
    for note in own:
        here = (names.get(str(step), step) for step in note.place)
        notes.append(Note(note.kind, (*place, *here), note.what))
    return tuple(turns)


def flagged(raw: object, key: str, place: Place, notes: Notes) -> bool:
    """Whether a turn bears this mark: true, and nothing else, does; absent is no mark."""
    value = raw.get(key) if isinstance(raw, dict) else None
    if not isinstance(value, bool | None):
        what = f"expected true or false, found {describe(value)}; read as false"
        notes.repaired((*place, key), what)
    return value is True


def speakers_of(sessions: Sequence[Session], usual: Sequence[str]) -> tuple[str, ...]:
    """Who speaks: the ``usual`` ones first, in that order, then others as they appear."""
    there = dict.fromkeys(turn.speaker for session in sessions for turn in session.turns)
    return tuple(sorted(there, key=lambda name: (*usual, name).index(name)))


def stem(name: str) -> str:
    """The file's name without its ending."""
    return (name[: name.rfind(".")] if name.rfind(".") > 0 else name).strip() or "conversation"


def nothing_usable(sessions: int, empty: list[Place], expected: str, notes: Notes) -> LoadError:
    """``empty``: places of transcripts without turns; notes elsewhere are about lost records."""
    lost = [note for note in notes if note.kind == "skipped" and note.place not in empty]
    size = counted(sessions, "session")
    what = f"The file was read, but it has no messages ({size}, all empty)"
    if lost:
        problem = f"the first problem is at {shown(lost[0].place)}: {lost[0].what}"
        what = f"The file was read, but it has no usable messages ({size}); {problem}"
    return LoadError(what, "", expected, "export the conversation again, with its messages")
