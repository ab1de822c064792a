"""Requests for texts to a model elsewhere, and its replies."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from segviz import SegmentTree, build
from segviz.construct import TITLE, WRITTEN_BY
from segviz.construct.annotate import Summary
from segviz.memory.written import (
    TextReply,
    batch_file,
    can_be_written,
    left,
    read_replies,
    with_replies,
)
from segviz.view.captions import provenance_lines
from tests.memories import built


@pytest.fixture(scope="module")
def memory():
    return built("segment-tree", sessions=6, embedder="hashing")


def answered(request, by="far"):
    return TextReply(
        request.id, f"Title: Units\nIn {request.id} they spoke of boats and bread.", by
    )


def test_a_request_is_the_prompt_of_an_annotation_by_a_model(memory):
    shown, units = memory.structure.collapsed, memory.units
    for request in memory.prompts():
        start, stop = request.span
        assert request.id == f"{memory.conversation.id}:{start}-{stop}"
        [node] = [
            n
            for n in shown.nodes.tolist()
            if shown.level[n] == request.level and (shown.start[n], shown.stop[n]) == (start, stop)
        ]
        texts = [shown.text[child] for child in shown.children[node]]
        days = [units[i].days for child in shown.children[node] for i in shown.coverage(child)]
        assert request.prompt == Summary().prompt(texts, days)  # on the lowest level, of leaves
        assert [each["role"] for each in request.messages] == ["system", "user"]


def test_every_span_of_several_units_is_asked_for_once(memory):
    spans = [request.span for level in left(memory) for request in memory.prompts(level)]
    final = memory.structure
    assert len(spans) == len(set(spans)) == sum(left(memory).values())
    assert set(spans) == {
        (int(final.start[n]), int(final.stop[n]))
        for n in range(len(final))
        if final.stop[n] - final.start[n] > 1
    }
    assert memory.prompts(99) == ()


def test_replies_of_all_levels_in_one_file_are_put_from_below(memory):
    replies = [answered(r) for level in left(memory) for r in memory.prompts(level)]
    done, result = with_replies(memory, reversed(replies))
    assert (left(done), done.prompts(), result.refused) == ({}, (), {})
    assert len(result.texts["far"]) == len(replies)
    assert provenance_lines(done)[0][1] == "written elsewhere, by far; units placed offline"
    # Where a model placed the units, it is named, too.
    models = {**done.provenance, "models": {"decision": {"model": "near"}}}
    lines = dict(provenance_lines(replace(done, provenance=models)))
    assert lines["Texts"] == "written elsewhere, by far"
    assert lines["Model for decisions"].startswith("near")
    # A system whose nodes have other turns gets the texts of those that it has.
    again = memory.with_texts(result.texts["far"], by="far", partly=True)
    assert again.structure.text == done.structure.text


def test_an_extract_in_place_of_a_refused_reply_counts_as_unwritten(memory):
    request = memory.prompts()[0]
    done, _ = with_replies(memory, [answered(request, by="extractive")])
    assert request.id in [each.id for each in done.prompts()]


@pytest.mark.parametrize(
    "system", ["raptor", "memforest", "clustering", "h-mem", "memtree", "bm25"]
)
def test_other_systems_ask_for_the_nodes_that_can_get_a_text(system):
    memory = built(system)
    while requests := memory.prompts():
        memory, result = with_replies(memory, map(answered, requests))
        assert result.refused == {}
    assert left(memory) == {}
    written = any(WRITTEN_BY in facts for facts in memory.structure.facts)
    assert written is can_be_written(memory) is (system in ("raptor", "clustering"))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"custom_id": "a", "response": {}}', "it lacked its answer"),
        ('{"custom_id": "a", "response": null, "error": {"code": "x"}}', "the server failed"),
        ('{"custom_id": "a", "response": {"body": {"choices": []}}}', "it lacked its answer"),
        ('{"custom_id": "a", "text": 3}', "it lacked its answer"),
    ],
)
def test_a_line_without_an_answer_has_a_fault(line, fault):
    [reply] = read_replies("\ufeff" + line + "\n\n")
    assert reply.id == "a"
    assert fault in reply.fault


def test_a_list_of_replies_is_read_and_a_reply_may_name_its_author():
    rows = [{"custom_id": "a", "title": "T", "text": "x", "by": "far"}, {"custom_id": "b"}, 3]
    named, empty, number = read_replies(json.dumps(rows, indent=1))
    assert (named.id, named.text, named.by) == ("a", "Title: T\nx", "far")
    assert (empty.id, number.id) == ("b", "line 3")
    assert empty.fault
    assert number.fault


def test_a_title_of_five_long_words_is_kept_whole(memory):
    title = "Soccer injury, healthy recipes, painting class"
    text = f"Title: {title}\nThey spoke of boats, of bread and of the weather."
    request = memory.prompts()[0]
    done, _ = with_replies(memory, [TextReply(request.id, text)])
    assert title in [facts.get(TITLE) for facts in done.structure.facts]


def test_a_node_with_a_title_is_written_also_by_an_author_without_a_name(memory):
    def annotate(texts):
        return f"About {len(texts)} things", " ".join(texts)[:40]

    tree = SegmentTree(annotate=annotate)
    assert build(memory.conversation, tree, embedder=memory.embedder).prompts() == ()


def test_prompts_in_place_of_replies_are_refused(memory):
    with pytest.raises(ValueError, match="these are the prompts"):
        read_replies(batch_file(memory.prompts(), "m", 100))


@pytest.mark.parametrize("content", ["", "no", "[1]", '{"title": "a"}'])
def test_a_file_without_a_reply_is_refused(content):
    with pytest.raises(ValueError, match="no replies"):
        read_replies(content)
