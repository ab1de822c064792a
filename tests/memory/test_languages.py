"""One small talk in several languages: words find the same turns, trees are of like depth."""

from pathlib import Path

import numpy as np
import pytest

from segviz import build, load
from segviz.construct.labels import node_labels
from segviz.conversation import Conversation
from segviz.embedding import get_embedder, script_note
from segviz.loaders import parse
from segviz.retrieval.relevance import Lexical
from segviz.text.words import all_tokens, content_tokens

CASES = Path(__file__).parents[1] / "loaders" / "cases"

# Turns, and questions with the words of the answer and the turn it is in.
TALKS = {
    "en": (
        "My cat is called Milo. / Yesterday I sold the bicycle to a neighbour. / "
        "We had mushroom soup for dinner. / The printer in the office broke again.",
        {"What is your cat called?": ("Milo", 0), "What happened to the printer?": ("broke", 3)},
    ),
    "zh": (
        "我的猫叫米洛。 / 我昨天把自行车卖给了邻居。 / "
        "晚饭我们吃了蘑菇汤。 / 办公室的打印机又坏了。",
        {"你的猫叫什么名字？": ("米洛", 0), "打印机怎么了？": ("坏了", 3)},
    ),
    "ja": (
        "うちの猫はミロという名前です。 / 昨日、自転車を隣の人に売りました。 / "
        "夕食にきのこのスープを食べました。 / 会社のプリンターがまた壊れました。",
        {"猫の名前は何ですか？": ("ミロ", 0), "プリンターはどうなりましたか？": ("壊れました", 3)},
    ),
    "th": (
        "แมวของฉันชื่อมิโล / เมื่อวานฉันขายจักรยานให้เพื่อนบ้าน / มื้อเย็นเรากินซุปเห็ด / เครื่องพิมพ์ที่สำนักงานเสียอีกแล้ว",
        {"แมวของคุณชื่ออะไร": ("มิโล", 0), "เครื่องพิมพ์เป็นอะไร": ("เสีย", 3)},
    ),
    "ko": (
        "우리 고양이 이름은 미로이에요. / 어제 자전거를 이웃에게 팔았어요. / "
        "저녁으로 버섯 수프를 먹었어요. / 사무실 프린터가 또 고장 났어요.",
        {"고양이는 이름이 뭐예요?": ("미로", 0), "프린터는 어떻게 됐어요?": ("고장", 3)},
    ),
}


def case(name: str) -> Conversation:
    """The one conversation of a case."""
    return load(CASES / name)[0]


def talk(said: str) -> Conversation:
    """Two speakers say these lines in turn."""
    lines = [f"{'AB'[i % 2]}: {text}" for i, text in enumerate(said.split(" / "))]
    return parse("\n".join(lines).encode(), "talk.txt")[0]


@pytest.mark.parametrize("language", TALKS)
def test_shared_words_rank_the_turn_of_the_answer_first_and_hold_the_answer(language):
    said, questions = TALKS[language]
    memory = build(talk(said), "bm25", "turn")
    score = Lexical().prepare(memory.structure, get_embedder())
    for question, (answer, turn) in questions.items():
        scores = score([question])[0]
        assert scores.argmax() == turn
        assert scores[turn] > np.delete(scores, turn).max()
        assert content_tokens(answer) <= all_tokens(memory.structure.text[turn])


@pytest.mark.parametrize("language", ["en", "zh", "ar"])
def test_five_topics_make_a_tree_of_several_levels(language):
    structure = build(case(f"p60_five_topics_{language}.json")).structure
    on_level_1 = structure.active & (structure.level == 1)
    assert 3 <= structure.level.max() <= 4
    assert on_level_1.sum() == 5


@pytest.mark.parametrize(("language", "noted"), [("en", False), ("zh", True), ("ar", True)])
def test_a_script_the_embedder_was_not_made_for_is_noted(language, noted):
    texts = [turn.text for turn in case(f"p60_five_topics_{language}.json").turns]
    assert bool(script_note(get_embedder("wordllama"), texts)) == noted
    assert not script_note(get_embedder("hashing"), texts)


def test_all_gold_turns_of_a_chinese_talk_are_found_by_words():
    conversation = case("p58_locomo_zh.json")
    memory = build(conversation, "bm25", "turn")
    for question in conversation.questions:
        found = memory.ask(question.text).evidence
        assert question.evidence[0] in found[0].turn_ids


def test_labels_in_thai_are_words_that_recur() -> None:
    said = (
        "แมวของฉันชื่อมิโล / แมวมิโลกินปลาทุกวัน / วันนี้แมวป่วย / แมวต้องพักผ่อน / "
        "ฉันขายจักรยานให้เพื่อน / จักรยานคันเก่ามีล้อหลวม / ฉันอยากซื้อจักรยาน / ร้านจักรยานอยู่ใกล้ตลาด"
    )
    conversation = talk(said)
    memory = build(conversation, unit="turn", embedder=get_embedder("hashing"))
    labels = node_labels(memory.structure, conversation.units("turn"))
    words = {word for label in labels for word in label.split(", ") if word}
    assert {"จักรยาน", "มิโล"} <= words <= {"จักรยาน", "มิโล", "แมว"}
