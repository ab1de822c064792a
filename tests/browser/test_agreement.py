"""Levels, entered and left, rank shifts and the header of Ask agree, whatever is asked.

Random questions and settings; ``SEGVIZ_PAIRS`` says how many (default 16, four a question).
"""

from __future__ import annotations

import os
import random
import re

from segviz.retrieval import POLICIES

KEY = "ask-tree"
PAIRS = int(os.environ.get("SEGVIZ_PAIRS", "16"))
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


def counts(app) -> list[tuple[int, int]]:
    """Retrieved nodes on each level before and after, as the header has them."""
    said = app.tree(KEY).locator(".levels .counts").all_inner_texts()
    return [(int(before), int(after)) for before, after in (each.split("→") for each in said)]


def agrees(app) -> None:
    text, header = app.text(), counts(app)
    assert sum(before for before, _ in header) == sum(after for _, after in header) == 10
    new = int(re.search(r"(\d+) of 10 nodes are new in the top", text)[1])
    ranks = re.search(r"Of the top 10, (\d+) entered by propagation and as many left", text)
    assert (int(ranks[1]) if ranks else 0) == new
    assert ranks or "leaves the top 10 in the same order" in text
    marked = app.page.locator(".st-key-evidence .entry").all_inner_texts()
    assert len(marked) == 10
    assert sum("entered, was" in entry for entry in marked) == new
    left = re.search(r"Pushed out of the top 10: (.*)", text)
    assert (len(re.findall(r"\bnode \d+ \(", left[1])) if left else 0) == new
    moved = sum(max(0, after - before) for before, after in header)
    assert moved <= new
    told = re.search(r"Propagation moves retrieval: (.*?)\.\s*(?:Table|$|\n)", text)
    changes = re.findall(r"(\d+) → (\d+)", told[1]) if told else []
    shifted = [(before, after) for before, after in header if before != after]
    assert [(int(before), int(after)) for before, after in changes] == shifted


def test_every_place_says_the_same(app, memory):
    rng = random.Random(0)
    questions = range(len(memory.conversation.questions))
    for _ in range(-(-PAIRS // PER_QUESTION)):
        app.open(f"ask?question={rng.choice(questions)}")
        app.tree(KEY)
        app.until(KEY, "settled", "true")
        for _ in range(PER_QUESTION):
            setting = (rng.choice(list(POLICIES)), rng.choice([0, 0.1, 0.37, 0.8, 0.99]))
            app.tree(KEY).evaluate(SET, [*map(str, setting), str(rng.randrange(6))])
            app.until(KEY, "settled", "true")
            app.settle()
            agrees(app)
