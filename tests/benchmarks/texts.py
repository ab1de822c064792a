"""What texts written by hand change, against flat leaves and extracts; their dates; propagation.

Run ``python -m tests.benchmarks.texts`` from the project's root. Every memory of the folder
``texts`` of the data, and the bundled conversations with written texts, have the same tree with
four kinds of texts: none (leaves alone, *flat*), extracts, written texts, and these without dates.
Written texts go on the default tree as it is built now, wherever a node still has its units.

A reader pays for tokens, so texts are read in order of rank until 600 tokens. As in the prompt for
an answer, the days of a text are read with it, so *answer words* does not credit a written text for
the date of its session. *In evidence* is of the questions with an answer: without one a summary can
only quote. *Without dates* lacks every date that the turns do not state. Differences are paired,
with 95 % intervals that resample conversations and the questions in them. The texts of the LoCoMo
conversations were written before their questions were read. Nothing is asserted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import segviz
from segviz.construct import TITLE
from segviz.conversation import WRITTEN, Category, sample_path, sample_texts
from segviz.evaluation import MEASURES, Outcomes, mean_ci, pooled, sees
from segviz.evaluation.evaluation import outcomes_of, ranked
from segviz.evaluation.measures import within
from segviz.evaluation.question_batch import Limits, QuestionBatch, batches
from segviz.memory import Memory
from segviz.memory.written import Texts, days_of
from segviz.retrieval import OPENING, PRESETS, RetrievalSettings
from segviz.text.dates import MONTH_NAMES, day_in_words
from tests.benchmarks.recall import LITERAL, STILL, Setting, flat
from tests.benchmarks.report import interval, number, table
from tests.data import data_path

TOKENS = 600
RELEVANCES = ("dense", "hybrid", "contextual")
SETTINGS: dict[str, Setting] = {
    "none": STILL,
    "opening": PRESETS[OPENING].propagation,
    "top-down": LITERAL,
    "bottom-up": ("bottom-up", 0.1, 2),
}
WORDS, IN_EVIDENCE = within("answer_words", TOKENS), within("in_evidence", TOKENS)
MEASURED = (WORDS, IN_EVIDENCE, "recall")
FLAT, KINDS = "flat", ("extracts", "written", "without dates")
EVERY, TEMPORAL = "all", 2
"""Categories of questions, by LoCoMo's number."""
ADDED = {
    "written − extracts": ("written", "none", "extracts", EVERY),
    "dates in written": ("written", "none", "without dates", EVERY),
    "the same, temporal questions": ("written", "none", "without dates", TEMPORAL),
    "opening on written": ("written", "opening", "written", EVERY),
    "top-down on written": ("written", "top-down", "written", EVERY),
    "bottom-up on written": ("written", "bottom-up", "written", EVERY),
}
"""Differences by name: texts and setting, texts without propagation, category of the questions."""
Data = Mapping[str, Mapping[tuple[str, str, str], Outcomes]]
"""Outcomes by conversation, then by texts, relevance and setting."""
LIMITS = Limits()

_MONTHS = "|".join(MONTH_NAMES)
_NUMBER = r"\d{1,2}(?: ?(?:–|-|to|and) ?\d{1,2})?"
_YEAR = r"(?:19[89]|20[0-4])\d\b"
_DATE = (
    rf"(?:\b{_NUMBER} )?\b(?:{_MONTHS})\b(?: \d{{1,2}}\b)?(?:,? {_YEAR})?"
    rf"|\b(?:spring|summer|autumn|winter) (?:of )?{_YEAR}|\b{_YEAR}"
)
_BEFORE = (
    r"[Oo]n|[Ii]n|[Bb]y|[Ff]rom|[Tt]o|[Uu]ntil|[Ss]ince|[Aa]t|of|for|about|[Aa]round|[Bb]efore"
    r"|[Aa]fter|and|[Mm]id|[Ee]arly|[Ll]ate|the|week|weekend|night|evening|end|beginning"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
)
_DATED = re.compile(rf"[,(]?\s*(?:\b(?:{_BEFORE})\b[ ,-]*)*({_DATE})(?:\)|,(?= ))?")


def without_dates(text: str, turns: str) -> str:
    """Removes the dates from a text that its turns do not state, with the words that lead to them.

    Args:
        text: the written text.
        turns: the texts of its turns, in lower case.
    """

    def shortened(match: re.Match[str]) -> str:
        named = match[1].lower()
        if re.search(_MONTHS, match[1]):  # of a day or month the year is rarely said
            named = re.sub(rf",? {_YEAR}$", "", named)
        return match[0] if named in turns else ""

    text = re.sub(r"\s+([,;:.])", r"\1", _DATED.sub(shortened, text)).strip(" ,;")
    # What follows a date at the start of a sentence begins it now.
    return re.sub(r"(?:^|(?<=[.!?] ))[a-z]", lambda match: match[0].upper(), text)


def read_as_dated(memory: Memory, batch: QuestionBatch) -> QuestionBatch:
    """Returns a batch whose texts begin with their days; its nodes are those of ``batch``."""
    whole = batch.whole
    days = days_of(memory, whole, range(len(whole)))
    texts = tuple(
        "".join(f"{day_in_words(day)}, " for day in known) + text
        for known, text in zip(days, whole.text, strict=True)
    )
    asked = dict(zip(batch.places, batch.questions, strict=True))
    return QuestionBatch(memory, asked, replace(whole, text=texts), batch.step, LIMITS)


def measured(memory: Memory) -> dict[tuple[str, str], Outcomes]:
    """Returns the outcomes of a memory's questions by relevance and setting."""
    questions = memory.conversation.questions
    groups = batches(memory, questions, LIMITS)
    dated = [read_as_dated(memory, batch) for batch in groups]
    found = {}
    for relevance in RELEVANCES:
        for name, (policy, alpha, horizon) in SETTINGS.items():
            asked = RetrievalSettings(
                policy=policy, alpha=alpha, horizon=horizon, relevance=relevance
            )
            rankings = [ranked(memory, batch, asked) for batch in groups]
            plain = outcomes_of(questions, groups, rankings, 0)
            words = outcomes_of(questions, dated, rankings, 0).values[WORDS]
            found[relevance, name] = replace(plain, values={**plain.values, WORDS: words})
    return found


def written_memories() -> Iterator[tuple[str, Memory, Texts]]:
    """Yields the memories with extracts, and their written texts, by the conversation's name."""
    for path in sorted(data_path("texts").glob("*.npz")):
        saved = segviz.open(path)
        shown = saved.structure.collapsed
        yield (
            path.stem,
            segviz.build(saved.conversation),
            {
                (int(shown.start[node]), int(shown.stop[node])): (title, shown.text[node])
                for node in shown.nodes.tolist()
                if (title := shown.facts[node].get(TITLE))
            },
        )
    for name in WRITTEN:
        yield name, segviz.build(segviz.load(sample_path(name))[0]), sample_texts(name)


def all_kinds(memory: Memory, texts: Texts) -> dict[str, Memory]:
    """Returns the memories with each kind of texts; ``memory`` has the extracts."""

    def undated(span: tuple[int, int]) -> tuple[str, str]:
        turns = " ".join(unit.text for unit in memory.units[slice(*span)]).lower()
        title, text = texts[span]
        return title, without_dates(text, turns)

    return {
        FLAT: flat(memory),
        "extracts": memory,
        "written": memory.with_texts(texts, partly=True),
        "without dates": memory.with_texts({span: undated(span) for span in texts}, partly=True),
    }


def column(outcomes: Outcomes, measure: str) -> NDArray[np.float64]:
    """Returns a value for each question, NaN for none; *in evidence* if there is an answer."""
    values = outcomes.column(measure)
    answered = ~np.isnan(outcomes.column(WORDS))
    return np.where(answered, values, np.nan) if measure == IN_EVIDENCE else values


def cell(after: Outcomes, before: Outcomes, measure: str, category: Category = EVERY) -> str:
    """Formats a paired difference; bold if its interval leaves out zero."""
    gains = column(after, measure) - column(before, measure)
    known = [place for place in after.keep(category=category) if not np.isnan(gains[place])]
    groups = [after.groups[place] for place in known] if after.groups else ()
    gain = mean_ci(gains[known], groups=groups)
    text = interval(gain, signed=True)
    return f"**{text}**" if gain.low > 0 or gain.high < 0 else text


def added(data: Data, measure: str) -> list[tuple[str, ...]]:
    """Returns a row for each conversation and relevance, with the differences ``ADDED``."""
    rows = []
    for name, found in data.items():
        for relevance in RELEVANCES:
            cells = [
                cell(
                    found[kind, relevance, setting],
                    found[before, relevance, "none"],
                    measure,
                    category,
                )
                if sees(measure, SETTINGS[setting][0])
                else ""
                for kind, setting, before, category in ADDED.values()
            ]
            rows.append((name, relevance, *cells))
    return rows


def against_flat(data: Data, measure: str) -> list[tuple[str, ...]]:
    """Returns a row for each conversation, relevance and kind of texts, a column per setting."""
    rows = []
    for name, found in data.items():
        for relevance in RELEVANCES:
            base = found[FLAT, relevance, "none"]
            for kind in KINDS:
                gains = (
                    cell(found[kind, relevance, setting], base, measure)
                    if sees(measure, SETTINGS[setting][0])
                    else ""
                    for setting in SETTINGS
                )
                rows.append(
                    (
                        name,
                        relevance,
                        kind,
                        number(float(np.nanmean(column(base, measure)))),
                        *gains,
                    )
                )
    return rows


def lost(data: Data) -> list[tuple[str, ...]]:
    """Returns for each relevance how many questions lose evidence to flat leaves, and words."""
    rows = []
    for relevance in RELEVANCES:
        flat, written = (data["all"][kind, relevance, "none"] for kind in (FLAT, "written"))
        loses = column(written, IN_EVIDENCE) < column(flat, IN_EVIDENCE)
        words = column(written, WORDS) >= column(flat, WORDS)
        gains = column(written, IN_EVIDENCE) > column(flat, IN_EVIDENCE)
        rows.append((relevance, *(str(each.sum()) for each in (gains, loses, loses & words))))
    return rows


def main() -> None:
    """Prints what each part adds, then every kind of texts against flat leaves."""
    parts: dict[str, dict[tuple[str, str, str], Outcomes]] = {}
    rows = []
    for name, memory, texts in written_memories():
        kinds = all_kinds(memory, texts)
        parts[name] = {
            (kind, *how): outcomes
            for kind, each in kinds.items()
            for how, outcomes in measured(each).items()
        }
        shown = kinds["written"].structure.collapsed
        inner = [n for n in shown.nodes.tolist() if shown.active[n] and shown.level[n] > 0]
        titles = sum(bool(shown.facts[node].get(TITLE)) for node in inner)
        questions = memory.conversation.questions
        answered = [question for question in questions if question.answer]
        temporal = sum(question.category == TEMPORAL for question in answered)
        numbers = (len(questions), len(answered), temporal)
        rows.append((name, f"{titles} of {len(inner)}", *map(str, numbers)))
    head = (">inner nodes with a written text", ">questions", ">with an answer", ">temporal")
    print(table(("conversation", *head), rows))
    keys = [*next(iter(parts.values()))]
    data = {"all": {key: pooled({one: parts[one][key] for one in parts}) for key in keys}, **parts}
    for measure in MEASURED:
        label = MEASURES[measure].label
        print(f"\n### {label.capitalize()}\n\nWhat each part adds:\n")
        print(table(("", "relevance", *(f">{each}" for each in ADDED)), added(data, measure)))
        print("\nFlat leaves without propagation, and the difference to them:\n")
        head = ("relevance", "texts", ">flat", *(f">{name}" for name in SETTINGS))
        print(table(("", *head), against_flat(data, measure)))
        if measure == IN_EVIDENCE:
            print(
                "\nA leaf has its turn even where the turn lacks words of the answer; a summary "
                "answers only with all of them. Questions by written texts, none, against flat:\n"
            )
            head = ("gain gold turns", "lose some", "of these, answer words not fewer")
            print(table(("relevance", *(f">{each}" for each in head)), lost(data)))


if __name__ == "__main__":
    main()
