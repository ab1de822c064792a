"""Memories of texts that another memory stored: turns, ghosts, credit, attribution."""

import json
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

import segviz
from segviz.conversation import Conversation, Question, Session, StoredText, Turn
from segviz.embedding import HashingEmbedder
from segviz.evaluation.audit import audit
from segviz.loaders import LoadError
from segviz.retrieval.attribution import _guide, attribute, clauses
from tests.data import real_data
from tests.memories import sample

EMBEDDER = HashingEmbedder()
SAID = (
    ("Ann", "I bought a red bicycle in Utrecht."),
    ("Bob", "The bread is baked with rye flour."),
    ("Ann", "My telescope shows the rings of Saturn."),
    ("Bob", "I sold the piano to Clara."),
)


def conversation():
    """Two sessions of two turns, a week apart."""
    sessions = [
        Session(
            f"session_{s + 1}",
            datetime(2024, 5, 1 + 7 * s),
            "",
            tuple(Turn(f"D{s + 1}:{t + 1}", *SAID[2 * s + t]) for t in (0, 1)),
        )
        for s in (0, 1)
    ]
    asked = [("What did Ann buy?", ("D1:1",)), ("Who has the piano?", ("D2:2", "D2:1"))]
    questions = tuple(Question(i, text, None, 1, gold) for i, (text, gold) in enumerate(asked))
    return Conversation("small", ("Ann", "Bob"), tuple(sessions), questions)


FACTS = (
    {"id": "a", "text": "Ann owns a bicycle", "turns": "D1:1"},
    {"id": "b", "text": "Ann rides and looks at Saturn", "turns": ["D1:1", "D2:1"], "level": 0},
)


def stored(facts=FACTS, **options):
    return segviz.memory_from(facts, conversation=conversation(), embedder=EMBEDDER, **options)


def test_memories_stand_over_ghosts_of_the_units_that_nothing_holds():
    memory = stored()
    s = memory.structure
    assert memory.check() == []
    assert [s.kind[leaf] for leaf in s.leaves] == ["ghost"] * 4
    place = {text: node for node, text in enumerate(s.text)}
    assert memory.turn_ids(place["Ann owns a bicycle"]) == ("D1:1",)
    assert memory.turn_ids(place["Ann rides and looks at Saturn"]) == ("D1:1", "D2:1")
    assert s.level[place["Ann rides and looks at Saturn"]] == 1


@pytest.mark.parametrize("policy", [*segviz.POLICIES])
@pytest.mark.parametrize("relevance", ["contextual", "hybrid", "lexical"])
def test_ghosts_have_no_score_and_never_come_back(policy, relevance):
    memory = stored()
    result = memory.ask("Who sold the piano?", policy=policy, relevance=relevance, k=99)
    ghosts = np.flatnonzero(memory.structure.ghost)
    assert result.final[ghosts].tolist() == [0] * 4
    assert {memory.structure.text[node] for node in result.after} == {f["text"] for f in FACTS}


def test_a_store_is_credited_with_what_it_keeps_and_nothing_else():
    memory = stored()
    outcomes = segviz.evaluate(memory, conversation().questions, policy="none").outcomes
    assert outcomes.values["recall"] == (1.0, 0.5)  # nothing was written of D2:2
    assert outcomes.values["reached"] == (1.0, 0.5)
    assert outcomes.fates == ((1, 0, 0, 1), (1, 0, 0, 2))
    gold = memory.gold(("D2:2", "D2:1"))
    fate = gold.fate(memory.ask("Saturn", policy="none").evidence)
    assert fate == {"D2:2": "not in any leaf", "D2:1": "found"}


def test_raw_units_beside_memories_are_held_by_themselves():
    raw = {"id": "r", "text": "Bob: I sold the piano to Clara."}
    memory = stored((*FACTS, raw))
    outcomes = segviz.evaluate(memory, conversation().questions, policy="none").outcomes
    assert outcomes.values["recall"] == (1.0, 1.0)
    assert memory.structure.ghost.sum() == 3


def test_a_memory_with_the_text_of_its_only_unit_is_not_folded_into_the_ghost():
    verbatim = {"id": "v", "text": f"Ann: {SAID[0][1]}", "turns": "D1:1"}
    memory = stored((verbatim,))
    (found,) = memory.ask("bicycle").evidence
    assert (found.level, found.turn_ids) == (1, ("D1:1",))


def test_summaries_of_memories_may_stand_above():
    rows = [*({**fact, "parent": "top"} for fact in FACTS), {"id": "top", "text": "Ann"}]
    memory = stored(rows)
    assert memory.check() == []
    assert memory.structure.level.tolist().count(2) == 1


def test_a_turn_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"'a'.*no turn 'D9:9'"):
        stored(({**FACTS[0], "turns": ["D1:1", "D9:9"]},))


def test_it_survives_saving(tmp_path):
    memory = stored()
    memory.save(tmp_path / "m.npz")
    opened = segviz.open(tmp_path / "m.npz", EMBEDDER)
    assert (opened.system, opened.check()) == ("imported", [])
    assert opened.structure.ghost.tolist() == memory.structure.ghost.tolist()
    assert opened.ask("bicycle").after == memory.ask("bicycle").after


# --- attribution -----------------------------------------------------------------------------


def attributed(*texts, **known):
    made = [StoredText(str(i), text, **known) for i, text in enumerate(texts)]
    return attribute(made, conversation(), EMBEDDER)


def test_texts_are_attributed_to_the_turn_that_says_it():
    found = attributed("Ann has a red bicycle.", "The piano went to Clara.")
    assert [each.sources for each in found] == [("D1:1",), ("D2:2",)]
    assert all(0.25 < each.confidence < 1 for each in found)


def test_given_sources_stay():
    given = StoredText("x", "The piano went to Clara.", ("D1:1",))
    assert attribute([given], conversation(), EMBEDDER) == (given,)


@pytest.mark.parametrize("known", [{}, {"time": datetime(2024, 5, 1, 9)}])
def test_a_session_bounds_where_a_text_can_come_from(known):
    (found,) = attributed("The piano went to Clara.", session="session_1", **known)
    assert all(turn.startswith("D1") for turn in found.sources)


@pytest.mark.parametrize(
    "time",
    [
        datetime(2024, 5, 3),
        datetime(2024, 5, 3, 14, 30),
        datetime(2024, 5, 8, tzinfo=timezone(timedelta(hours=9))),
        datetime(2031, 1, 1),
    ],
)
def test_a_time_excludes_no_turn_whose_words_a_text_has(time):
    (found,) = attributed("Bob sold the piano to Clara.", time=time)
    assert found.sources == ("D2:2",)
    assert found.contradicted == (time == datetime(2024, 5, 3, 14, 30))


def test_a_time_decides_between_turns_of_the_same_words():
    said = (("Ann", "The lake was calm"), ("Bob", "I like it"))
    sessions = tuple(
        Session(
            f"session_{s}",
            datetime(2024, 5, 7 * s, 9),
            "",
            tuple(Turn(f"D{s}:{t}", *each) for t, each in enumerate(said)),
        )
        for s in (1, 2, 3)
    )
    whole = Conversation("lake", ("Ann", "Bob"), sessions)
    for s in (1, 2, 3):
        day = datetime(2024, 5, 7 * s)
        times = [
            (day.replace(hour=11), False),
            (day, False),
            (day.replace(hour=9, tzinfo=timezone(timedelta(hours=1))), False),
            (day, True),
        ]
        for time, of_event in times:
            text = StoredText("x", "Ann found the lake calm", time=time, of_event=of_event)
            guide = _guide(text, [each.start for each in sessions])
            assert int(np.argmax(guide)) == s - 1
        text = StoredText("x", "Ann found the lake calm", time=times[0][0])
        assert attribute([text], whole, EMBEDDER)[0].sources == (f"D{s}:0",)


INVENTED = (
    "Theo collects Peruvian stamps",
    "Zoe won a chess tournament in Lisbon",
    "Ines has a scholarship to study violin in Vienna",
)
DOUBTFUL = "Theo is a dentist in Glasgow with three daughters"


def test_an_invention_has_no_source_and_an_unsure_source_no_credit():
    talk = sample()
    facts = [StoredText(str(i), text) for i, text in enumerate((*INVENTED, DOUBTFUL))]
    made = attribute(facts, talk, EMBEDDER)
    assert [each.sources for each in made[:3]] == [()] * 3
    assert [each.sources for each in attributed("...")] == [()]  # has no word
    assert made[3].sources
    assert 0.3 <= made[3].confidence < 0.5
    memory = segviz.memory_from(facts, conversation=talk, embedder=EMBEDDER)
    assert memory.check() == []
    nodes = np.flatnonzero(memory.structure.retrievable).tolist()
    assert [memory.turn_ids(node) for node in nodes] == [()] * 4
    unsure = [memory.structure.facts[node].get("unsure turns") for node in nodes]
    assert {*unsure} == {None, *made[3].sources}
    assert len(memory.ask("Who is a dentist?", policy="none").evidence) == 4
    found = audit(memory)
    assert {each.stage for each in found.stages} == {"never written"}
    assert (found.counts["unsure"], found.counts["no source"], found.counts["written"]) == (1, 3, 0)


def test_a_time_before_all_sessions_says_nothing():
    (found,) = attributed("The piano went to Clara.", time=datetime(2020, 1, 1))
    assert found.sources == ("D2:2",)


def test_a_text_of_several_clauses_has_several_sources():
    (found,) = attributed("Ann bought a red bicycle in Utrecht, and Bob sold the piano to Clara.")
    assert sorted(found.sources) == ["D1:1", "D2:2"]


def test_short_clauses_join_their_neighbours():
    assert clauses("Ann bought bread and milk.") == []
    assert clauses("Ann bought fresh rye bread. Bob sold his old piano. He left.") == [
        "Ann bought fresh rye bread.",
        "Bob sold his old piano. He left.",
    ]


def test_without_turns_nothing_is_attributed():
    empty = Conversation("empty", (), ())
    assert attribute([StoredText("x", "text")], empty, EMBEDDER)[0].sources == ()


@pytest.mark.slow
@pytest.mark.parametrize(("known", "least"), [(False, 0.82), (True, 0.85)])
def test_the_first_source_of_real_facts(known, least):
    found = right = 0
    for each in segviz.load(real_data("locomo", "locomo5.json"))[:1]:
        facts = each.observations
        bare = [StoredText(f.id, f.text, session=f.session if known else "") for f in facts]
        made = attribute(bare, each, segviz.embedding.get_embedder("auto"))
        right += sum(
            bool({*a.sources[:1]} & {*f.sources}) for a, f in zip(made, facts, strict=True)
        )
        found += len(facts)
    assert right / found >= least


def test_a_store_in_the_order_of_time_places_unclear_texts_between_its_neighbours():
    words = "boat bread piano saturn garden violin lighthouse camel forest".split()
    turns = tuple(Turn(f"D1:{i}", "Ann", f"The {word} is here") for i, word in enumerate(words))
    fill = tuple(Turn(f"D1:{i + 40}", "Ann", f"Item {i} of it") for i in range(30))
    twice = [Turn(f"D1:{i}", "Ann", "Quite nice indeed") for i in (98, 99)]
    said = (twice[0], *fill, *turns[:5], twice[1], *turns[5:])
    whole = Conversation("w", ("Ann",), (Session("session_1", None, "", said),))
    texts = [f"A {word} was here" for word in words]
    texts.insert(5, "Quite nice indeed")
    made = attribute([StoredText(str(i), t) for i, t in enumerate(texts)], whole, EMBEDDER)
    assert made[5].sources == ("D1:99",)
    shuffled = [StoredText(str(i), texts[i]) for i in (9, 2, 7, 1, 8, 3, 0, 6, 4, 5)]
    assert attribute(shuffled, whole, EMBEDDER)[-1].sources == ("D1:98",)


def test_a_dump_is_read_by_its_path_beside_its_conversation(tmp_path):
    path = tmp_path / "mem0.json"
    rows = [{"memory": "Ann bought a red bicycle.", "turns": ["D1:1", "elsewhere"]}]
    path.write_text(json.dumps({"user": {"results": rows}}))
    memory = segviz.memory_from(path, conversation=conversation(), embedder=EMBEDDER)
    (node,) = [n for n in range(len(memory.structure)) if memory.structure.level[n]]
    assert memory.structure.text[node] == rows[0]["memory"]
    assert memory.turn_ids(node) == ("D1:1",)
    with pytest.raises(LoadError):
        segviz.memory_from(path)
    path = tmp_path / "notes.csv"  # no column is an id
    path.write_text("text,created_at\nAnn bought a red bicycle.,2024-05-02\n")
    memory = segviz.memory_from(path, conversation=conversation(), embedder=EMBEDDER)
    assert [each for each in memory.structure.text if each == rows[0]["memory"]]


# --- two conversations in one store -----------------------------------------------------------


def two(**names):
    """Texts of the first turns of a conversation and of another; ``names`` says whose a text is."""
    mine = [turn.spoken for turn in sample(sessions=6).turns[:8]]
    words = "glacier quartz obelisk turbine marzipan zeppelin lacquer sonata".split()
    others = [f"Zelda keeps {a} {b} and {a}s" for a, b in zip(words, words[::-1], strict=True)]
    whose = [("ines-theo", text) for text in mine] + [("boat-7", text) for text in others]
    return [
        {"text": text} | {key: name.format(whose=who, n=n) for key, name in names.items()}
        for n, (who, text) in enumerate(whose)
    ]


@pytest.mark.parametrize(
    "names",
    [
        {"id": "{whose}-{n}"},
        {"user_id": "{whose}"},
        {"collection": "memories_{whose}"},
        {"run_id": "{whose}/session_{n}"},
        {"metadata": '{{"conversation_id": "{whose}"}}'},
        {"namespace": '["memories", "{whose}"]'},
    ],
)
def test_a_store_of_two_conversations_has_the_part_that_belongs(tmp_path, names):
    path = tmp_path / "store.json"
    path.write_text(json.dumps(two(**names)))
    memory = segviz.memory_from(path, conversation=sample(sessions=6), embedder=EMBEDDER)
    kept = [memory.structure.text[node] for node in np.flatnonzero(memory.structure.retrievable)]
    assert sorted(kept) == sorted(turn.spoken for turn in sample(sessions=6).turns[:8])
    (said,) = (each.text for each in audit(memory).advice if each.text.startswith("Left out"))
    assert "8 texts of '" in said
    assert "boat-7" in said


def test_users_of_no_known_name_are_told_by_their_texts(tmp_path):
    texts = [row["text"] for row in two()]
    document = {"ann": [{"text": text} for text in texts[:8:2]] * 2, "bob": [], "eve": []}
    document["bob"] = [{"text": text} for text in texts[1:8:2]] * 2
    document["eve"] = [{"text": text} for text in texts[8:]]
    (tmp_path / "store.json").write_text(json.dumps(document))
    path, whole = tmp_path / "store.json", sample(sessions=6)
    memory = segviz.memory_from(path, conversation=whole, embedder=EMBEDDER)
    assert memory.steps[0].note == "Left out: 8 texts of 'eve', not of this conversation."
    assert memory.structure.retrievable.sum() == 16


@pytest.mark.parametrize("own", [True, False])
def test_nothing_is_left_out_of_a_store_of_one_conversation(tmp_path, own):
    rows = two(user_id="{whose}", id="{whose}-{n}")
    rows = [row for row in rows if row["user_id"] == ("ines-theo" if own else "boat-7")]
    (tmp_path / "store.json").write_text(json.dumps(rows))
    path, whole = tmp_path / "store.json", sample(sessions=6)
    memory = segviz.memory_from(path, conversation=whole, embedder=EMBEDDER)
    assert memory.structure.retrievable.sum() == 8
    assert not any(each.text.startswith("Left out") for each in audit(memory).advice)
