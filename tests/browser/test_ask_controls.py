"""The controls in the header of Ask's canvas: live in the browser, settled by Python."""

import numpy as np
import pytest

from segviz.retrieval import PRESETS
from segviz.retrieval.gold import ANSWERED, FOUND, MISSED, QUOTED

KEY = "ask-tree"


# Python's answer may come before a test has looked, so the page itself keeps what it was.
NOTES_SETTLED = """(root) => {
  root.noted = [];
  new MutationObserver(() => root.noted.push(root.dataset.settled))
    .observe(root, { attributeFilter: ["data-settled"] });
}"""


@pytest.fixture
def ask(app):
    app.open("ask?question=0&policy=top-down")  # the defaults of memory.ask
    app.tree(KEY)
    return app


def choose(app, key, option):
    """Choose an option in the panel of settings, which stays open meanwhile."""
    app.page.locator(".st-key-more-settings button").first.click()
    app.settle()
    app.choose(key, option)
    app.page.keyboard.press("Escape")
    app.settle()


def control(app, selector):
    return app.tree(KEY).locator(selector)


def setting(app):
    policy, alpha, horizon = (app.attribute(KEY, n) for n in ("policy", "alpha", "horizon"))
    return {"policy": policy, "alpha": float(alpha), "horizon": int(horizon)}


def shown_scores(app):
    """Propagated score of every node as the component has it."""
    return app.tree(KEY).evaluate(
        "(root) => Array.from(root.parentNode.segvizTree.scene.data.final)"
    )


def sent(result):
    """Propagated scores as they travel."""
    return result.final.astype(np.float32).tolist()


def settles(app, memory):
    """Component and page have what Python computes for the component's setting."""
    app.until(KEY, "settled", "true")
    app.settle()
    result = memory.ask(memory.conversation.questions[0].text, **setting(app))
    assert shown_scores(app) == sent(result)
    assert app.attribute(KEY, "top") == ",".join(str(node) for node in result.after)
    assert app.retrieved() == list(result.after)
    before, after = result.levels("initial"), result.levels("final")
    assert app.attribute(KEY, "counts") == ",".join(f"{before[n]}>{after[n]}" for n in before)
    gold = memory.gold(memory.conversation.questions[0], result.structure)
    fate = gold.fate(result.evidence)
    shown = app.tree(KEY).evaluate("(root) => root.parentNode.segvizTree.scene.answer.gold.after")
    for name, meaning in (
        ("found", FOUND),
        ("quoted", QUOTED),
        ("answered", ANSWERED),
        ("missed", MISSED),
    ):
        assert set(shown[name]) == {turn for turn, what in fate.items() if what == meaning}
    return result


def test_alpha_by_keyboard(ask, memory):
    first = settles(ask, memory)
    ask.tree(KEY).evaluate(NOTES_SETTLED)
    alpha = control(ask, "input.alpha")
    alpha.focus()
    for _ in range(40):
        alpha.press("ArrowRight")
    ask.until(KEY, "alpha", "0.5")
    # Before Python knows of it, the picture has the new scores.
    assert "false" in ask.tree(KEY).evaluate("(root) => root.noted")
    own = np.array(shown_scores(ask))
    truth = memory.ask(memory.conversation.questions[0].text, **setting(ask))
    assert np.abs(own - truth.final).max() < 1e-7  # from scores as they are sent
    result = settles(ask, memory)
    assert setting(ask) == {"policy": "top-down", "alpha": 0.5, "horizon": 2}
    assert control(ask, "output.alpha").inner_text() == "0.50"
    assert not np.allclose(result.final, first.final)


def test_alpha_by_mouse_keeps_selection_and_zoom(ask, memory):
    entry = ask.evidence().first
    entry.click()
    ask.settle()
    control(ask, ".tools .more").click()
    control(ask, 'button[aria-label="Zoom in"]').click()
    chosen, zoom = ask.attribute(KEY, "selected"), ask.attribute(KEY, "scale")
    assert chosen
    assert not zoom.startswith("0,161")
    box = control(ask, "input.alpha").bounding_box()
    y = box["y"] + box["height"] / 2
    ask.page.mouse.move(box["x"] + box["width"] * 0.1, y)
    ask.page.mouse.down()
    seen = set()
    for i in range(1, 9):
        ask.page.mouse.move(box["x"] + box["width"] * (0.1 + 0.1 * i), y)
        ask.page.wait_for_timeout(30 if i % 3 else 300)  # long enough for an answer in between
        seen.add(ask.attribute(KEY, "alpha"))
    ask.page.mouse.up()
    assert len(seen) == 8
    settles(ask, memory)
    assert setting(ask)["alpha"] > 0.8
    assert (ask.attribute(KEY, "selected"), ask.attribute(KEY, "scale")) == (chosen, zoom)
    # The ledger of the selected node follows.
    ask.page.locator(".st-key-ledger summary").click()
    ask.settle()
    share = shown_scores(ask)[int(chosen)] * len(memory.structure.collapsed.active.nonzero()[0])
    assert f"= propagated {share:.3f}" in ask.text()


def test_a_preset_sets_the_header_and_follows_it(ask, memory):
    row = ask.page.locator(".st-key-asking")

    def places():
        found = row.locator("button, [data-testid=stSelectbox]").all()
        return [part.bounding_box() for part in (*found, ask.tree(KEY))]

    def in_force():
        button = ask.page.locator(".st-key-more-settings button p").first
        return button.evaluate("(it) => getComputedStyle(it, '::after').content")

    ask.page.get_by_text("gains on").first.wait_for()  # counted in a thread
    before = places()
    for name, preset in PRESETS.items():
        choose(ask, "scoring-preset", name)
        ask.until(KEY, "policy", preset.policy)
        ask.settle()
        assert setting(ask)["alpha"] == preset.alpha
        assert setting(ask)["horizon"] == preset.horizon
        assert in_force() == f'": {name}"'
        assert control(ask, "input.alpha").is_disabled() == (preset.policy == "none")
        assert places() == before
    choose(ask, "setting-policy", "both: along every edge, so siblings support each other")
    settles(ask, memory)
    assert in_force() == '": custom"'
    assert places() == before


def test_the_setting_outlives_a_change_of_page_and_view(ask, memory):
    choose(ask, "setting-policy", "both: along every edge, so siblings support each other")
    alpha = control(ask, "input.alpha")
    alpha.focus()
    alpha.press("End")
    canvas = control(ask, "canvas.base")
    mirrored = canvas.evaluate("(canvas) => canvas.toDataURL()")
    control(ask, "button.drawing").click()
    settles(ask, memory)
    assert canvas.evaluate("(canvas) => canvas.toDataURL()") != mirrored
    assert "falls" in control(ask, ".legend").inner_text()
    assert control(ask, ".legend").bounding_box()["height"] <= 24  # one line
    ask.page.get_by_role("link", name="Guide").first.click()
    ask.page.wait_for_url("**/guide*")
    ask.settle()
    ask.page.get_by_role("link", name="Ask").first.click()
    ask.until(KEY, "alpha", "0.99")
    settles(ask, memory)
    assert (setting(ask)["policy"], ask.attribute(KEY, "picture")) == ("both", "change")
    ask.choose("view", "Node-link")
    control(ask, "canvas.base").wait_for(state="hidden")
    ask.settle()
    slider = ask.page.locator("[class*=st-key-setting-alpha]").get_by_role("slider").first
    slider.press("ArrowLeft")
    ask.until(KEY, "alpha", "0.98")
    ask.settle()
    ask.choose("view", "Time axis")
    ask.until(KEY, "alpha", "0.98")
    settles(ask, memory)


def test_the_path_is_dragged_and_tells_where_a_node_is_retrieved(ask, memory):
    plot = control(ask, ".path[data-ready=true] .plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    y = box["y"] + box["height"] - 40  # on the level shares, where no line is
    ask.page.mouse.move(box["x"] + 70, y)
    ask.page.mouse.down()
    seen = set()
    for share in (0.3, 0.5, 0.7):
        ask.page.mouse.move(box["x"] + box["width"] * share, y)
        ask.page.wait_for_timeout(80)
        seen.add(ask.attribute(KEY, "alpha"))
    ask.page.mouse.up()
    assert len(seen) == 3
    settles(ask, memory)
    before = setting(ask)["alpha"]
    plot.focus()
    plot.press("ArrowRight")
    ask.until(KEY, "alpha", lambda alpha: float(alpha) > before)
    settles(ask, memory)
    control(ask, ".path summary").click()
    control(ask, ".path tbody tr").first.wait_for()
    rows = control(ask, ".path tbody tr").all_inner_texts()
    assert len(rows) == len(
        ask.tree(KEY).evaluate("(r) => r.parentNode.segvizTree.path.found.nodes")
    )
    assert any("gold" in row for row in rows)
    control(ask, ".path .head button").click()  # over H
    control(ask, ".path[data-ready=true]").wait_for()
    plot.focus()
    plot.press("End")
    ask.until(KEY, "horizon", "5")
    settles(ask, memory)


def test_holding_shows_the_question_without_propagation(ask, memory):
    choose(ask, "setting-policy", "both: along every edge, so siblings support each other")
    control(ask, "input.alpha").fill("0.9")
    settled = settles(ask, memory)
    reruns = ask.reruns
    hold = control(ask, ".hold")
    for press, release in (
        (lambda: hold.dispatch_event("pointerdown"), lambda: hold.dispatch_event("pointerup")),
        (lambda: ask.page.keyboard.down("b"), lambda: ask.page.keyboard.up("b")),
    ):
        control(ask, "canvas.over").focus()
        press()
        ask.until(KEY, "top", ",".join(map(str, settled.before)))
        assert "same 10 nodes, same order" in control(ask, ".changed").inner_text()
        release()
        ask.until(KEY, "top", ",".join(map(str, settled.after)))
    assert shown_scores(ask) == sent(settled)
    assert ask.reruns == reruns  # Python need not know


def test_ribbons_flow_to_the_selected_node_hop_by_hop(ask, memory):
    ask.page.emulate_media(reduced_motion="reduce")
    choose(ask, "setting-policy", "both: along every edge, so siblings support each other")
    control(ask, "input.alpha").fill("0.9")
    result = settles(ask, memory)
    entry = ask.evidence().nth(1)
    node = int(entry.get_attribute("data-node"))
    entry.click()
    ask.settle()
    ledger = result.explain(node)
    parts = control(ask, ".flow .hops").inner_text()
    assert f"own {100 * ledger.own / ledger.total:.1f} %" in parts
    for hop in (1, 2):
        amount = sum(entry.amount for entry in ledger.received if entry.hop == hop)
        assert f"hop {hop}: {100 * amount / ledger.total:.1f} %" in parts

    def picture():
        ask.page.mouse.move(0, 0)  # nothing is pointed at
        ask.page.wait_for_timeout(100)
        ask.still(KEY)
        return control(ask, "canvas.over").evaluate("(c) => c.toDataURL()")

    whole = picture()
    pictures = {whole}
    for hop in (1, 2):
        control(ask, f".flow [data-at=hop{hop}]").click()
        ask.page.wait_for_timeout(900)
        pictures.add(picture())
    assert len(pictures) == 3
    control(ask, ".flow .play").click()
    ask.page.wait_for_timeout(4500)  # both hops, then all
    assert control(ask, ".flow [data-at=hop0]").get_attribute("aria-pressed") == "true"
    assert picture() == whole
