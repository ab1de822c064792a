"""Audits a memory: what it wrote, how far the evidence comes, what it keeps beside newer texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from segviz.conversation import Question, category_label
from segviz.evaluation.aggregate import Row, number_of
from segviz.evaluation.compare import native_settings
from segviz.evaluation.stages import (
    DEEP,
    DEPTHS,
    NEVER_WRITTEN,
    NOT_RANKED,
    NOT_READ,
    READ,
    STAGES,
    WRONG,
    EvidenceStage,
    beginnings,
    evidence_stages,
    stage_rows,
    with_answers,
)
from segviz.handover import HandoverError
from segviz.loaders.runs import RunAnswer
from segviz.memory import (
    AGAINST_TIME,
    LEFT_OUT,
    Memory,
    Superseded,
    contains_answer,
    superseded,
)
from segviz.retrieval import RetrievalSettings
from segviz.text.captions import counted
from segviz.tree import SOURCE_TURNS, UNSURE_TURNS, Structure

ANSWERED_WRONG = "answered wrong"
"""Stage of a question that was answered wrong, where no stage of its gold turns is known."""

_SHOWN = 10  # best texts that are listed above lost evidence, at least
_NOTABLE = 0.02  # share of the gold turns that a piece of advice is about, at least
_TRIED, _FEW = 20, 3  # questions tried for a search that ignores them, and the least number of them
_UNEVEN = 0.1  # how much larger a share must be than chance to be named as a cause


@dataclass(frozen=True, slots=True)
class Advice:
    """Sentence that says what to do about lost evidence, with its numbers.

    ``places`` are those of the gold turns behind it in the stages of the audit; none for advice
    about stored texts.
    """

    text: str
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LostQuestion:
    """Question that lost evidence or was answered wrong.

    ``stage`` is the earliest stage at which it lost a gold turn, "answered wrong" if no stage is
    known. ``places`` are those of its gold turns in the stages of the audit, ``lost`` how many of
    them were not read. ``right`` is None if its answer is not graded.
    """

    question: Question
    stage: str
    places: tuple[int, ...]
    lost: int
    right: bool | None


@dataclass(frozen=True)
class Audit:
    """The audit of a memory on the questions of its conversation, by ``settings``.

    ``failed`` has the index of each question that the system's search failed on, with the reason;
    it has no stages. ``one_result`` is True if the search returned the same for many questions.
    ``answers`` are those of a run, by index of the question.
    """

    memory: Memory
    settings: RetrievalSettings
    stages: tuple[EvidenceStage, ...]
    failed: tuple[tuple[int, str], ...] = ()
    one_result: bool = False
    answers: Mapping[int, RunAnswer] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Returns the system, its retrieval and the share of gold turns in each stage."""
        shares = [
            f"{stage} {row[stage]:.3f}" for row in stage_rows(self.stages) for stage in STAGES
        ]
        summary = ", ".join(shares) or "no question with evidence"
        return f"Audit({self.memory.system} by {self.settings.in_words}: {summary})"

    def graded(self, answers: Mapping[int, RunAnswer]) -> Audit:
        """Returns this audit with the answers of a run, and turns read for a wrong one marked."""
        whole = replace(self, answers=answers)
        return replace(whole, stages=with_answers(self.stages, whole.right))

    @cached_property
    def right(self) -> Mapping[int, bool]:
        """Maps the index of each graded question to True if its answer is right.

        An answer without a grade is right as in ``contains_answer``.
        """
        grades: dict[int, bool] = {}
        for question in self.memory.conversation.questions:
            given = self.answers.get(question.index, RunAnswer())
            right = given.right
            if right is None and given.answer is not None:
                right = contains_answer(question, given.answer)
            if right is not None:
                grades[question.index] = right
        return grades

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Counts by name.

        ``texts`` are stored; ``attributed`` ones name no turn and were compared with all. Of these,
        ``unsure`` ones have a source with a confidence below 0.5, which gets no credit, and
        ``no source`` ones have none. ``against time`` are texts with the words of a turn that was
        said after they were written. ``turns`` are all turns of the conversation, ``written`` those
        that are the source of a text. ``questions`` are those with gold turns.
        """
        memory, structure = self.memory, self.memory.structure
        nodes = np.flatnonzero(structure.retrievable).tolist()
        attributed = [each for node in nodes if "confidence" in (each := structure.facts[node])]
        turns = {turn for node in nodes for turn in memory.turn_ids(node)}
        return {
            "texts": len(nodes),
            "attributed": len(attributed),
            "unsure": sum(UNSURE_TURNS in each for each in attributed),
            "no source": sum(map(_invented, attributed)),
            "against time": sum(AGAINST_TIME in each for each in attributed),
            "turns": len(memory.conversation.turns),
            "written": len(turns),
            "questions": len({each.question for each in self.stages}),
        }

    @property
    def summary(self) -> list[str]:
        """Sentences on what is stored, and on how it was asked."""
        counts, asked = self.counts, self.settings
        stored = counted(counts["texts"], "stored text")
        lines = [f"{stored}, from {counts['written']} of {counted(counts['turns'], 'turn')}."]
        if counts["attributed"]:
            lines.append(
                f"{counts['attributed']} of them name no turn and were compared with all: "
                f"{counts['unsure']} have an unsure source, which gets no credit, "
                f"{counts['no source']} have none, as an invention has."
            )
        if late := counts["against time"]:
            lines.append(f"{late} have the words of a turn that was said after they were written.")
        if not self.stages:
            return [*lines, "No question has evidence, so no stage is known."]
        limit = f"The {asked.k} best texts by {asked.in_words} count as ranked."
        if asked.budget is not None:
            limit = f"The best texts by {asked.in_words} are read, up to {asked.budget:,} tokens."
        return [
            *lines,
            f"{counted(counts['questions'], 'question')} with evidence. {limit}",
        ]

    @cached_property
    def stale(self) -> tuple[Superseded, ...]:
        """Stored texts that may be out of date; see :func:`superseded`."""
        return superseded(self.memory)

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """Sentences on lost evidence; the one about most gold turns comes first."""
        if not self.stages:
            return ()
        wrong = []
        if self.failed:
            number, reason = self.failed[0]
            wrong.append(
                Advice(
                    f"The search failed on {counted(len(self.failed), 'question')}, which are left "
                    f"out; the first is number {number}: {reason}"
                )
            )
        notes = (step.note for step in self.memory.steps[:1])
        wrong += [Advice(note) for note in notes if note.startswith(LEFT_OUT)]
        if self.one_result:
            wrong.append(
                Advice("The search returns the same texts whatever is asked: look at its query.")
            )
        given = [
            *(self._extraction(), self._more_texts(), self._recency()),
            *(self._budget(), self._answers()),
        ]
        by_turns = sorted(filter(None, given), key=lambda each: -len(each.places))
        return (*wrong, *by_turns, *filter(None, [self._inventions()]))

    def _at(self, *stages: str) -> list[int]:
        """Returns the places of the gold turns at some stages, [] if they are hardly any."""
        places = [place for place, one in enumerate(self.stages) if one.stage in stages]
        return places if len(places) >= _NOTABLE * len(self.stages) else []

    def _share(self, places: Sequence[int]) -> str:
        return f"{len(places)} of {counted(len(self.stages), 'gold turn')}"

    def _extraction(self) -> Advice | None:
        """Advises to look at extraction where turns were never written, and at which kind."""
        places = self._at(NEVER_WRITTEN)
        if not places:
            return None
        # The category of which most is never written, if that is more than of all turns.
        (whole,) = stage_rows(self.stages)
        rows = stage_rows(self.stages, "category")
        shares = {str(row["group"]): number_of(row[NEVER_WRITTEN]) for row in rows}
        turns = {str(row["group"]): number_of(row["gold turns"]) for row in rows}
        name = max(shares, key=lambda name: shares[name] * (shares[name] * turns[name] > _FEW - 1))
        most, share = "", shares[name]
        if share >= number_of(whole[NEVER_WRITTEN]) + _UNEVEN:
            most = f" Worst are questions of the category {name}: {share:.0%} of their gold turns."
        dates = [place for place in places if self._dated(place)]
        if 2 * len(dates) > len(places):
            most += f" {len(dates)} of the {len(places)} turns have a date or number."
        text = f"{self._share(places)} were never written: look at extraction.{most}"
        return Advice(text, tuple(places))

    def _dated(self, place: int) -> bool:
        """Returns True if a gold turn, or the answer to its question, has a digit."""
        one, conversation = self.stages[place], self.memory.conversation
        answer = next((q.answer for q in conversation.questions if q.index == one.question), "")
        spoken = conversation.turn(one.turn).content
        return any(letter.isdigit() for letter in f"{spoken} {answer or ''}")

    def _more_texts(self) -> Advice | None:
        """Advises a larger K: the number of texts that gains most for each text more.

        Under a budget, which takes the place of K, it names turns that no budget reads.
        """
        k, outranked = self.settings.k, self._at(NOT_RANKED)
        if self.settings.budget is not None:
            text = f"{self._share(outranked)} are written and come back under no budget"
            return Advice(f"{text}: look at the search.", tuple(outranked)) if outranked else None
        gained = {
            depth: [p for p in outranked if (rank := self.stages[p].rank) and rank <= depth]
            for depth in DEPTHS
            if depth > k
        }
        gained = {depth: p for depth, p in gained.items() if len(p) >= _NOTABLE * len(self.stages)}
        beyond = [p for p in outranked if (self.stages[p].rank or DEEP + 1) > DEEP]
        most = max((len(self.stages[p].above) for p in beyond), default=DEEP)
        lost = f"not among the {DEEP} best; a larger K does not find them"
        if most < DEEP:  # the search was asked for 100
            lost = f"not among the {most} texts that come back at most"
        if not gained:
            text = f"{self._share(beyond)} are written and {lost}: look at the search."
            return Advice(text, tuple(beyond)) if beyond else None
        best = max(gained, key=lambda depth: (len(gained[depth]) / (depth - k), depth))
        gain = len(gained[best]) / len(self.stages)
        text = (
            f"{len(gained[best])} of {counted(len(outranked), 'turn')} that are written and not "
            f"ranked are within rank {best}: raise K from {k} to {best} and gain {gain:.2f}."
        )
        text += f" {len(beyond)} are {lost}." * bool(beyond)
        return Advice(text, tuple(gained[best]))

    def _recency(self) -> Advice | None:
        """Advises to look at recency if texts that outrank a turn are mostly newer than it."""
        places = [p for p in self._at(NOT_RANKED, NOT_READ) if (self.stages[p].rank or 0) > 1]
        structure = self.memory.structure
        begins = beginnings(self.memory, structure)
        all_begin = np.sort([*map(begins, np.flatnonzero(structure.retrievable).tolist())])
        above = sum(min((self.stages[p].rank or 1) - 1, DEEP) for p in places)
        newer = sum(self.stages[p].newer for p in places)
        # Chance: how much of the memory is newer than these turns.
        later = [
            1 - np.searchsorted(all_begin, begins(node), "right") / len(all_begin)
            for p in places
            if (node := self.stages[p].node) is not None
        ]
        if not above or newer / above < np.mean(later) + _UNEVEN:
            return None
        middle = int(np.median([self.stages[p].newer for p in places]))
        text = (
            f"{self._share(places)} are written and rank behind {middle} newer texts in the "
            f"median: {newer / above:.0%} of what outranks them is newer, {np.mean(later):.0%} of "
            "the memory is. Look at recency."
        )
        return Advice(text, tuple(places))

    def _budget(self) -> Advice | None:
        """Advises a larger budget where it ends before turns that are ranked."""
        places = self._at(NOT_READ)
        needed = sorted(self.stages[p].tokens or 0 for p in places)
        if not places:
            return None
        text = (
            f"{self._share(places)} are ranked and not read, because the budget of "
            f"{counted(self.settings.budget or 0, 'token')} ends before them. "
            f"{needed[len(needed) // 2]:,} tokens reach half of them, {needed[-1]:,} all."
        )
        return Advice(text, tuple(places))

    def _answers(self) -> Advice | None:
        """Advises to look at the answering model where turns were read for a wrong answer."""
        places = self._at(WRONG)
        text = f"{self._share(places)} were read and the answer is wrong: look at the answering."
        return Advice(text, tuple(places)) if places else None

    def _inventions(self) -> Advice | None:
        """Names stored texts without a source."""
        without = self.counts["no source"]
        if without < _NOTABLE * self.counts["texts"]:
            return None
        of = f"{without} of {counted(self.counts['texts'], 'text')}"
        strangers = self._strangers()
        named = f" They name {' and '.join(strangers)}, whom the conversation never names."
        return Advice(
            f"{of} come from no turn of this conversation: look for inventions, and for texts of "
            f"other conversations.{named * bool(strangers)}"
        )

    def _strangers(self) -> list[str]:
        """Returns names that recur in texts without a source and are not in the conversation."""
        structure = self.memory.structure
        spoken = " ".join(turn.spoken for turn in self.memory.conversation.turns).lower()
        known = {*re.findall(r"\w+", spoken)}
        texts = [structure.text[n] for n, extra in enumerate(structure.facts) if _invented(extra)]
        words = (word for text in texts for word in {*re.findall(r"\w+", text)})
        names = Counter(each for each in words if each.istitle() and len(each) > 2)
        often = max(_FEW, len(texts) * _UNEVEN)
        common = (name for name, count in names.most_common(10) if count >= often)
        return [name for name in common if name.lower() not in known][:2]

    @cached_property
    def lost(self) -> tuple[LostQuestion, ...]:
        """Questions that lost evidence or were answered wrong, those of the worst stage first.

        Questions that were answered right come last.
        """
        known = {question.index: question for question in self.memory.conversation.questions}
        places: dict[int, list[int]] = {number: [] for number in self.right}
        for place, one in enumerate(self.stages):
            places.setdefault(one.question, []).append(place)
        lost = []
        for number, mine in sorted(places.items()):
            stages = [self.stages[place].stage for place in mine]
            unread = sum(stage not in (READ, WRONG) for stage in stages)
            right = self.right.get(number)
            if unread or right is False:
                stage = min(stages, key=STAGES.index, default=ANSWERED_WRONG)
                lost.append(LostQuestion(known[number], stage, tuple(mine), unread, right))
        order = [*STAGES, ANSWERED_WRONG]
        lost.sort(key=lambda each: (each.right is True, order.index(each.stage), -each.lost))
        return tuple(lost)

    def ranked(self, lost: LostQuestion) -> list[tuple[int | None, int, tuple[str, ...]]]:
        """Returns the texts that rank above the gold turns of a question, and those that hold them.

        Each has its 1-based rank (None if unknown), its node and the gold turns it holds. They are
        in order of rank: the first 10 or K of them, and every text that holds a gold turn.
        """
        mine = [self.stages[place] for place in lost.places]
        gold: dict[int, list[str]] = {}
        rank_of: dict[int, int | None] = {}
        for one in mine:
            shown = one.above[: max(_SHOWN, self.settings.k)]
            rank_of |= {node: rank for rank, node in enumerate(shown, start=1)}
        for one in mine:
            if one.node is not None:
                rank_of[one.node] = one.rank
                gold.setdefault(one.node, []).append(one.turn)
        ranked = sorted(rank_of.items(), key=lambda each: (each[1] or math.inf, each[0]))
        return [(rank, node, tuple(gold.get(node, ()))) for node, rank in ranked]

    def rows(self) -> list[Row]:
        """Returns a row for each gold turn of each question.

        A row has the texts of question and turn, the stage, and the best node with the turn. For a
        turn that was never written, ``unsure`` is a text that may come from it.
        """
        conversation, structure = self.memory.conversation, self.memory.structure
        unsure: dict[str, str] = {}  # a text that may come from a turn
        for node, text in enumerate(structure.text):
            unsure |= dict.fromkeys(unsure_turns(structure, node), text)
        asked = {question.index: question.text for question in conversation.questions}
        return [
            {
                "question": asked[one.question],
                "number": one.question,
                "category": category_label(one.category),
                "turn": one.turn,
                "said": conversation.turn(one.turn).spoken,
                "stage": one.stage,
                "rank": "" if one.rank is None else one.rank,
                "score": "" if one.score is None else one.score,
                "needed": "" if one.needed is None else one.needed,
                "memory": "" if one.node is None else structure.text[one.node],
                "unsure": unsure.get(one.turn, "") if one.stage == NEVER_WRITTEN else "",
            }
            for one in self.stages
        ]


def tables_of(stages: Sequence[EvidenceStage]) -> dict[str, list[Row]]:
    """Returns three tables with the shares of the stages among gold turns.

    They are ``all`` (one row), ``category`` and ``session`` (a row for each).
    """
    return {by or "all": stage_rows(stages, by) for by in ("", "category", "session")}


def grades_of(audits: Iterable[Audit]) -> list[Row]:
    """Returns the share of right answers among graded ones, over all and by category.

    Rows have ``group``, ``answers`` (how many are graded) and ``right``; [] without a grade.
    """
    graded: dict[str, list[bool]] = {}
    for each in audits:
        for question in each.memory.conversation.questions:
            if (right := each.right.get(question.index)) is not None:
                for group in ("all", question.category_label):
                    graded.setdefault(group, []).append(right)
    return [
        {"group": group, "answers": len(right), "right": sum(right) / len(right)}
        for group, right in graded.items()
    ]


def limits_of(stages: Sequence[EvidenceStage], wanted: Mapping[str, float]) -> list[Row]:
    """Compares shares of the gold turns with limits, for a check that may fail.

    Args:
        stages: the stages of the gold turns.
        wanted: limits by name. ``recall`` is the least share of gold turns that are read, the
            name of a stage, its spaces as hyphens and without commas, the largest share there.

    Returns:
        A row for each limit: ``name``, ``limit``, ``share``, and ``kept`` (True or False).

    Raises:
        ValueError: A name is unknown, or no question has evidence.
    """
    names = {stage.replace(",", "").replace(" ", "-"): stage for stage in STAGES}
    if unknown := [name for name in wanted if name not in ("recall", *names)]:
        raise ValueError(f"{unknown[0]!r:.40} is no limit; choose from recall, {', '.join(names)}")
    if not stages:
        raise ValueError("no question has evidence, so no share is known")
    (row,) = stage_rows(stages)
    shares = {name: number_of(row[stage]) for name, stage in names.items()}
    shares["recall"] = number_of(row[READ]) + number_of(row[WRONG])
    rows: list[Row] = []
    for name, limit in wanted.items():
        missing = limit - shares[name] if name == "recall" else shares[name] - limit
        rows.append({"name": name, "limit": limit, "share": shares[name], "kept": missing <= 1e-9})
    return rows


def _invented(facts: Mapping[str, Any]) -> bool:
    """Returns True for the facts of a stored text that was compared with all turns in vain."""
    sourced = facts.get(SOURCE_TURNS) or UNSURE_TURNS in facts
    return "confidence" in facts and not sourced


def unsure_turns(structure: Structure, node: int) -> tuple[str, ...]:
    """Returns the turns that a stored text may come from."""
    return tuple(filter(None, str(structure.facts[node].get(UNSURE_TURNS, "")).split("\n")))


def audit(
    memory: Memory,
    settings: RetrievalSettings | None = None,
    answers: Mapping[int, RunAnswer] | None = None,
    **changes: Any,
) -> Audit:
    """Audits a memory on the questions of its conversation.

    Args:
        memory: any memory, also one of stored texts (``memory_from``, ``provider``) or of a run
            (``run_memory``).
        settings: of the retrieval. Without them the memory is asked by the retrieval of its
            system's paper (``native_settings``), if there is one, else without propagation.
            ``budget`` as in ``evidence_stages``.
        answers: what a run answered, by index of the question (``segviz.loaders.runs``). Without
            settings and ``k``, all that it retrieved counts as ranked.
        **changes: fields of the settings that differ.

    Raises:
        ValueError: For a setting out of range.
        HandoverError: The system's search fails on every question.
    """
    answers = answers or {}
    if settings is None:
        longest = max((len(each.retrieved or ()) for each in answers.values()), default=0)
        still = {"policy": "none", "alpha": 0.0, "horizon": 0, "method": "propagate"}
        usual = RetrievalSettings(**{**({"k": longest} if longest else {}), **changes, **still})
        asked = native_settings(memory, usual) or usual
    else:
        asked = replace(settings, **changes)
    asked = asked.resolved(memory.model)
    questions = memory.conversation.questions
    stages: list[EvidenceStage] = []
    failed: list[tuple[int, str]] = []
    for question in questions:
        # A question that a foreign search fails on is named, and the others go on.
        try:
            stages += evidence_stages(memory, [question], asked)
        except HandoverError as error:
            failed.append((question.index, str(error)))
            if len(failed) == len(questions):
                raise
    # A search that ignores the question returns one result for all.
    good = [each for each in questions if each.index not in dict(failed) and not each.asked_at]
    several = {each.text: each for each in good[:_TRIED]}.values()
    results = {memory.ask(each, replace(asked, budget=None)).after for each in several}
    same = (
        len(several) >= _FEW
        and len(results) == 1
        and results != {()}
        and asked.k < memory.structure.retrievable.sum()
    )
    result = Audit(memory, asked, tuple(stages), tuple(failed), bool(same))
    return result.graded(answers) if answers else result
