"""What every registered system must keep, whatever it is."""

from __future__ import annotations

import inspect
import json
import re
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import segviz
from segviz.construct import Operates, Retriever, Services, as_settings, parameters
from segviz.embedding import HashingEmbedder
from segviz.memory import COMPONENTS, arrivals, make_system, open_memory
from segviz.retrieval import POLICIES
from segviz.systems import SYSTEMS
from segviz.tree import Add, history
from segviz.tree.invariants import INVARIANTS, check
from tests.trees import chat, small_chat

pytestmark = pytest.mark.parametrize("name", list(SYSTEMS))
EMBEDDER = HashingEmbedder()
OWN = [name for name, kind in SYSTEMS.items() if issubclass(kind, Retriever)]
QUESTIONS = ("What did the red bicycle cost?", "Who saw Saturn on Monday?", "zzz", "")


def talk(sessions=4, exchanges=5):
    """Three subjects that come back in every session."""
    subjects = (
        ("the red bicycle", "Utrecht", "gears"),
        ("sourdough bread", "the oven", "rye flour"),
        ("the telescope", "Saturn", "the rings"),
    )
    turns = []
    for s in range(sessions):
        block = []
        for e in range(exchanges):
            thing, place, part = subjects[(s + e) % 3]
            block.append(("Ada", f"On Monday I took {thing} to {place}, round {s}-{e}."))
            block.append(("Ben", f"And did {part} of {thing} work? I paid {10 * s + e} euros."))
        turns.append(block)
    return chat(turns)


CHATS = {"small": small_chat, "talk": talk}


@cache
def built(name, which="talk"):
    return segviz.build(CHATS[which](), name, unit="turn", embedder=EMBEDDER)


def trace(step):
    """Everything a step says, in comparable form; time is measured and may differ."""
    events = [(type(e).__name__, *plain(e)) for e in step.events]
    cost = step.cost
    return (
        step.unit,
        step.note,
        step.decision,
        step.operation,
        events,
        (cost.annotated, cost.inspected, cost.modified),
    )


def plain(event):
    values = [getattr(event, field) for field in event.__dataclass_fields__]
    return [v.tobytes() if isinstance(v, np.ndarray) else v for v in values]


@pytest.mark.parametrize("which", CHATS)
def test_one_clean_step_per_unit(name, which):
    memory = built(name, which)
    assert [step.unit for step in memory.steps] == list(memory.units)
    for number, structure in enumerate(history(memory.steps), start=1):
        assert check(structure, memory.laws) == [], number
        assert len(structure.leaves) == number


SOURCE = re.compile(r"\bours\b|\bcode\b|§\d|\bApp\. [A-G]|\bA\.\d|[Tt]able \d|[Ee]quation \d")
CONSTANT = re.compile(r"^_?[A-Z][A-Z_]*(, _[A-Z_]+)* = (?=[-({\d]).*\d", re.MULTILINE)


def test_every_number_has_a_source(name):
    """A passage of a paper, the authors' code, or "ours": of every parameter, and in the comment
    at (or right above) every constant of the package."""
    for parameter in parameters(SYSTEMS[name]):
        source = parameter.spec.source
        assert SOURCE.search(source), parameter.name
        assert parameter.spec.help.endswith(f" Source: {source}."), parameter.name
        assert not re.search(r"\((paper|code)", parameter.spec.help), parameter.name
    module = Path(inspect.getfile(SYSTEMS[name]))
    for path in [module] if module.parent.name == "systems" else module.parent.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        for constant in CONSTANT.finditer(text):
            line = text[: constant.start()].count("\n")
            near = "\n".join(text.split("\n")[max(line - 2, 0) : line + 1])
            comments = " ".join(re.findall(r"#.*", near))
            assert SOURCE.search(comments), f"{path.name}: {constant[0]}"


def test_every_choice_keeps_the_contract(name):
    """Every value of every switch: clean steps, repeatable, and asked by its own retrieval."""
    for parameter in parameters(SYSTEMS[name]):
        for choice in parameter.spec.choices:
            made = [
                segviz.build(
                    talk(2, 3), name, "turn", embedder=EMBEDDER, **{parameter.name: choice}
                )
                for _ in range(2)
            ]
            assert made[0].check() == [], (parameter.name, choice)
            assert [*map(trace, made[0].steps)] == [*map(trace, made[1].steps)]
            if name in OWN:
                asked = [memory.ask(QUESTIONS[0], method="own") for memory in made]
                assert np.array_equal(asked[0].final, asked[1].final), (parameter.name, choice)
                assert asked[0].evidence, (parameter.name, choice)


def test_leaves_are_the_units_and_everything_is_covered(name):
    memory = built(name)
    s = memory.structure
    spans = [(int(s.start[leaf]), int(s.stop[leaf])) for leaf in s.leaves]
    assert spans == [(i, i + 1) for i in range(len(memory.units))]
    assert [s.text[leaf] for leaf in s.leaves] == [unit.text for unit in memory.units]
    assert {u for root in s.roots for u in s.coverage(root)} == set(range(len(memory.units)))
    assert (s.level[s.active] >= 0).all()


def test_nodes_point_below_and_carry_their_text_as_vector(name):
    memory = built(name)
    s = memory.structure
    assert all(s.level[parent] > s.level[child] for parent, child in s.edges.tolist())
    expected = EMBEDDER.embed([s.text[leaf] for leaf in s.leaves])
    assert np.array_equal(s.vector[list(s.leaves)], expected)


def test_prefix_stable_if_online(name):
    if not SYSTEMS[name].online:
        pytest.skip("promises nothing about prefixes")
    for conversation in (small_chat(), talk(3, 2)):
        stream = arrivals(conversation.units("turn"), EMBEDDER)

        def steps(k, stream=stream):
            return [trace(s) for s in make_system(name).steps(stream[:k], Services(EMBEDDER))]

        whole = steps(len(stream))
        for k in range(len(stream)):
            assert steps(k) == whole[:k], k


def test_two_builds_are_the_same_file(name, tmp_path):
    for number in (1, 2):
        memory = segviz.build(talk(), name, unit="turn", embedder=HashingEmbedder())
        memory.save(tmp_path / f"{number}.json")
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()


def test_settings_round_trip(name):
    system = SYSTEMS[name]()
    settings = as_settings(system)
    again = make_system(name, **json.loads(json.dumps(settings)))
    assert again == system
    assert as_settings(again) == settings
    assert list(settings) == [p.name for p in parameters(SYSTEMS[name])]


def test_saved_and_opened_it_is_the_same(name, tmp_path):
    memory = built(name)
    memory.save(tmp_path / "memory.json.gz")
    opened = open_memory(tmp_path / "memory.json.gz")
    assert opened.model == SYSTEMS[name]()
    assert [trace(step) for step in opened.steps] == [trace(step) for step in memory.steps]
    a, b = memory.structure, opened.structure
    assert a.edges.tolist() == b.edges.tolist()
    assert (a.text, a.kind, a.facts, a.relations) == (b.text, b.kind, b.facts, b.relations)


def test_it_describes_itself(name):
    kind = SYSTEMS[name]
    assert kind.name == name
    assert kind.label
    assert kind.invariants in INVARIANTS
    assert isinstance(kind.online, bool)
    assert "Source:" in kind.__doc__
    assert kind.fidelity in ("faithful", "simplified", "adapted")
    assert isinstance(kind.departures, tuple)
    assert all(isinstance(line, str) and line for line in kind.departures)
    assert "Departs" in kind.__doc__ or kind.departures
    for parameter in parameters(kind):
        assert parameter.spec.help.endswith((".", ")"))


SMALL = {
    "empty": [],
    "one": [[("Ada", "I bought a red bicycle.")]],
    "two": [[("Ada", "I bought a red bicycle."), ("Ben", "Bread is rising.")]],
    "three sessions of one": [[("Ada", "A bicycle.")], [("Ben", "A loaf.")], [("Ada", "Saturn.")]],
    "identical": [[("Ada", "I bought a red bicycle in Utrecht.")] * 12],
    "without words": [[("Ada", "…"), ("Ben", "?!"), ("Ada", "…")]],
}


@pytest.mark.parametrize("case", SMALL)
def test_small_and_odd_conversations(name, case):
    memory = segviz.build(chat(SMALL[case]), name, unit="turn", embedder=EMBEDDER)
    for structure in history(memory.steps):
        assert check(structure, memory.laws) == []
    for question in QUESTIONS:
        for method in ("propagate", "own") if name in OWN else ("propagate",):
            result = memory.ask(question, method=method)
            assert len(result.evidence) <= len(memory.structure)
            assert np.isfinite(result.final).all()


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_gives_shares(name, policy):
    memory = built(name)
    for question in QUESTIONS:
        result = memory.ask(question, policy=policy, alpha=0.5, horizon=3)
        assert ((result.final >= 0) & (result.final <= 1 + 1e-9)).all()
        assert (result.final[~memory.structure.active] == 0).all()
        assert result.evidence
        assert all(memory.structure.active[e.node] for e in result.evidence)


@pytest.mark.parametrize("relevance", ["hybrid", "dense"])
def test_own_retrieval(name, relevance):
    if name not in OWN:
        pytest.skip("no retrieval of its own")
    memory = built(name)
    assert isinstance(memory.model, Retriever)
    for question in QUESTIONS:
        view = memory.view(relevance)
        recall, again = (memory.model.retrieve(question, view) for _ in range(2))
        s = memory.structure
        assert recall.scores.shape == (len(s),)
        assert (recall.scores >= 0).all()
        assert np.isfinite(recall.scores).all()
        assert len(set(recall.ranked)) == len(recall.ranked)
        assert all(s.active[node] for node in recall.ranked)
        assert recall.ranked == again.ranked
        assert recall.scores.tobytes() == again.scores.tobytes()
        assert recall.stages == again.stages
        for stage in recall.stages:
            assert stage.name
            assert stage.note
            assert len(stage.scores) in (0, len(stage.nodes))
            assert set(stage.kept) <= set(stage.nodes)
            assert all(0 <= node < len(s) for node in stage.nodes)
        result = memory.ask(question, method="own", relevance=relevance, k=5)
        shown = s.collapsed.chain[list(recall.ranked)].tolist()
        assert list(result.after) == list(dict.fromkeys(shown))[:5]


def test_own_retrieval_scores_by_its_papers_relevance(name):
    if name not in OWN:
        pytest.skip("no retrieval of its own")
    memory, usual = built(name), SYSTEMS[name].relevance
    found = memory.ask(QUESTIONS[0], method="own")
    assert found.settings.relevance == usual == ("lexical" if name == "bm25" else "dense")
    same = memory.ask(QUESTIONS[0], method="own", relevance=usual)
    assert (found.after, found.before) == (same.after, same.before)
    assert memory.ask(QUESTIONS[0]).settings.relevance == "contextual"


def test_own_retrieval_at_every_moment(name):
    if name not in OWN:
        pytest.skip("no retrieval of its own")
    memory = built(name, "small")
    for step in range(len(memory.steps) + 1):
        result = memory.ask("red bicycle", method="own", step=step)
        heard = [e for e in memory.steps[:step] for e in e.events if isinstance(e, Add)]
        assert len(result.final) == len(heard)


def operations(name):
    model = built(name).model
    return model.operations() if isinstance(model, Operates) else {}


def test_operations_leave_it_clean_and_can_be_undone(name):
    """An operation may have nothing to work on here and then says so; not all of them."""
    if not operations(name):
        pytest.skip("no operations")
    memory = built(name)
    tried = {"unit": (0, 7, 39), "session": (0, 2, 3), "node": range(len(memory.structure))}
    total = 0
    for operation, told in operations(name).items():
        done = 0
        values = [tried.get(kind, (1, 2, 3)) for kind in told.arguments.values()]
        for choice in product(*values):
            if done == 12:
                break
            try:
                after = memory.operate(operation, **dict(zip(told.arguments, choice, strict=True)))
            except ValueError as error:
                assert str(error)
                continue
            done += 1
            assert after.check() == []
            assert after.steps[-1].operation == operation
            assert after.steps[-1].note
            assert after.ask("red bicycle").evidence
            if name in OWN:
                after.ask("red bicycle", method="own")
            assert after.undo().steps == memory.steps
        total += done
    assert total


def test_operations_one_after_the_other(name):
    if "delete" not in operations(name) or list(operations(name)["delete"].arguments) != ["unit"]:
        pytest.skip("nothing to delete by unit")
    memory = built(name, "small")
    for unit in (3, 0, 8, 1, 2, 7, 6, 5, 4):
        memory = memory.operate("delete", unit=unit)
        assert memory.check() == []
        assert unit not in {
            u for root in memory.structure.roots for u in memory.structure.coverage(root)
        }
        with pytest.raises(ValueError, match=f"unit {unit}"):
            memory.operate("delete", unit=unit)
    assert not memory.structure.active.any()
    assert memory.ask("red bicycle").evidence == ()


def test_with_a_chat_model(name, model_chat):
    """Parts that can be done by a model are: built, asked and changed with it."""
    choices = [p for p in parameters(SYSTEMS[name]) if p.spec.registry]
    settings = {
        p.name: next(
            key
            for key, kind in COMPONENTS[p.spec.registry].items()
            if getattr(kind, "needs_chat", False)
        )
        for p in choices
    }
    if not settings:
        pytest.skip("nothing a model could do")
    with pytest.raises(ValueError, match="chat model"):
        segviz.build(talk(2, 2), name, unit="turn", embedder=EMBEDDER, **settings)
    memory = segviz.build(
        talk(2, 2), name, unit="turn", embedder=EMBEDDER, chat=model_chat, **settings
    )
    assert memory.check() == []
    assert sum(step.cost.calls for step in memory.steps) > 0
    assert memory.chat == model_chat.name
    if name in OWN:
        assert memory.ask("red bicycle", method="own", chat=model_chat).evidence
    if "delete" in operations(name) and list(operations(name)["delete"].arguments) == ["unit"]:
        assert memory.operate("delete", unit=2, chat=model_chat).check() == []
