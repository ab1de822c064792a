"""Overview, search, path and way back of the canvas: their pure functions, run by node."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from segviz import frontend
from segviz.frontend.canvas import javascript
from tests.frontend.node import run

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The component as an ES module file."""
    path = tmp_path_factory.mktemp("js") / "tree.mjs"
    path.write_text(javascript(), encoding="utf-8")
    return path


def view(x0: float, x1: float) -> dict[str, float]:
    return {"x0": x0, "x1": x1}


# --- overview -----------------------------------------------------------------------------


def test_the_frame_lies_where_the_view_is_and_can_always_be_held(module: Path) -> None:
    body = """
      const frame = (x0, x1, total) => m.frameOf({ x0, x1 }, total, 400);
      return [frame(50, 100, 200), frame(0, 200, 200), frame(0, 3, 100000),
        frame(99997, 100000, 100000)];
    """
    middle, whole, first, last = run(module, body)
    assert middle == {"x": 100, "w": 100}
    assert whole == {"x": 0, "w": 400}
    assert first["x"] == 0
    assert last["x"] + last["w"] == 400
    assert first["w"] == last["w"] >= 6


@pytest.mark.parametrize(
    ("x", "grip"),
    [
        (10, "draw"),
        (97, "from"),
        (103, "from"),
        (150, "move"),
        (197, "to"),
        (203, "to"),
        (300, "draw"),
    ],
)
def test_what_a_pointer_takes_hold_of(module: Path, x: float, grip: str) -> None:
    assert run(module, "return m.gripAt(x, { x: 100, w: 100 }, 400);", x=x) == grip


def test_around_everything_a_drag_draws_but_the_edges_can_be_pulled(module: Path) -> None:
    body = "return [2, 200, 398].map((x) => m.gripAt(x, { x: 0, w: 400 }, 400));"
    assert run(module, body) == ["from", "draw", "to"]


def test_a_narrow_frame_can_still_be_moved(module: Path) -> None:
    assert run(module, "return m.gripAt(104, { x: 100, w: 8 }, 400);") == "move"


@pytest.mark.parametrize(
    ("grip", "begin", "end", "expected"),
    [
        ("move", 30, 50, (40, 60)),
        ("move", 30, 500, (80, 100)),
        ("move", 30, -500, (0, 20)),
        ("from", 20, 10, (10, 40)),
        ("from", 20, 70, (40, 70)),  # pulled over the other edge
        ("to", 40, 90, (20, 90)),
        ("to", 40, 900, (20, 100)),
        ("draw", 60, 80, (60, 80)),
        ("draw", 80, 60, (60, 80)),
        ("draw", 99.9, 100, (97, 100)),  # never less than three units
    ],
)
def test_where_a_drag_leads(
    module: Path, grip: str, begin: float, end: float, expected: tuple[float, float]
) -> None:
    body = "return m.draggedView(grip, { x0: 20, x1: 40 }, begin, end, 100);"
    found = run(module, body, grip=grip, begin=begin, end=end)
    assert (found["x0"], found["x1"]) == pytest.approx(expected)


@pytest.mark.parametrize("width", [7, 100, 1000])
def test_every_column_of_the_overview_has_its_heaviest_node(module: Path, width: int) -> None:
    draw = random.Random(width)
    edges = sorted(draw.sample(range(1, 300), 60))
    start, stop = [0, *edges], [*edges, 300]
    weight = [draw.random() for _ in start]
    body = (
        "return Array.from(m.heaviestColumns([...start.keys()], start, stop, weight, 300, width));"
    )
    found = run(module, body, start=start, stop=stop, weight=weight, width=width)
    for x, node in enumerate(found):
        low, high = x * 300 / width, (x + 1) * 300 / width
        over = [i for i in range(len(start)) if start[i] < high and stop[i] > low]
        assert node in over
        inside = [i for i in over if start[i] >= low and stop[i] <= high]
        assert weight[node] >= max((weight[i] for i in inside), default=0)


# --- way back -----------------------------------------------------------------------------

HISTORY = """
const history = m.createHistory();
const leave = (view, kind, now) => m.remember(history, view, 100, kind, now);
const back = (view, total = 100) => m.goBack(history, view, total);
"""


def test_a_burst_of_one_kind_is_one_move(module: Path) -> None:
    body = (
        HISTORY
        + """
      leave({ x0: 0, x1: 100 }, "wheel", 0);
      leave({ x0: 0, x1: 90 }, "wheel", 300);
      leave({ x0: 0, x1: 80 }, "wheel", 900);
      leave({ x0: 0, x1: 70 }, "fit", 1000);
      leave({ x0: 5, x1: 70 }, "wheel", 9000);
      return [back({ x0: 1, x1: 9 }), back({ x0: 5, x1: 70 }), back({ x0: 0, x1: 70 }),
        back({ x0: 0, x1: 100 })];
    """
    )
    assert run(module, body) == [view(5, 70), view(0, 70), view(0, 100), None]


def test_where_one_already_is_is_passed_over(module: Path) -> None:
    body = (
        HISTORY
        + """
      leave({ x0: 0, x1: 100 }, "zoom", 0);
      leave({ x0: 10, x1: 20 }, "fit", 1);
      return back({ x0: 10, x1: 20 });
    """
    )
    assert run(module, body) == view(0, 100)


def test_the_way_back_stays_inside_a_conversation_of_another_length(module: Path) -> None:
    body = (
        HISTORY
        + """
      leave({ x0: 0, x1: 100 }, "zoom", 0);
      leave({ x0: 70, x1: 90 }, "fit", 1);
      return [back({ x0: 1, x1: 2 }, 80), back({ x0: 1, x1: 2 }, 160)];
    """
    )
    assert run(module, body) == [view(60, 80), view(0, 160)]


def test_the_memory_of_views_is_bounded(module: Path) -> None:
    body = (
        HISTORY
        + """
      for (let i = 0; i < 500; i++) leave({ x0: i / 10, x1: 60 }, `${i}`, i);
      return history.views.length;
    """
    )
    assert run(module, body) == 50


def test_a_slide_begins_at_one_view_and_ends_at_the_other(module: Path) -> None:
    body = """
      const [from, to] = [{ x0: 0, x1: 100 }, { x0: 40, x1: 60 }];
      return [-1, 0, 0.3, 0.9, 1, 7].map((share) => m.between(from, to, share));
    """
    steps = run(module, body)
    assert steps[0] == steps[1] == view(0, 100)
    assert steps[4] == steps[5] == view(40, 60)
    places = [step["x0"] for step in steps]
    assert places == sorted(places)


# --- search -------------------------------------------------------------------------------

LABELS = ["The OVEN is new", "oven", "", "<b>oven</b>", "İstanbul", "tide"]
COLUMNS = {"level": [0, 0, 0, -1, 1, 0], "start": [2, 0, 1, 3, 0, 4], "stop": [3, 1, 2, 4, 5, 5]}


@pytest.mark.parametrize(
    ("query", "hits"),
    [
        ("oven", [1, 0]),
        ("  OVEN ", [1, 0]),
        ("oven is", [0]),
        ("(", []),
        ("", []),
        ("   ", []),
        ("i", [4, 0, 5]),
        ("<b>", []),
    ],
)
def test_active_nodes_are_found_in_reading_order(module: Path, query: str, hits: list[int]) -> None:
    body = "return m.findText(query, labels, columns);"
    assert run(module, body, query=query, labels=LABELS, columns=COLUMNS) == hits


def test_hits_are_walked_round_and_round(module: Path) -> None:
    body = """
      const walk = (at, back) => m.nextHit(at, 3, back);
      return [walk(-1, false), walk(0, false), walk(2, false), walk(0, true), walk(-1, true),
        m.nextHit(-1, 0, false)];
    """
    assert run(module, body) == [0, 1, 0, 2, 2, -1]


def test_the_walk_begins_in_view(module: Path) -> None:
    body = """
      const columns = { start: [0, 10, 20], stop: [5, 15, 25] };
      return [[0, 100], [8, 16], [12, 14]].map(([x0, x1]) =>
        m.firstHit([0, 1, 2], columns, { x0, x1 }));
    """
    assert run(module, body) == [0, 1, 0]


def test_the_search_says_how_much_it_looks_at(module: Path) -> None:
    body = """
      const said = (hits, at, total, query = "x") => m.hitWords({ query, hits, at, total });
      return [said([], -1, 0), said([4, 5], -1, 2), said([4, 5], 1, 2), said([4, 5], 0, 9),
        said([], -1, 0, " "),
        m.searchedLength(["a", "b"]), m.searchedLength(["a".repeat(80) + "…", "b"])];
    """
    answer = run(module, body)
    assert answer[:5] == ["none", "2 found", "2 of 2", "1 of 2 (9 found)", ""]
    assert answer[5:] == [None, 80]  # JSON has no infinity


# --- relatives ----------------------------------------------------------------------------


def grown(seed: int) -> dict[str, Any]:
    """A random tree of intervals as the canvas gets it, with some nodes retired."""
    draw = random.Random(seed)
    level, start, stop, parent = [], [], [], []
    row = []
    for unit in range(draw.randint(5, 40)):
        row.append(len(level))
        level.append(0)
        start.append(unit)
        stop.append(unit + 1)
        parent.append(-1)
    depth = 0
    while len(row) > 1:
        depth += 1
        above = []
        while row:
            children, row = row[: draw.randint(1, 4)], row[draw.randint(1, 4) :]
            node = len(level)
            level.append(depth)
            start.append(start[children[0]])
            stop.append(stop[children[-1]])
            parent.append(-1)
            for child in children:
                parent[child] = node
            above.append(node)
        row = above if len(above) < 30 else above[:1]
    return {"level": level, "start": start, "stop": stop, "parent": parent}


@pytest.mark.parametrize("seed", range(6))
def test_runs_cover_exactly_the_descendants(module: Path, seed: int) -> None:
    tree = grown(seed)
    body = """
      const data = { edges: new Int32Array(0), levels_total: Math.max(...tree.level) + 1 };
      for (const [name, column] of Object.entries(tree)) data[name] = Int32Array.from(column);
      const built = m.buildTree(data);
      return tree.level.map((_, node) => [m.descendantRuns(built, node), built.rowOf[node],
        m.pathTo(built, node)]);
    """
    found = run(module, body, tree=tree)
    rows = [row for _, row, _ in found]
    for node, (runs, _, path) in enumerate(found):
        above, below = node, {node}
        expected = [node]
        while (above := tree["parent"][above]) >= 0:
            expected.insert(0, above)
        assert path == expected
        for child in range(node - 1, -1, -1):
            if tree["parent"][child] in below:
                below.add(child)
        below.remove(node)
        members = {
            (rows[i], unit) for i in below for unit in range(tree["start"][i], tree["stop"][i])
        }
        covered = [(run["row"], unit) for run in runs for unit in range(run["start"], run["stop"])]
        assert len(covered) == len(set(covered))
        assert set(covered) == members


def test_a_root_over_very_many_leaves_is_one_run_and_a_cycle_ends(module: Path) -> None:
    body = """
      const n = 100000;
      const level = new Int32Array(n + 1); level[n] = 1;
      const start = Int32Array.from({ length: n + 1 }, (_, i) => (i < n ? i : 0));
      const stop = Int32Array.from({ length: n + 1 }, (_, i) => (i < n ? i + 1 : n));
      const parent = new Int32Array(n + 1).fill(n); parent[n] = -1;
      const tree = m.buildTree({ level, start, stop, parent, edges: new Int32Array(0),
        levels_total: 2 });
      const ring = { parents: new Map([[0, [1]], [1, [2]], [2, [0]]]) };
      return [m.descendantRuns(tree, n), m.pathTo(ring, 0)];
    """
    runs, ring = run(module, body)
    assert runs == [{"row": 0, "level": 0, "start": 0, "stop": 100_000}]
    assert ring == [2, 1, 0]


def test_a_deep_path_is_walked_and_shown_by_its_ends(module: Path) -> None:
    body = """
      const parents = new Map();
      for (let i = 0; i < 100000; i++) parents.set(i, [i + 1]);
      const path = m.pathTo({ parents }, 0);
      return [path.length, m.pathEnds(path), m.pathEnds([1, 2, 3])];
    """
    length, shown, short = run(module, body)
    assert length == 100_001
    assert shown == [100_000, None, 6, 5, 4, 3, 2, 1, 0]
    assert short == [1, 2, 3]


def test_every_script_of_the_canvas_travels() -> None:
    folder = Path(frontend.__file__).parent
    sent = javascript()
    for path in folder.glob("tree*.js"):
        head = path.read_text(encoding="utf-8").split("\n")[0]
        assert head.startswith(f"// {path.name}: ")
        assert sent.count(head) == 1, path.name
