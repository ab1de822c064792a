"""Models → Write the texts elsewhere: prompts to download, replies to upload."""

from __future__ import annotations

import json

import pytest

from segviz.construct import TITLE, WRITTEN_BY
from segviz.memory.written import batch_file
from segviz.ui import keys
from tests.app.conftest import clean, grow, keyed, open_path, texts

pytestmark = pytest.mark.usefixtures("small")


def opened():
    app = grow()
    app.session_state[keys.MODELS_PANEL] = True
    return clean(app.run())


def replied(memory, text="In {id} they spoke about boats, bread and the weather.", model="far"):
    """The output of a batch for the prompts of the lowest level that is not written."""
    lines = []
    for request in memory.prompts():
        content = f"Title: Stretch {request.span[0]}\n" + text.format(id=request.id)
        choice = {"message": {"content": content}, "finish_reason": "stop"}
        body = {"model": model, "choices": [choice]}
        response = {"status_code": 200, "body": body}
        lines.append(json.dumps({"custom_id": request.id, "response": response}))
    return "\n".join(lines).encode()


def upload(app, data: bytes):
    (box,) = keyed(app.file_uploader, keys.TEXT_UPLOAD)
    return clean(box.set_value(("replies.jsonl", data, "application/jsonl")).run())


def memory_of(app):
    """The memory that is shown: the one used last."""
    return [*app.session_state[keys.MEMORIES].values()][-1]


def downloads(app):
    return [b.proto.label for b in app.get("download_button")]


def test_levels_are_downloaded_and_uploaded_until_the_root_is_written():
    app = opened()
    before = memory_of(app)
    assert f"Prompts of level {before.prompts()[0].level}" in downloads(app)
    rounds = 0
    while memory_of(app).prompts():
        level = memory_of(app).prompts()[0].level
        app = upload(app, replied(memory_of(app)))
        assert f"Prompts of level {level}" not in downloads(app)
        rounds += 1
    assert rounds > 1
    assert any("Every text is written" in str(m.value) for m in app.markdown)
    assert any("*Export* saves the memory" in str(c.value) for c in app.caption)
    after = memory_of(app).structure
    root = after.facts[after.roots[0]]
    assert (root[WRITTEN_BY], root[TITLE]) == ("far", "Stretch 0")
    assert after.level.tolist() == before.structure.level.tolist()


def test_a_refused_reply_is_named_and_stays_open():
    app = opened()
    request = memory_of(app).prompts()[0]
    app = upload(app, replied(memory_of(app), text="Here is the summary:\n- {id}"))
    assert f"{request.id}: it began with an introduction" in texts(app)
    assert memory_of(app).prompts()[0].id == request.id
    app = upload(app, b"no replies")
    assert "custom_id" in texts(app)
    app = upload(app, batch_file([request], "m", 100).encode())
    assert "these are the prompts" in texts(app)


def test_replies_are_put_on_again_after_a_change_of_settings_until_they_are_removed():
    app = opened()
    app = upload(app, replied(memory_of(app)))
    written = {facts[WRITTEN_BY] for facts in memory_of(app).structure.facts if facts}
    assert written == {"far"}
    app.selectbox(key=keys.SYSTEM).set_value("raptor").run()
    clean(app.selectbox(key=keys.SYSTEM).set_value("segment-tree").run())
    assert {f[WRITTEN_BY] for f in memory_of(app).structure.facts if f} == written
    clean(app.button(key="text-remove").click().run())
    assert not any(WRITTEN_BY in facts for facts in memory_of(app).structure.facts)


def test_half_finished_work_in_a_saved_memory_goes_on(tmp_path):
    app = opened()
    app = upload(app, replied(memory_of(app)))
    memory_of(app).save(tmp_path / "half.npz")
    left = memory_of(app).prompts()
    app = open_path(opened(), tmp_path / "half.npz")
    assert [request.id for request in memory_of(app).prompts()] == [r.id for r in left]
    app = upload(app, replied(memory_of(app), model="near"))
    assert memory_of(app).prompts() == () or memory_of(app).prompts()[0].level > left[0].level
