"""Conversations, the units they are divided into, and the report of loading them.

``turns``         Turn, Session, Question and Dispute, the records of every format
``conversation``  Conversation: sessions and questions, divided into units by a rule, in order or
                  reordered
``units``         the rules that divide sessions into units; each unit becomes a leaf
``corpus``        the conversations of one file and the report of loading it; bundled samples
``times``         times of units, as numbers

Imports nothing of segviz. Public face: the names below.
"""

from segviz.conversation.conversation import Conversation, reordered, with_typed_turns
from segviz.conversation.corpus import (
    STORES,
    TITLES,
    WRITTEN,
    AuditReport,
    Corpus,
    Entry,
    Finding,
    Kind,
    LoadReport,
    distinct,
    sample_path,
    sample_texts,
    with_distinct_ids,
)
from segviz.conversation.times import DAY, Clock, Moment, as_time, moments, seconds
from segviz.conversation.turns import (
    CATEGORY_NAMES,
    UNANSWERABLE,
    Category,
    Dispute,
    Lazy,
    Question,
    Session,
    StoredText,
    Turn,
    category_label,
    category_order,
)
from segviz.conversation.units import UNIT_RULES, Unit

__all__ = [
    "CATEGORY_NAMES",
    "DAY",
    "STORES",
    "TITLES",
    "UNANSWERABLE",
    "UNIT_RULES",
    "WRITTEN",
    "AuditReport",
    "Category",
    "Clock",
    "Conversation",
    "Corpus",
    "Dispute",
    "Entry",
    "Finding",
    "Kind",
    "Lazy",
    "LoadReport",
    "Moment",
    "Question",
    "Session",
    "StoredText",
    "Turn",
    "Unit",
    "as_time",
    "category_label",
    "category_order",
    "distinct",
    "moments",
    "reordered",
    "sample_path",
    "sample_texts",
    "seconds",
    "with_distinct_ids",
    "with_typed_turns",
]
