"""Runs and qrels in TREC's formats, which ``ranx``, ``ir_measures`` and ``trec_eval`` read.

Documents are turns, so that memories with different texts can be compared. A ranked node stands for
the turns of its units (a leaf), its sources (a stored text) or the turns it quotes (a node above).
"""

from __future__ import annotations

from dataclasses import replace

from segviz.conversation import Conversation
from segviz.evaluation.audit import Audit
from segviz.evaluation.stages import with_gold


def trec_qrels(conversation: Conversation) -> str:
    """Writes the gold turns of all questions as TREC qrels: lines of question, 0, turn, 1."""
    known = {turn.id for turn in conversation.turns}
    rows = (
        f"{_name(conversation.id, question.index)} 0 {_name(conversation.id, turn)} 1\n"
        for question, turns in with_gold(conversation.questions, known)
        for turn in turns
    )
    return "".join(rows)


def trec_run(audit: Audit) -> str:
    """Writes the ranked turns of all questions with gold turns as a TREC run.

    Questions that the search failed on are left out, as in the audit.
    Lines have question, Q0, turn, rank, score and system. The score is 1 / rank, so that the order
    has no ties; other exports have the scores of nodes.
    """
    memory, conversation = audit.memory, audit.memory.conversation
    every = [turn.id for turn in conversation.turns]
    place = {turn: number for number, turn in enumerate(every)}
    lines, structure, by_node = [], None, {}
    failed = dict(audit.failed)
    asked = (each for each in conversation.questions if each.index not in failed)
    for question, _ in with_gold(asked, place):
        result = memory.ask(question, replace(audit.settings, budget=None))
        if result.structure is not structure:
            structure, by_node = result.structure, memory.gold(every, result.structure).by_node
        turns = (sorted(by_node.get(node, ()), key=place.__getitem__) for node in result.after)
        ranked = dict.fromkeys(turn for of_node in turns for turn in of_node)
        name, system = _name(conversation.id, question.index), _word(memory.system)
        for rank, turn in enumerate(ranked, start=1):
            document = _name(conversation.id, turn)
            lines.append(f"{name} Q0 {document} {rank} {1 / rank:.9f} {system}\n")
    return "".join(lines)


def _name(conversation: str, part: object) -> str:
    return f"{_word(conversation)}/{_word(str(part))}"


def _word(text: str) -> str:
    """Returns a text with "_" for each run of white space, which separates the columns."""
    return "_".join(text.split()) or "_"
