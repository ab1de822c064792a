"""LoCoMo (snap-research/LoCoMo) in its three shapes.

==========================  ==========================================================
shape                       found in
==========================  ==========================================================
list of samples             ``locomo10.json``: ``{sample_id, conversation, qa, …}``
one sample                  REALTALK's per-conversation copies
bare conversation           the older ``locomo10.zip``: ``{speaker_a, session_1, …}``
==========================  ==========================================================
"""

from __future__ import annotations

from segviz.conversation import Conversation, with_distinct_ids
from segviz.loaders.captions import counted, describe, listed, quoted
from segviz.loaders.document import Options
from segviz.loaders.errors import LoadError
from segviz.loaders.formats.locomo.evidence import turn_index
from segviz.loaders.formats.locomo.questions import read_questions
from segviz.loaders.formats.locomo.sessions import read_sessions, session_keys
from segviz.loaders.notes import Note, Notes, Place, shown

LABEL = "LoCoMo"


def matches(document: object) -> bool:
    """Whether the document, or an item of it, has ``session_<n>`` keys of LoCoMo's kind."""
    samples = document if isinstance(document, list) else [document]
    return any(_is_locomo(transcript) for s in samples if (transcript := _transcript(s)))


def read(
    document: object, name: str, options: Options
) -> tuple[tuple[Conversation, ...], list[Note]]:
    """Conversations with at least one turn, and notes on what was mended or left out.

    ``name`` is the file's name; its stem becomes the id of conversations without one.
    Raises LoadError when no turn at all is usable.
    """
    notes = Notes()
    found: list[tuple[Conversation, Place]] = []
    empty: list[Place] = []
    sessions = 0
    for place, sample in _samples(document):
        transcript = _transcript(sample)
        if not isinstance(sample, dict) or transcript is None:
            _note_broken(sample, place, notes)
            continue
        sessions += len(session_keys(transcript))
        inner = place if transcript is sample else (*place, "conversation")
        conversation = _conversation(sample, transcript, place, inner, name, notes)
        if conversation is None:
            notes.skipped(inner, "no usable turns; the conversation is left out")
            empty.append(inner)
        else:
            found.append((conversation, place))
    if not found:
        raise _nothing_usable(sessions, empty, notes)
    conversations = with_distinct_ids([conversation for conversation, _ in found])
    for fresh, (old, place) in zip(conversations, found, strict=True):
        if fresh.id != old.id:
            what = f"{quoted(old.id)} is taken by another conversation; called {quoted(fresh.id)}"
            notes.repaired((*place, "sample_id"), what)
    return conversations, notes


def _samples(document: object) -> list[tuple[Place, object]]:
    if isinstance(document, list):
        return [((row,), sample) for row, sample in enumerate(document)]
    return [((), document)]


def _transcript(sample: object) -> dict[str, object] | None:
    """The object that holds the sessions: ``conversation`` or the sample itself."""
    if not isinstance(sample, dict):
        return None
    for candidate in (sample.get("conversation"), sample):
        if isinstance(candidate, dict) and session_keys(candidate):
            return candidate
    return None


def _is_locomo(transcript: dict[str, object]) -> bool:
    """REALTALK has the same session keys; its turns hold ``clean_text``."""
    names = transcript.get("name")
    if isinstance(names, dict) and "speaker_1" in names:
        return False
    sessions = (transcript.get(key) for key in session_keys(transcript))
    turns = (turn for turns in sessions if isinstance(turns, list) for turn in turns)
    first = next((turn for turn in turns if isinstance(turn, dict)), {})
    return "text" in first or "clean_text" not in first


def _conversation(
    sample: dict[str, object],
    transcript: dict[str, object],
    place: Place,
    inner: Place,
    name: str,
    notes: Notes,
) -> Conversation | None:
    sessions = read_sessions(transcript, inner, notes)
    if not sessions:
        return None
    turns = [turn for session in sessions for turn in session.turns]
    index = turn_index(turn.id for turn in turns)
    declared = _declared_speakers(transcript, inner, notes)
    speakers = tuple(dict.fromkeys([*declared, *(turn.speaker for turn in turns)]))
    _note_others(speakers, declared, inner, notes)
    return Conversation(
        id=_id(sample, transcript is sample, place, name, notes),
        speakers=speakers,
        sessions=sessions,
        questions=read_questions(sample.get("qa"), (*place, "qa"), index, notes),
        source_format=LABEL,
    )


def _declared_speakers(transcript: dict[str, object], place: Place, notes: Notes) -> list[str]:
    names = []
    for key in ("speaker_a", "speaker_b"):
        value = transcript.get(key)
        if isinstance(value, str) and value.strip():
            names.append(value.strip())
        elif key in transcript:
            what = f"expected a speaker's name, found {describe(value)}; taken from the turns"
            notes.repaired((*place, key), what)
    return names


def _note_others(
    speakers: tuple[str, ...], declared: list[str], place: Place, notes: Notes
) -> None:
    """One note on everyone who speaks without being named at the top."""
    others = [name for name in speakers if name not in declared and name != "Unknown"]
    if len(declared) == 2 and others:
        who = listed([quoted(name) for name in others])
        what = f"{counted(len(others), 'speaker')} beside speaker_a and speaker_b ({who}); kept"
        notes.repaired(place, what)


def _id(sample: dict[str, object], bare: bool, place: Place, name: str, notes: Notes) -> str:
    value = sample.get("sample_id")
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    stem = name[: name.rfind(".")] if name.rfind(".") > 0 else name
    stem = stem.strip() or "conversation"
    if not bare:
        found = describe(value) if "sample_id" in sample else "nothing"
        what = f"expected a name, found {found}; named {quoted(stem)} after the file"
        notes.repaired((*place, "sample_id"), what)
    return stem


def _note_broken(sample: object, place: Place, notes: Notes) -> None:
    if isinstance(sample, dict) and "conversation" in sample:
        place, found = (*place, "conversation"), describe(sample["conversation"])
    else:
        found = describe(sample)
    notes.skipped(place, f"expected a conversation with session_1, session_2 …, found {found}")


def _nothing_usable(sessions: int, empty: list[Place], notes: Notes) -> LoadError:
    """``empty``: places of transcripts without turns; notes elsewhere are about lost records."""
    lost = [note for note in notes if note.kind == "skipped" and note.place not in empty]
    size = counted(sessions, "session")
    what = f"The file was read, but it has no messages ({size}, all empty)"
    if lost:
        what = (
            f"The file was read, but it has no usable messages ({size}); "
            f"the first problem is at {shown(lost[0].place)}: {lost[0].what}"
        )
    expected = "turns such as {speaker, dia_id, text} in session_1, session_2 …"
    return LoadError(what, "", expected, "export the conversation again, with its messages")
