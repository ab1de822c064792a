"""Histogram, line of what changed, evidence, α path and near misses agree with Python, whatever is
asked.

Random questions and settings; ``SEGVIZ_PAIRS`` says how many (default 8, four a question). Half of
the settings are set while the answer to another is still on its way.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace

from segviz.retrieval import OPENING, POLICIES, PRESETS, RetrievalSettings, propagate, ranks, top_k
from segviz.retrieval.gold import COVERED, HIT, MISSED
from segviz.view.coloring import ALPHA_MAX, ALPHA_STEP, HORIZON_MAX

KEY = "ask-tree"
PAIRS = int(os.environ.get("SEGVIZ_PAIRS", "8"))
PER_QUESTION = 4

SET = """(root, [policy, alpha, horizon]) => {
  const fire = (input, value, kind) => {
    input.value = value;
    input.dispatchEvent(new Event(kind, { bubbles: true }));
  };
  fire(root.querySelector(".controls select"), policy, "change");
  fire(root.querySelector("input.alpha"), alpha, "input");
  fire(root.querySelector("input.horizon"), horizon, "input");
}"""
PATH = """(root) => {
  const { over, values, tops, nodes, ranks } = root.parentNode.segvizTree.path.found;
  return { over, values, tops: tops.map((top) => [...top]), nodes,
    ranks: ranks.map((each) => [...each]) };
}"""
ANSWER = """(root) => {
  const { answer } = root.parentNode.segvizTree.scene;
  return { was: [...answer.was], is: [...answer.is], gold: answer.gold, levels: answer.levels };
}"""


def path_agrees(found, result, gold) -> None:
    """Every retrieved set and every rank on the path is Python's for the scores that were sent."""
    structure, settings = result.structure, result.settings
    sent = result.initial.astype("<f4").astype(float)
    for i, value in enumerate(found["values"]):
        here = replace(settings, **{found["over"]: value})
        final = propagate(sent, structure.edges, *here.propagation, structure).final
        top = top_k(final, structure, here.k, here.levels)
        assert found["tops"][i] == list(top)
        wanted = ranks(found["nodes"], final, structure, here.levels)
        assert [each[i] for each in found["ranks"]] == list(wanted)
    assert set(found["nodes"]) == {node for top in found["tops"] for node in top} | set(gold)


def agrees(app, memory, question, settings: RetrievalSettings) -> None:
    tree = app.tree(KEY)
    result = memory.ask(memory.conversation.questions[question], **settings)
    structure = result.structure
    before, after = result.levels("initial"), result.levels("final")
    assert app.attribute(KEY, "counts") == ",".join(f"{before[n]}>{after[n]}" for n in before)
    assert app.retrieved() == list(result.after)
    moves = app.page.locator(f".st-key-{KEY} .evidence .move").all_text_contents()
    assert sum(move.startswith("in, was") for move in moves) == len(result.entered)
    assert sum(move.startswith("out, was") for move in moves) == len(result.left)
    line = app.page.locator(f".st-key-{KEY} .changed").inner_text()
    assert ("same 10 nodes" in line) == (not result.entered)
    answer = tree.evaluate(ANSWER)
    for nodes, scores in ((answer["was"], result.initial), (answer["is"], result.final)):
        ids = [node for node, _ in nodes]
        assert [rank for _, rank in nodes] == list(ranks(ids, scores, structure))
    gold = memory.gold(memory.conversation.questions[question].evidence, structure)
    fate = gold.fate(result.evidence)
    for name, meaning in (("found", HIT), ("covered", COVERED), ("missed", MISSED)):
        wanted = {turn for turn, what in fate.items() if what == meaning}
        assert set(answer["gold"]["after"][name]) == wanted
    app.page.locator(f".st-key-{KEY} .path[data-ready=true]").wait_for()
    found = tree.evaluate(PATH)
    steps = round(ALPHA_MAX / ALPHA_STEP) if found["over"] == "alpha" else HORIZON_MAX
    assert len(found["values"]) == steps + 1
    path_agrees(found, result, gold.leaves)


def test_every_place_says_what_python_says(app, memory):
    rng = random.Random(0)
    questions = range(len(memory.conversation.questions))

    def set_some() -> dict[str, str | float]:
        settings = {"policy": rng.choice(list(POLICIES)), "horizon": rng.randrange(6)}
        settings["alpha"] = rng.choice([0, 0.1, 0.37, 0.8, 0.99])
        order = ("policy", "alpha", "horizon")
        app.tree(KEY).evaluate(SET, [str(settings[name]) for name in order])
        return settings

    for _ in range(-(-PAIRS // PER_QUESTION)):
        question = rng.choice(questions)
        app.open(f"ask?question={question}")
        app.until(KEY, "settled", "true")
        for pair in range(PER_QUESTION):
            if pair % 2:  # what a run has drawn is thrown away when the page asks for another
                set_some()
                app.page.wait_for_timeout(rng.randrange(150, 350))
            settings = set_some()
            if rng.random() < 0.5:
                app.tree(KEY).locator(".path .head button").click()  # over H, or α again
            app.until(KEY, "settled", "true")
            app.settle()
            agrees(app, memory, question, settings | {"relevance": PRESETS[OPENING].relevance})
