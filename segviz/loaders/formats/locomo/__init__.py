"""Reads LoCoMo (snap-research/LoCoMo) in its shapes.

==========================  ==========================================================
shape                       found in
==========================  ==========================================================
list of samples             ``locomo10.json``: ``{sample_id, conversation, qa, …}``
one sample                  REALTALK's per-conversation copies
bare conversation           the older ``locomo10.zip``: ``{speaker_a, session_1, …}``
samples by id               forks: ``{id: {conversation, qa, …}}``
sessions in a list          forks: ``conversation: [{session_date, turns}, …]``
==========================  ==========================================================

Turns are ``{speaker, dia_id, text, [blip_caption, img_url, query, …]}``. Image URLs are neither
stored nor fetched; the caption represents the image, even without a URL (316 turns of the file).

The texts that the data set derived from the turns are read, too: ``session_summary``, and the facts
of ``observation``, each with its turns. In the bare shape both lie among the sessions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from segviz.conversation import Conversation, Session, StoredText, Turn
from segviz.loaders.chat import text_under
from segviz.loaders.columns import Keys, keys_of, read_chats, session_block
from segviz.loaders.document import Options, Place
from segviz.loaders.loader import Loader, Reading
from segviz.loaders.multi_conversation import WrittenChat, id_under, known_id, rows_of, stem
from segviz.loaders.questions import asked_in, resolve, turn_index
from segviz.loaders.report import Notes
from segviz.text.captions import counted, describe, listed, quoted

LABEL = "LoCoMo"

_NAMES = {"text": "text", "speaker": "speaker", "id": "dia_id", "caption": "blip_caption"}
_SPEAKERS = ("speaker_a", "speaker_b")
_TURNS = ("turns", "dialogue", "dialog", "messages", "utterances")

# Nine digits: enough for any session number, and harmless to int().
_KEY = re.compile(r"session_([0-9]{1,9})(_date_time)?")


def matches(document: object) -> bool:
    """Returns True if the document, or an item of it, has LoCoMo's ``session_<n>`` keys."""
    return any(
        _is_locomo(transcript) for _, raw in _samples(document) if (transcript := _transcript(raw))
    )


def read(document: object, name: str, options: Options) -> Reading:
    """Reads one conversation per sample with at least one turn."""
    notes, chats = Notes(), list[WrittenChat]()
    for place, sample in _samples(document):
        transcript = _transcript(sample)
        if isinstance(sample, dict) and transcript is not None:
            chats.append(_chat(sample, transcript, place, name, notes))
            continue
        here, value = place, sample
        if isinstance(sample, dict) and "conversation" in sample:
            here, value = (*place, "conversation"), sample["conversation"]
        what = f"expected a conversation with session_1, session_2 …, found {describe(value)}"
        notes.skipped(here, what)
    expected = "turns such as {speaker, dia_id, text} in session_1, session_2 …"
    return read_chats(chats, Keys(_NAMES, _NAMES), LABEL, options, notes, expected), notes


def _samples(document: object) -> list[tuple[Place, object]]:
    """Returns the samples in a document, a list or an object by id, each with its place."""
    if isinstance(document, dict) and document and all(map(_transcript, document.values())):
        return [((key,), {"sample_id": key, **raw}) for key, raw in document.items()]
    return rows_of(document)


def _transcript(sample: object) -> dict[str, object] | None:
    """Returns the object with the sessions: ``conversation`` or the sample itself; else None."""
    if not isinstance(sample, dict):
        return None
    inner = sample.get("conversation")
    listed = _by_number(inner) if isinstance(inner, list) and "qa" in sample else None
    for candidate in (listed or inner, sample):
        if isinstance(candidate, dict) and _session_keys(candidate):
            return candidate
    return None


def _by_number(sessions: list[object]) -> dict[str, object]:
    """Converts a list of sessions to LoCoMo's keys: ``session_1``, ``session_1_date_time``.

    Returns {} if a member of the list is not a session.
    """
    transcript: dict[str, object] = {}
    for number, raw in enumerate(sessions, start=1):
        known = raw if isinstance(raw, dict) else {}
        turns = next((known[key] for key in _TURNS if isinstance(known.get(key), list)), None)
        if turns is None:
            return {}
        transcript[f"session_{number}"] = turns
        for key in keys_of(tuple(known), "time")[:1]:
            transcript[f"session_{number}_date_time"] = known[key]
    return transcript


def _is_locomo(transcript: dict[str, object]) -> bool:
    """Returns False for REALTALK, whose turns have ``clean_text`` in place of ``text``."""
    sessions = (transcript.get(key) for key in _session_keys(transcript))
    turns = (turn for turns in sessions if isinstance(turns, list) for turn in turns)
    first = next((turn for turn in turns if isinstance(turn, dict)), {})
    return "text" in first or "clean_text" not in first


def _chat(
    sample: dict[str, object],
    transcript: dict[str, object],
    place: Place,
    name: str,
    notes: Notes,
) -> WrittenChat:
    """Reads a sample: sessions and questions now, facts and summaries once its turns are read."""
    qa: Place = (*place, "qa")
    if transcript is sample:  # the bare shape has no ids
        inner = place
        own = known_id(sample.get("sample_id")) or stem(name)
    else:
        inner = (*place, "conversation")
        own = id_under(sample, "sample_id", name, place, notes)
    asked = sample.get("qa")
    if not isinstance(asked, list | None):
        notes.skipped(qa, f"expected a list of questions, found {describe(asked)}")
    # In the order of their numbers, wherever they are in the file.
    blocks = []
    for key in _session_keys(transcript):
        date = f"{key}_date_time"
        began, at = transcript.get(date), (*inner, date)
        turns = transcript.get(key)
        blocks.append(session_block(key, turns, (*inner, key), notes, began=began, at=at))

    def finish(made: Conversation) -> Conversation:
        """Adds summaries, observations and speakers to the conversation."""
        summaries = {**transcript, **_object(sample.get("session_summary"))}
        sessions = tuple(
            replace(session, summary=text_under(f"{session.id}_summary", summaries) or "")
            for session in made.sessions
        )
        facts = {**transcript, **_object(sample.get("observation"))}
        observations = _observations(
            facts,
            sessions,
            turn_index(turn.id for turn in made.turns),
            (*place, "observation"),
            notes,
        )
        speakers = _speakers(transcript, made.turns, inner, notes)
        return replace(made, speakers=speakers, sessions=sessions, observations=tuple(observations))

    questions = asked_in(asked, qa) if isinstance(asked, list) else []
    return WrittenChat(
        own, inner, blocks, asked=questions, example="1:56 pm on 8 May, 2023", finish=finish
    )


def _object(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _observations(
    facts: dict[str, object],
    sessions: tuple[Session, ...],
    index: dict[str, str],
    place: Place,
    notes: Notes,
) -> Iterator[StoredText]:
    """Yields the observations of all sessions: facts about a speaker, with the turns they cite.

    Adds a note for each entry that is not a fact or cites no turn.
    """
    for session in sessions:
        key = f"{session.id}_observation"
        number = 0
        for speaker, entries in _object(facts.get(key)).items():
            for row, entry in enumerate(entries if isinstance(entries, list) else []):
                pair = entry if isinstance(entry, list) and len(entry) == 2 else [None, None]
                text, named = pair
                here = (*place, key, speaker, row)
                if not isinstance(text, str) or not text.strip():
                    notes.skipped(here, f"expected [fact, turn], found {describe(entry)}")
                    continue
                # A fact names one turn or several, in any spelling.
                names = named if isinstance(named, list) else [named]
                cited = [resolve(name, index) for name in names if isinstance(name, str)]
                sources = tuple(dict.fromkeys(turn for turns, _ in cited for turn in turns))
                if not sources:
                    notes.repaired(here, "the fact names no turn; kept without a source")
                number += 1
                made = f"{session.id}:{number}"
                yield StoredText(made, text.strip(), sources, session.id, session.start)


def _speakers(
    transcript: dict[str, object], turns: Sequence[Turn], place: Place, notes: Notes
) -> tuple[str, ...]:
    """Returns ``speaker_a``, ``speaker_b`` and the other speakers of turns, which get a note."""
    names = [name for key in _SPEAKERS if (name := text_under(key, transcript))]
    for key in _SPEAKERS:
        if key in transcript and not text_under(key, transcript):
            value = describe(transcript[key])
            what = f"expected a speaker's name, found {value}; taken from the turns"
            notes.repaired((*place, key), what)
    others = list(dict.fromkeys(t.speaker for t in turns if t.speaker not in names))
    strange = [quoted(name) for name in others if name != "Unknown"]
    if len(names) == 2 and strange:
        who = f"{counted(len(strange), 'speaker')} beside speaker_a and speaker_b"
        notes.repaired(place, f"{who} ({listed(strange)}); kept")
    return tuple(dict.fromkeys([*names, *others]))


def _session_keys(transcript: dict[str, object]) -> list[str]:
    """Returns the keys ``session_<n>`` in numeric order, also of sessions with a date alone."""
    keys = {
        f"session_{match[1]}": int(match[1]) for key in transcript if (match := _KEY.fullmatch(key))
    }
    return sorted(keys, key=lambda key: keys[key])


LOADER = Loader(
    LABEL,
    matches,
    read,
    ("day_first",),
    about=(
        "a sample: turns with captions, dates, questions with evidence, observations, summaries of "
        "sessions; also samples by id, sessions in a list, a bare conversation",
        "addresses of images, events",
    ),
)
