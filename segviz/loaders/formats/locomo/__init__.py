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

import re
from dataclasses import replace
from itertools import islice

from segviz.conversation import Conversation, Session
from segviz.loaders.captions import counted, describe, listed, quoted
from segviz.loaders.dates import note_backwards, note_empty, read_date, session_start
from segviz.loaders.document import Loader, Options, Place, Reading
from segviz.loaders.formats.locomo.turns import Draft, read_turns, settle_ids, text_under
from segviz.loaders.multi_conversation import id_under, known_id, no_turns, rows_of, settled, stem
from segviz.loaders.questions import note_late_evidence, read_questions, turn_index
from segviz.loaders.report import Notes

LABEL = "LoCoMo"

_EXPECTED = "turns such as {speaker, dia_id, text} in session_1, session_2 …"

# Nine digits: enough for any session number, and harmless to int().
_KEY = re.compile(r"session_([0-9]{1,9})(_date_time)?")


def matches(document: object) -> bool:
    """Whether the document, or an item of it, has ``session_<n>`` keys of LoCoMo's kind."""
    return any(_is_locomo(found) for _, raw in rows_of(document) if (found := _transcript(raw)))


def read(document: object, name: str, options: Options) -> Reading:
    """One conversation per sample with at least one turn."""
    notes = Notes()
    found: list[tuple[Conversation, Place]] = []
    empty: list[Place] = []
    sessions = 0
    for place, sample in rows_of(document):
        transcript = _transcript(sample)
        if not isinstance(sample, dict) or transcript is None:
            _note_broken(sample, place, notes)
            continue
        sessions += len(_session_keys(transcript))
        inner = place if transcript is sample else (*place, "conversation")
        conversation = _conversation(sample, transcript, place, inner, name, notes)
        if conversation is None:
            notes.skipped(inner, "no usable turns; the conversation is left out")
            empty.append(inner)
        else:
            found.append((conversation, place))
    if not found:
        raise no_turns(sessions, empty, _EXPECTED, notes)
    return settled(found, _EXPECTED, notes, "sample_id"), notes


def _transcript(sample: object) -> dict[str, object] | None:
    """The object that holds the sessions: ``conversation`` or the sample itself."""
    if not isinstance(sample, dict):
        return None
    for candidate in (sample.get("conversation"), sample):
        if isinstance(candidate, dict) and _session_keys(candidate):
            return candidate
    return None


def _is_locomo(transcript: dict[str, object]) -> bool:
    """REALTALK has the same session keys; its turns hold ``clean_text``."""
    names = transcript.get("name")
    if isinstance(names, dict) and "speaker_1" in names:
        return False
    sessions = (transcript.get(key) for key in _session_keys(transcript))
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
    sessions = _sessions(transcript, inner, notes)
    if not sessions:
        return None
    turns = [turn for session in sessions for turn in session.turns]
    index = turn_index(turn.id for turn in turns)
    declared = _declared_speakers(transcript, inner, notes)
    speakers = tuple(dict.fromkeys([*declared, *(turn.speaker for turn in turns)]))
    _note_others(speakers, declared, inner, notes)
    if transcript is sample:  # the bare shape has no ids
        own = known_id(sample.get("sample_id")) or stem(name)
    else:
        own = id_under(sample, "sample_id", name, place, notes)
    questions = read_questions(sample.get("qa"), (*place, "qa"), index, notes)
    note_late_evidence(questions, (turn.id for turn in turns), (*place, "qa"), notes)
    return Conversation(
        id=own, speakers=speakers, sessions=sessions, questions=questions, source_format=LABEL
    )


def _declared_speakers(transcript: dict[str, object], place: Place, notes: Notes) -> list[str]:
    names = []
    for key in ("speaker_a", "speaker_b"):
        if name := text_under(key, transcript):
            names.append(name)
        elif key in transcript:
            found = describe(transcript[key])
            what = f"expected a speaker's name, found {found}; taken from the turns"
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


def _note_broken(sample: object, place: Place, notes: Notes) -> None:
    if isinstance(sample, dict) and "conversation" in sample:
        place, found = (*place, "conversation"), describe(sample["conversation"])
    else:
        found = describe(sample)
    notes.skipped(place, f"expected a conversation with session_1, session_2 …, found {found}")


# --- sessions ------------------------------------------------------------------------
# Read in the order of their numbers (as texts, session_10 would come before session_2),
# wherever they stand in the file. session_1_summary, events_session_1 and others are ignored.


def _session_keys(transcript: dict[str, object]) -> list[str]:
    """Keys of sessions, dated ones without turns included, in numeric order."""
    keys = {
        f"session_{match[1]}": int(match[1]) for key in transcript if (match := _KEY.fullmatch(key))
    }
    return sorted(keys, key=lambda key: keys[key])


def _sessions(transcript: dict[str, object], place: Place, notes: Notes) -> tuple[Session, ...]:
    """All sessions that have turns, with ids settled across the whole conversation."""
    blocks: list[tuple[Session, tuple[Draft, ...]]] = []
    reserved: set[str] = set()
    empty: list[str] = []
    for key in _session_keys(transcript):
        raw = transcript.get(key)
        if raw is None or raw == []:
            empty.append(key)
        else:
            number = int(key.removeprefix("session_"))
            drafts = read_turns(raw, number, (*place, key), notes)
            declared = (text_under("dia_id", turn) for turn in raw) if isinstance(raw, list) else ()
            reserved.update(filter(None, declared))
            if drafts:
                name, example = f"{key}_date_time", "1:56 pm on 8 May, 2023"
                here = (*place, name)
                date = session_start(transcript.get(name), example, here, notes, read_date)
                blocks.append((Session(key, *date, ()), drafts))
    note_empty(empty, place, notes)
    turns = settle_ids((draft for _, drafts in blocks for draft in drafts), reserved, notes)
    sessions = tuple(
        replace(session, turns=tuple(islice(turns, len(drafts)))) for session, drafts in blocks
    )
    note_backwards(sessions, place, notes, order="numeric")
    return sessions


LOADER = Loader(LABEL, matches, read)
