"""What everything costs against size, beside the named alternative, over four decades and more.

Run ``python -m tests.benchmarks.growth [COST …]`` from the project's root; the frames need
Playwright and a Chromium, a million leaves 12 GB of memory and 10 GB of disk. All costs are drawn
in ``results/growth.svg``, some in a temporary file. The slope named at the end of a line is that of
its last two decades: 1 grows as the size does, 0 not at all. Every pair is measured in one run;
times are the shortest of some, as other work only makes them longer.

``build``      turns embedded and inserted, what one more costs and the last ones beside the
               first, the memory it took; beside RAPTOR, built anew
``question``   score + propagate + select over 256 dimensions, beside one float32 matrix-vector
               product; BM25 and the contextual relevance; ``memory.ask`` whole
``propagate``  policy both, two hops, beside networkx's PageRank
``sweep``      12 settings for 10 questions, beside asking one by one
``message``    what is sent to the canvas, beside the same columns as JSON
``frame``      a turn of the wheel on the canvas, 95th percentile of the script, beside pyvis (a
               frame of a zoom) and Plotly's icicle (drawn again)
``file``       the saved memory's size and the time to open it, beside JSON and pickle of its steps;
               opening columns beside reading their bytes
``memory``     what a process holds that opened columns, drew them up and asked, beside its vectors
``moments``    any step of a history, beside replaying it from its beginning
"""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log10
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter, process_time
from typing import Any
from xml.sax.saxutils import escape

import networkx as nx
import numpy as np

import segviz
from segviz import files, store
from segviz.conversation import Question
from segviz.embedding import Cached, WordLlamaEmbedder
from segviz.evaluation.sweep import sweep as sweep_all
from segviz.frontend.message import pack
from segviz.memory import Building
from segviz.retrieval import initial_scores, over_active, propagate, top_k
from segviz.retrieval.relevance import Contextual, Dense, Lexical
from segviz.tree import Add, Moments, Revise, Structure, Vector, replay
from tests.benchmarks.report import Line, best, chromium, show, tab
from tests.benchmarks.synthetic import balanced, conversation, history
from tests.scenes import tree_message

PICTURE = Path(__file__).parent / "results" / "growth.svg"
ASKED = "What did Nora say about the telescope and the eclipse in Bergen?"
TO_MILLION = (100, 1_000, 10_000, 100_000, 1_000_000)
TO_100K = (10, 100, 1_000, 10_000, 100_000)
LARGEST_RAPTOR, LARGEST_GRAPH, LARGEST_JSON, LARGEST_SVG = 1_000, 100_000, 100_000, 10_000


# --- build -------------------------------------------------------------------------------------


def build() -> list[Line]:
    lines = []
    for turns in TO_100K:
        spoken, embedder = conversation(turns), Cached(WordLlamaEmbedder())
        embedder.embed(["warm"])
        building = Building(spoken, unit="turn", embedder=embedder)
        began, marks = perf_counter(), list[float]()
        for _ in building:
            marks.append(process_time())
        seconds = perf_counter() - began
        peak = getrusage(RUSAGE_SELF).ru_maxrss * 1024 / 1e6
        written = (event for step in building.memory.steps for event in step.events)
        texts = {event.text: None for event in written if isinstance(event, Add | Revise)}
        began, alone = perf_counter(), WordLlamaEmbedder()
        alone.embed(list(texts))
        embedding = perf_counter() - began
        each = [after - before for before, after in pairwise(marks)]
        vectors = building.memory.structure.vector.nbytes / 1e6
        anew = None
        if turns <= LARGEST_RAPTOR:
            began = perf_counter()
            segviz.build(spoken, "raptor", unit="turn", embedder=embedder)
            anew = perf_counter() - began
        largest = turns == TO_100K[-1]
        longest, most, steepest = (60, 1_000, 1.2) if largest else (None,) * 3
        late, tenth = each[-turns // 2 :], max(1, turns // 10)
        one = 1000 * sum(late) / len(late)
        first, last = sum(each[:tenth]), sum(each[-tenth:])
        lines += [
            Line("build", turns, seconds, "s", anew, "RAPTOR", longest),
            Line("build", turns, seconds, "s", embedding, "embedding alone"),
            Line("build, memory", turns, peak, "MB", vectors, "its vectors", most),
            Line("build, last tenth", turns, last, "s", first, "its first tenth", steepest, True),
            Line("one more turn", turns, one, "ms", anew and 1000 * anew, "RAPTOR built anew"),
        ]
    return lines


# --- question ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fixed:
    """An embedder that says the same to everything, in no time."""

    vector: Vector
    name: str = "fixed"

    def embed(self, texts: list[str]) -> Vector:
        one = self.vector[None]
        return one if len(texts) == 1 else one.repeat(len(texts), axis=0)


def question() -> list[Line]:
    lines = []
    for size in TO_MILLION:
        structure = balanced(size, dimensions=256)
        embedder = Fixed(structure.vector[7].copy())
        scorer = over_active(Dense(), structure, embedder)

        def answer(scorer: Any = scorer, structure: Structure = structure) -> list[int]:
            first = initial_scores(scorer([ASKED])[0], structure.active)
            final = propagate(first, structure.edges, "top-down", 0.1, 2, structure).final
            return top_k(final, structure, 10)

        product = best(lambda s=structure, e=embedder: s.vector @ e.vector)
        what = "score, propagate, select"
        spent = 1000 * best(answer)
        lines.append(Line(what, size, spent, "ms", 1000 * product, "numpy product"))
    for turns in TO_100K:
        memory = history(turns)
        vector = memory.structure.collapsed.vector
        product = 1000 * best(lambda v=vector: v @ v[0])
        for model in (Lexical(), Contextual()):
            spent = 1000 * best(lambda m=memory, r=model.name: m.ask(ASKED, relevance=r))
            what, limit = f"ask, {model.name}", {1_000: 30.0, 100_000: 1_000.0}.get(turns)
            lines.append(Line(what, turns, spent, "ms", product, "numpy product", limit))
    return lines


# --- propagate, sweep --------------------------------------------------------------------------


def propagation() -> list[Line]:
    lines = []
    for size in TO_MILLION:
        structure = balanced(size)
        n = len(structure)
        raw = np.random.default_rng(0).exponential(size=n)
        first = raw / raw.sum()

        def ours(s: Structure = structure, first: np.ndarray = first) -> np.ndarray:
            return propagate(first, s.edges, "both", 0.1, 2, s).final

        beside: tuple[Any, ...] = ()
        if size <= LARGEST_GRAPH:
            graph, start = nx.Graph(structure.edges.tolist()), dict(enumerate(first.tolist()))
            rank = best(lambda g=graph, s=start: nx.pagerank(g, personalization=s), least=0)
            beside = (1000 * rank, "PageRank")
        lines.append(Line("propagate", n, 1000 * best(ours), "ms", *beside))
    return lines


def sweep() -> list[Line]:
    lines = []
    for turns in TO_100K:
        memory = history(turns)
        turn_ids = [turn.id for turn in memory.conversation.turns]
        asked = [Question(i, ASKED, None, None, (turn_ids[i * turns // 10],)) for i in range(10)]
        grid: dict[str, Any] = {"policies": ("top-down", "both"), "alphas": (0.1, 0.5, 0.95)}
        grid |= {"horizons": (1, 2), "relevance": "dense"}
        spent = best(lambda m=memory, a=asked, g=grid: sweep_all(m, a, **g), least=0)
        one = best(lambda m=memory: m.ask(ASKED, relevance="dense"))
        lines.append(Line("sweep", turns, spent, "s", 12 * 10 * one, "120 times ask"))
    return lines


# --- message, frame ----------------------------------------------------------------------------


def message() -> list[Line]:
    lines = []
    for size in TO_MILLION:
        structure = balanced(size)
        scores = np.random.default_rng(0).random(len(structure))
        units = int(structure.stop.max())

        def ours(s: Structure = structure, scores: np.ndarray = scores, n: int = units) -> bytes:
            sessions = [unit * 30 // n for unit in range(n)]
            labels = [f"S{i + 1}" for i in range(30)]
            scored = {"initial": scores, "final": scores}
            return pack(
                tree_message(
                    s, unit_sessions=sessions, session_labels=labels, **scored, identity=""
                )
            )

        def plain(s: Structure = structure, scores: np.ndarray = scores) -> bytes:
            columns = (s.level, s.start, s.stop, s.edges, scores, scores)
            return json.dumps([column.tolist() for column in columns]).encode()

        n = len(structure)
        lines += [
            Line("message", n, len(ours()) / 1e6, "MB", len(plain()) / 1e6, "json"),
            Line("message, made", n, 1000 * best(ours), "ms", 1000 * best(plain, 0), "json"),
        ]
    return lines


ICICLE = """async () => {
  const node = document.querySelector(".plotly-graph-div");
  const times = [];
  for (let i = 0; i < 4; i++) {
    const began = performance.now();
    await Plotly.redraw(node);
    times.push(performance.now() - began);
  }
  return Math.min(...times);
}"""


def frame() -> list[Line]:
    import plotly.graph_objects as go

    from tests.benchmarks import frames

    lines, what = [], "frame"
    with chromium() as browser:
        page = tab(browser, 700)
        page.set_default_timeout(300_000)
        for size in TO_MILLION:
            nodes, found = frames.measured(page, size, "scores")
            limit = {"budget": 50.0} if size == TO_MILLION[-1] else {}
            lines.append(Line(what, nodes, found["zoom"], "ms", **limit))
        for size in (10, 100, 1_000):
            other = frames.measured_pyvis(page, size)["zoom"]
            lines.append(Line(what, size, np.nan, "ms", other, "pyvis"))
        for size in TO_MILLION[: TO_MILLION.index(LARGEST_SVG) + 1]:
            structure = balanced(size)
            above = dict(structure.edges[:, ::-1].tolist())
            ids = list(range(len(structure)))
            icicle = go.Icicle(ids=ids, labels=ids, parents=[above.get(i, "") for i in ids])
            page.set_content(go.Figure(icicle).to_html(include_plotlyjs=True))
            page.wait_for_selector(".plotly-graph-div .slice")
            other = page.evaluate(ICICLE)
            lines.append(Line(what, size, np.nan, "ms", other, "Plotly icicle"))
    return lines


# --- file, memory, moments ---------------------------------------------------------------------

OPENED = """
import sys, segviz
memory = segviz.open(sys.argv[1])
memory.structure, memory.units
memory.ask("What of the telescope?", relevance="dense")
for line in open("/proc/self/status"):
    if line.startswith("RssAnon"):
        print(int(line.split()[1]) / 1e3)
"""


def file() -> list[Line]:
    lines = []
    for turns in (10, *TO_MILLION):
        memory = history(turns)
        with tempfile.TemporaryDirectory() as folder:
            path, other = Path(folder) / "m.npz", Path(folder) / "m.json"
            memory.save(path)
            size, dump, plain = path.stat().st_size / 1e6, None, None
            nodes = len(memory.structure)
            if turns <= LARGEST_JSON:
                dump = pickle.dumps(memory.steps)
                memory.save(other)
                plain = other.stat().st_size / 1e6
                lines += [
                    Line("file", turns, size, "MB", plain, "JSON"),
                    Line("file", turns, size, "MB", len(dump) / 1e6, "pickle of the steps"),
                ]
            else:
                lines.append(Line("file", turns, size, "MB"))
            del memory
            spent = best(lambda p=path: store.read(p), 0)
            bytes_read = best(lambda p=path: files.read(p), 0)
            limit = {"budget": 3.0, "relative": True} if turns == TO_MILLION[-1] else {}
            lines.append(Line("open", turns, spent, "s", bytes_read, "reading its bytes", **limit))
            if dump is not None:
                json_read = best(lambda p=other: store.read(p), 0)
                unpickled = best(lambda d=dump: pickle.loads(d), 0)
                lines += [
                    Line("open", turns, spent, "s", json_read, "JSON"),
                    Line("open", turns, spent, "s", unpickled, "unpickling"),
                ]
                del dump
            told = subprocess.run(
                [sys.executable, "-c", OPENED, str(path)],
                capture_output=True,
                text=True,
                check=True,
            )
            held = float(told.stdout)
            lines.append(Line("memory", turns, held, "MB", nodes * 1024 / 1e6, "its vectors"))
    return lines


def moments() -> list[Line]:
    lines = []
    for turns in TO_100K:
        steps = history(turns).steps
        places = random.Random(0).choices(range(turns), k=20)
        anew = sum(best(lambda p=p, s=steps: replay(s[:p]), 0) for p in places[:4]) / 4
        known = Moments(steps)
        known.at(turns)
        began = perf_counter()
        for place in places:
            known.at(place)
        spent = (perf_counter() - began) / len(places)
        lines.append(Line("any step", turns, 1000 * spent, "ms", 1000 * anew, "replayed anew"))
    return lines


COSTS: dict[str, Callable[[], list[Line]]] = {
    "build": build,
    "question": question,
    "propagate": propagation,
    "sweep": sweep,
    "message": message,
    "frame": frame,
    "file": file,
    "moments": moments,
}


# --- drawing -----------------------------------------------------------------------------------

_WIDE, _TALL, _ACROSS = 440, 300, 3
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 170, 40, 40
_COLOURS = ("#b5390b", "#3b6ea5", "#7a7a7a", "#5a8f3c")
Curve = list[tuple[int, float]]


def curves(lines: Sequence[Line]) -> dict[tuple[str, str], dict[str, Curve]]:
    """By cost and unit, then by name ("segviz" first): size and value, ascending."""
    found: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for line in lines:
        panel = found.setdefault((line.what, line.unit), {"segviz": {}})
        if line.value == line.value and line.value > 0:
            panel["segviz"][line.size] = line.value
        if line.other:
            panel.setdefault(line.alternative, {})[line.size] = line.other
    return {
        key: {name: sorted(points.items()) for name, points in panel.items() if points}
        for key, panel in found.items()
    }


def slope(curve: Curve) -> float | None:
    """The exponent of growth over the last two decades, by least squares; None for one point."""
    last = [point for point in curve if point[0] * 101 >= curve[-1][0]]
    if len(last) < 2:
        return None
    return round(float(np.polyfit(*np.log10(np.array(last)).T, 1)[0]), 6) + 0.0  # never -0


def draw(lines: Sequence[Line], path: Path = PICTURE) -> None:
    """Every cost as a panel with logarithmic axes, in one SVG."""
    panels = curves(lines)
    rows = -(-len(panels) // _ACROSS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDE * _ACROSS}" '
        f'height="{_TALL * rows}" font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for number, ((what, unit), panel) in enumerate(panels.items()):
        x, y = number % _ACROSS * _WIDE, number // _ACROSS * _TALL
        parts += [f'<g transform="translate({x},{y})">', *_panel(what, unit, panel), "</g>"]
    path.write_text("\n".join([*parts, "</svg>\n"]), encoding="utf-8")


def _panel(what: str, unit: str, panel: dict[str, Curve]) -> list[str]:
    points = np.log10(np.array([point for curve in panel.values() for point in curve]))
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    x0, x1, y0, y1 = floor(x0 + 0.01), ceil(x1 - 0.01), floor(y0), max(ceil(y1), floor(y0) + 1)
    width, height = _WIDE - _LEFT - _RIGHT, _TALL - _TOP - _BOTTOM

    def place(size: float, value: float) -> tuple[float, float]:
        across = (log10(size) - x0) / max(x1 - x0, 1)
        return _LEFT + width * across, _TOP + height * (1 - (log10(value) - y0) / (y1 - y0))

    out = [f'<text x="{_LEFT}" y="22" font-size="14">{escape(what)}, {unit}</text>']
    for decade in range(x0, x1 + 1):
        x, _ = place(10**decade, 10**y0)
        out.append(f'<path d="M{x:.1f} {_TOP}v{height}" stroke="#e4e1dc"/>')
        label = f"{10**decade:,}" if decade < 4 else f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[decade]}"
        out.append(f'<text x="{x:.1f}" y="{_TALL - 22}" text-anchor="middle">{label}</text>')
    for decade in range(y0, y1 + 1):
        _, y = place(10**x0, 10**decade)
        out.append(f'<path d="M{_LEFT} {y:.1f}h{width}" stroke="#e4e1dc"/>')
        label = f"{10.0**decade:g}" if -4 < decade < 5 else f"1e{decade}"
        out.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    taken: list[float] = []
    for (name, curve), colour in zip(panel.items(), _COLOURS, strict=False):
        spots = [place(*point) for point in curve]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in spots]
        rise = slope(curve)
        told = name if rise is None else f"{name}, slope {rise:.2f}"
        end, beside = spots[-1][0] + 7, spots[-1][1] + 4
        if end > _LEFT + width * 0.75:
            end = _LEFT + width + 7
        else:  # above its last point, where no other line goes on
            beside -= 10
        while any(abs(beside - other) < 13 for other in taken):
            beside += 1
        taken.append(beside)
        out.append(f'<text x="{end:.1f}" y="{beside:.1f}" fill="{colour}">{escape(told)}</text>')
    return out


def told(lines: Sequence[Line]) -> None:
    """Prints all lines, and how everything grows."""
    show([line for line in lines if line.value == line.value])
    rises = {what: slope(panel["segviz"]) for (what, _), panel in curves(lines).items()}
    rising = (f"{what} {rise:.2f}" for what, rise in rises.items() if rise is not None)
    print(f"\nSlopes over the last two decades: {', '.join(rising)}.")
    print(f"\nThe machine's load at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")
    print("\n![Costs against size](results/growth.svg)")


def main() -> None:
    names = sys.argv[1:] or list(COSTS)
    lines = []
    for name in names:
        lines += COSTS[name]()
        print(f"{name} is measured", file=sys.stderr, flush=True)
    told(lines)
    draw(lines, PICTURE if names == list(COSTS) else Path(tempfile.gettempdir()) / "growth.svg")


if __name__ == "__main__":
    main()
