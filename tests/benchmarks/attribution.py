"""How well the turns are found that stored facts came from, and what that is worth.

Run ``python -m tests.benchmarks.attribution`` from the project's root with the data under
SEGVIZ_DATA or ../shared/data. LoCoMo's ``observation`` has facts that a model wrote, each with its
turns, which are hidden here and found again. Both constants of ``segviz.retrieval.attribution`` are
chosen on one half of the conversations and reported on the other. The second table has facts as
they are, with times of several kinds, merged in pairs, and of another conversation, with the names
of this one's speakers: these have no source. Its constants were chosen on 26, 30, 43.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import product

import segviz
from segviz.conversation import Conversation, Corpus, StoredText
from segviz.embedding import get_embedder
from segviz.evaluation.evaluation import Outcomes, pooled
from segviz.evaluation.stages import STAGES, EvidenceStage, evidence_stages, stage_rows
from segviz.retrieval.attribution import UNSURE, attribute
from tests.benchmarks.report import interval, number, real_data, table
from tests.data import HELD_OUT, TUNED_ON

GRID = tuple(product((0.0, 1.0, 2.0, 3.0), (0.0, 1.0, 2.0, 3.0)))
HALVES = {"26, 30, 43": TUNED_ON, "47, 49": HELD_OUT}
EMBEDDER = get_embedder("auto")


def hidden(facts: Sequence[StoredText], *, session: bool = False) -> list[StoredText]:
    """The facts without turns and times; with their ``session`` or without."""
    known = {} if session else {"session": ""}
    return [replace(fact, sources=(), time=None, **known) for fact in facts]


def right(talks: Sequence[Conversation], how: str, subject: float, order: float) -> float:
    """The share of facts whose first source is one of theirs."""
    hits = facts = 0
    for talk in talks:
        true = list(talk.observations)
        if how == "shuffled":
            random.Random(0).shuffle(true)
        made = attribute(
            hidden(true, session=how == "session"), talk, EMBEDDER, subject=subject, order=order
        )
        hits += sum(bool({*a.sources[:1]} & {*b.sources}) for a, b in zip(made, true, strict=True))
        facts += len(true)
    return hits / facts


def variants(talk: Conversation, other: Conversation) -> dict[str, list[StoredText]]:
    """Facts of a conversation in several forms, each with its true sources."""
    draw = random.Random(3)
    facts, start = list(talk.observations), {each.id: each.start for each in talk.sessions}

    def dated(change: Callable[[datetime], datetime], **more: bool) -> list[StoredText]:
        return [
            replace(fact, session="", time=(t := start[fact.session]) and change(t), **more)
            for fact in facts
        ]

    zone = timezone(timedelta(hours=1))
    by_session: dict[str, list[StoredText]] = defaultdict(list)
    for fact in draw.sample(facts, len(facts)):
        by_session[fact.session].append(fact)
    merged = [
        replace(a, text=f"{a.text.rstrip('.')} and {b.text}", sources=(*a.sources, *b.sources))
        for mine in by_session.values()
        for a, b in zip(mine[::2], mine[1::2], strict=False)
    ]
    names = dict(zip(other.speakers, talk.speakers, strict=False))
    foreign = [replace(each, sources=()) for each in draw.sample(list(other.observations), 150)]
    for before, after in names.items():
        foreign = [replace(each, text=each.text.replace(before, after)) for each in foreign]
    return {
        "no time": dated(lambda _: None),  # type: ignore[arg-type, return-value]
        "creation, with clock": dated(lambda t: t + timedelta(hours=1)),
        "creation, date alone": dated(lambda t: t.replace(hour=0, minute=0, second=0)),
        "creation, at +01:00": dated(lambda t: t.replace(tzinfo=zone)),
        "event, within 30 days": dated(
            lambda t: t + timedelta(days=draw.randint(-30, 30)), of_event=True
        ),
        "merged in pairs": [replace(each, time=None, session="") for each in merged],
        "of another conversation": [replace(each, time=None, session="") for each in foreign],
    }


def sources_row(half: Sequence[Conversation], form: str, corpus: Corpus) -> tuple[str, ...]:
    """Precision, recall and first sources right of facts in a form; those without a source."""
    right_, given, wanted, first, none, unsure, facts = 0, 0, 0, 0, 0, 0, 0
    order = [*TUNED_ON, *HELD_OUT]
    for talk in half:
        other = corpus[order[(order.index(talk.id) + 2) % len(order)]]
        true = variants(talk, other)[form]
        made = attribute([replace(each, sources=()) for each in true], talk, EMBEDDER)
        for a, b in zip(made, true, strict=True):
            right_ += len({*a.sources} & {*b.sources})
            given, wanted = given + len(a.sources), wanted + len({*b.sources})
            first += bool({*a.sources[:1]} & {*b.sources})
            none += not a.sources
            unsure += bool(a.sources) and a.confidence < UNSURE
        facts += len(true)
    shares = (first / facts, right_ / max(given, 1), right_ / max(wanted, 1))
    return (form, str(facts), *map(number, (*shares, none / facts, unsure / facts)))


def outcomes(talks: Sequence[Conversation], facts: dict[str, Sequence[StoredText]]) -> Outcomes:
    """Measures of memories of these facts, over the questions of all conversations."""
    found = {}
    for talk in talks:
        memory = segviz.memory_from(facts[talk.id], conversation=talk, embedder=EMBEDDER)
        found[talk.id] = segviz.evaluate(memory, talk.questions, policy="none").outcomes
    return pooled(found)


def by_substring(talks: Sequence[Conversation]) -> float:
    """Evidence recall@10 where a fact counts as a turn that it holds, or that holds it."""
    values: list[float] = []
    for talk in talks:
        memory = segviz.locomo_facts(talk, embedder=EMBEDDER)
        for question in talk.questions:
            if gold := [talk.turn(turn).content.lower() for turn in question.evidence]:
                found = memory.ask(question, policy="none").evidence
                texts = [each.text.lower() for each in found]
                values.append(sum(any(g in t or t in g for t in texts) for g in gold) / len(gold))
    return sum(values) / len(values)


def stages(talks: Sequence[Conversation]) -> list[EvidenceStage]:
    """The stage of every gold turn in LoCoMo's own facts."""
    found: list[EvidenceStage] = []
    for talk in talks:
        memory = segviz.locomo_facts(talk, embedder=EMBEDDER)
        found += evidence_stages(memory, talk.questions, policy="none")
    return found


def main() -> None:
    """Prints both directions, then what is lost at which stage."""
    corpus = segviz.load(real_data("locomo", "locomo5.json"))
    talks = {name: [corpus[each] for each in ids] for name, ids in HALVES.items()}
    score = {
        (name, setting): right(half, "", *setting)
        for name, half in talks.items()
        for setting in GRID
    }
    rows = []
    for reported, half in talks.items():
        (other,) = set(talks) - {reported}
        chosen = max(GRID, key=lambda setting: score[other, setting])
        for label, setting in {f"chosen on {other}": chosen, "as shipped": (2.0, 2.0)}.items():
            true = {talk.id: talk.observations for talk in half}
            made = {
                talk.id: attribute(
                    hidden(talk.observations), talk, EMBEDDER, subject=setting[0], order=setting[1]
                )
                for talk in half
            }
            ways = [right(half, how, *setting) for how in ("", "shuffled", "session")]
            by_true, by_made = outcomes(half, true), outcomes(half, made)
            read = [by_true.value("recall"), by_made.value("recall"), by_substring(half)]
            differ = interval(by_made.gain(by_true, "recall"), signed=True)
            given = f"{label}: subject {setting[0]:g}, order {setting[1]:g}"
            facts = sum(map(len, true.values()))
            numbers = (number(each) for each in (*ways, *read))
            rows.append((reported, given, str(facts), *numbers, differ))
    ways = ("first source", "store shuffled", "session known")
    read = ("recall@10, true turns", "attributed", "by substring", "attributed - true, 95 %")
    print(table(("conversations", "constants", "facts", *ways, *read), rows))
    print()
    forms = [*variants(talks["47, 49"][0], talks["47, 49"][1])]
    heads = ("first source", "precision", "recall", "no source", "unsure")
    lines = [
        (name, *sources_row(half, form, corpus)) for name, half in talks.items() for form in forms
    ]
    print(table(("conversations", "facts", "number", *heads), lines))
    print()
    shown = []
    for name, half in talks.items():
        (row,) = stage_rows(stages(half))
        shown.append((name, str(row["gold turns"]), *(number(row[stage]) for stage in STAGES)))
    print(table(("conversations", "gold turns", *STAGES), shown))


if __name__ == "__main__":
    main()
