"""The five questions of SegTreeMem App. C.4, and what segviz retrieves for them."""

from __future__ import annotations

from dataclasses import dataclass

from segviz.retrieval import RetrievalSettings

CONVERSATION = "conv-47"


@dataclass(frozen=True)
class Case:
    """One case: the index of its question in the conversation, what it is about, what the
    paper reports, what segviz retrieves offline by hybrid relevance (the paper's is dense), and
    the settings to compare."""

    name: str
    question: int
    about: str
    paper: str
    here: str
    settings: tuple[tuple[str, RetrievalSettings], ...]


_NONE = RetrievalSettings(policy="none", relevance="hybrid")
_TOP_DOWN = RetrievalSettings(policy="top-down", alpha=0.3, relevance="hybrid")
_BOTTOM_UP = RetrievalSettings(policy="bottom-up", alpha=0.1, relevance="hybrid")
_ALL = (("without propagation", _NONE), ("bottom-up", _BOTTOM_UP), ("top-down", _TOP_DOWN))

CASES: tuple[Case, ...] = (
    Case(
        "Q1",
        147,
        "What James was told to practise before a video game of football: a narrow summary "
        "should keep a local detail.",
        "A node of depth 3 over the 5 November dialogue keeps the answer in its summary; MemTree "
        "and RAPTOR find the game but lose the detail.",
        "Agrees. Three nested nodes over that dialogue are retrieved, the narrowest at rank 2 "
        "under every policy, and its text names the detail. The leaf of the answer shares no "
        "word with the question and stands at rank 209; its parents lift it to 4, with top-down.",
        _ALL,
    ),
    Case(
        "Q2",
        149,
        "The name of a cousin's dog: the parent's summary should carry what the neighbouring "
        "reply says.",
        "The parent's summary ends with the dog's name, so the answer is found although the "
        "short reply that gives it is not retrieved.",
        "Agrees in the outcome, not in the way. The unit here is an exchange, so question and "
        "reply are one leaf, retrieved at rank 5 with and without propagation. The parent enters "
        "the top only with bottom-up, at rank 8, and its offline text does not repeat the name.",
        _ALL[:2],
    ),
    Case(
        "Q3",
        4,
        "When John took up an instrument again: summaries can lose an exact date.",
        "A failure of SegTreeMem: retrieval reaches the right stretch of the conversation, but "
        "the summary says that hobbies were resumed and not which or when; MemTree finds the "
        "literal mention.",
        "A failure here too, by another way. The gold leaf stays outside the top 10 under every "
        "policy (rank 22 without propagation, 26 with top-down), and no node over it enters. What "
        "is retrieved speaks of the instrument elsewhere.",
        _ALL,
    ),
    Case(
        "Q4",
        114,
        "What is planned after a phone number was received: propagation should break a near tie.",
        "Without propagation an unrelated utterance stands just above the right one; its parents "
        "speak of the same person, so propagation lifts it.",
        "Agrees. The gold leaf is at rank 6 without propagation and rank 5 with top-down at α 0.3, "
        "and its ledger names the parent as the greatest giver: its lead over the next leaf grows "
        "from 35 % without propagation to 38 % at α 0.1 and 43 % at α 0.3. The node over both "
        "turns is at rank 2 without propagation, rank 3 with. This is with hybrid relevance; "
        "with the paper's dense relevance the leaf is at rank 357 of 448 nodes. (The data set "
        "attributes the plan to James; the paper's wording, with the other name, is one of its "
        "unanswerable questions.)",
        (
            ("without propagation", _NONE),
            ("top-down, α 0.1", RetrievalSettings(policy="top-down", relevance="hybrid")),
            ("top-down, α 0.3", _TOP_DOWN),
        ),
    ),
    Case(
        "Q5",
        56,
        "Which relatives visited last year: propagation can bring in distractors.",
        "A broad top-down policy admits a turn about a cousin and the answer goes wrong; tighter "
        "bottom-up stays with mother and sister.",
        "Agrees in the direction. Neither gold leaf is in the top 10 (ranks 64 and 225), and "
        "top-down pushes both further down (72 and 260). A wide node over one of them is at rank 3 "
        "under every policy; bottom-up adds the root, at rank 6. No turn about a cousin enters.",
        _ALL,
    ),
)
