"""The five questions of SegTreeMem App. C.4, and what segviz retrieves for them."""

from __future__ import annotations

from dataclasses import dataclass

from segviz.retrieval import RetrievalSettings

CONVERSATION = "conv-47"


@dataclass(frozen=True)
class Case:
    """One case: the index of its question in the conversation, what it is about, what the
    paper reports, what segviz retrieves offline by hybrid relevance (its default; the paper's is
    dense), and the settings to compare."""

    name: str
    question: int
    about: str
    paper: str
    here: str
    settings: tuple[tuple[str, RetrievalSettings], ...]


_NONE = RetrievalSettings(policy="none")
_TOP_DOWN = RetrievalSettings(policy="top-down", alpha=0.3)
_BOTTOM_UP = RetrievalSettings(policy="bottom-up", alpha=0.1)

CASES: tuple[Case, ...] = (
    Case(
        "Q1",
        147,
        "What James was told to practise before a video game of football: a narrow summary "
        "should keep a local detail.",
        "A node of depth 3 over the 5 November dialogue keeps the answer in its summary; MemTree "
        "and RAPTOR find the game but lose the detail.",
        "Half agrees. Four nested nodes over that dialogue are retrieved, the root among them and "
        "the narrowest at rank 5 of 10 without propagation, rank 2 with bottom-up. But no "
        "retrieved text names the detail: the offline annotation picks sentences, and the short "
        "reply that holds the answer is not among those picked. Its own leaf shares no word with "
        "the question and stands at rank 185; top-down lifts it to 132, not into the top.",
        (
            ("without propagation", _NONE),
            ("bottom-up", _BOTTOM_UP),
            ("top-down", _TOP_DOWN),
        ),
    ),
    Case(
        "Q2",
        149,
        "The name of a cousin's dog: the parent's summary should carry what the neighbouring "
        "reply says.",
        "The parent's summary ends with the dog's name, so the answer is found although the "
        "short reply that gives it is not retrieved.",
        "Agrees in the outcome, not in the way. The unit here is an exchange, so question and "
        "reply are one leaf, retrieved at rank 4 with and without propagation. The parent enters "
        "the top only with bottom-up, at rank 7, and its offline text does not repeat the name.",
        (("without propagation", _NONE), ("bottom-up", _BOTTOM_UP)),
    ),
    Case(
        "Q3",
        4,
        "When John took up an instrument again: summaries can lose an exact date.",
        "A failure of SegTreeMem: retrieval reaches the right stretch of the conversation, but "
        "the summary says that hobbies were resumed and not which or when; MemTree finds the "
        "literal mention.",
        "Agrees. The gold leaf stays outside the top 10 under every policy (rank 19 without "
        "propagation, 25 with top-down). Bottom-up brings in its parent, at rank 6, whose text "
        "does not mention the instrument: the right place without the detail.",
        (("without propagation", _NONE), ("bottom-up", _BOTTOM_UP), ("top-down", _TOP_DOWN)),
    ),
    Case(
        "Q4",
        114,
        "What is planned after a phone number was received: propagation should break a near tie.",
        "Without propagation an unrelated utterance stands just above the right one; its parents "
        "speak of the same person, so propagation lifts it.",
        "Agrees in the direction, with hybrid relevance and without a near tie; with the paper's "
        "dense relevance the gold leaf is at rank 337 of 426 nodes. Here it is at rank 5 in all "
        "three, and its ledger names the parent as the giver: its lead over the unrelated leaf "
        "behind it grows from 12 % without propagation to 17 % with top-down at α 0.1 and 27 % at "
        "α 0.3. The node over both turns is at rank 3 in all. (The data set attributes the plan to "
        "James; the paper's wording, with the other name, is one of its unanswerable questions.)",
        (
            ("without propagation", _NONE),
            ("top-down, α 0.1", RetrievalSettings(policy="top-down")),
            ("top-down, α 0.3", _TOP_DOWN),
        ),
    ),
    Case(
        "Q5",
        56,
        "Which relatives visited last year: propagation can bring in distractors.",
        "A broad top-down policy admits a turn about a cousin and the answer goes wrong; tighter "
        "bottom-up stays with mother and sister.",
        "Agrees in the direction. Neither gold leaf is in the top 10 (ranks 64 and 215), and "
        "top-down pushes both further down (70 and 240). Bottom-up brings in a wide node above "
        "them, at rank 6, which is in neither of the other two. No turn about a cousin enters.",
        (("without propagation", _NONE), ("bottom-up", _BOTTOM_UP), ("top-down", _TOP_DOWN)),
    ),
)
