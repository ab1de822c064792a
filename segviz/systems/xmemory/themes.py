"""xMemory's themes: the objective of a partition, and the splits and merges it guides (§3.2).

A theme's fact ``changes`` records its latest splits and merges, a line each: the kind of change, f
before, f after, and the other themes' nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Annotate, Declared, param
from segviz.embedding import unit_rows
from segviz.systems.common.structure_editor import Draft, centroid, even_parts
from segviz.tree import Judgement, Structure, Vector, as_number
from segviz.tree.invariants import Violation, fact

SEMANTIC, THEME = "semantic", "theme"


def sparsity(sizes: Sequence[int] | NDArray[np.int64]) -> float:
    """Returns N² / (K·Σ n²), in (0, 1]; 1 if all themes are equal in size.

    Source: xMemory §3.2, equation 2.
    """
    counts = np.asarray(sizes, dtype=np.int64)
    return int(counts.sum()) ** 2 / (len(counts) * int((counts**2).sum()))


def cohesion(vectors: NDArray[np.floating]) -> float:
    """Returns the mean cosine of a theme's statements (their vectors) with their centroid."""
    return float(np.mean(unit_rows(vectors) @ centroid(vectors)))


def closeness(nearest: NDArray[np.float64], spread: float) -> NDArray[np.float64]:
    """Returns g in (0, 1]: how usual each theme's similarity to its nearest theme is.

    g = exp(-(s - m)² / 2σ²) with median m. σ is the median deviation, at least ``spread``: two
    mutually nearest themes share s, so with up to three themes the deviation is 0 and g would be 0
    or 1.

    Source: xMemory §3.2, equation 3.
    """
    middle = float(np.median(nearest))
    # Equation 3: σ is a median deviation, robust against one isolated theme.
    sigma = max(float(np.median(np.abs(nearest - middle))), spread)
    return np.asarray(np.exp(-((nearest - middle) ** 2) / (2 * sigma**2)))


def objective(
    sizes: NDArray[np.int64],
    tight: NDArray[np.float64],
    nearest: NDArray[np.float64],
    spread: float,
) -> float:
    """Returns f = sparsity + mean of cohesion · closeness, in (0, 2]; 0 without themes.

    The arrays have each theme's size, its cohesion and the similarity of its centroid to the
    nearest other. A single theme has no nearest one; its closeness is 1.

    Source: xMemory §3.2, equations 1 to 3.
    """
    if not len(sizes):
        return 0.0
    usual = closeness(nearest, spread) if len(sizes) > 1 else np.ones(1)
    return sparsity(sizes) + float(np.mean(tight * usual))


def reassigned(memory: Draft | Structure) -> float:
    """Returns the share of xMemory's statements that ever changed their theme (Table 6)."""
    moves = [bool(memory.facts[node].get("moves")) for node in memory.of_kind(SEMANTIC)]
    return sum(moves) / len(moves) if moves else 0.0


class Partition:
    """Partition of statements into themes in float64, with size, cohesion, centroid of each."""

    def __init__(self, spread: float) -> None:
        """Starts without themes; ``spread`` as in :func:`closeness`."""
        self._spread = spread
        self.themes: list[int] = []
        self.centres: NDArray[np.float64] = np.zeros((0, 0))  # centroids, (themes, d)
        self._sizes: NDArray[np.int64] = np.zeros(0, np.int64)
        self._tight: NDArray[np.float64] = np.zeros(0)
        self._similarity: NDArray[np.float64] = np.zeros((0, 0))  # -inf with themselves

    def put(self, theme: int, vectors: Vector) -> None:
        """Adds a theme whose statements have ``vectors``, or replaces its statements."""
        wide = vectors.astype(np.float64)
        if theme not in self.themes:
            n = len(self.themes)
            self.themes.append(theme)
            self.centres = np.append(self.centres.reshape(n, wide.shape[1]), wide[:1], axis=0)
            self._sizes, self._tight = np.append(self._sizes, 0), np.append(self._tight, 0.0)
            self._similarity = np.pad(self._similarity, (0, 1))
        place = self.themes.index(theme)
        self.centres[place] = centroid(wide)
        self._sizes[place], self._tight[place] = len(wide), cohesion(wide)
        row = self.centres @ self.centres[place]
        row[place] = -np.inf
        self._similarity[place] = self._similarity[:, place] = row

    def drop(self, theme: int) -> None:
        """Removes a theme."""
        place = self.themes.index(theme)
        self.themes.remove(theme)
        self.centres, self._similarity = (
            np.delete(rows, place, axis=0) for rows in (self.centres, self._similarity)
        )
        self._similarity = np.delete(self._similarity, place, axis=1)
        self._sizes, self._tight = np.delete(self._sizes, place), np.delete(self._tight, place)

    def objective(self, without: Sequence[int] = (), groups: Sequence[Vector] = ()) -> float:
        """Returns f if the themes ``without`` were replaced by themes with these vectors."""
        gone = [self.themes.index(theme) for theme in without]
        keep = np.setdiff1d(np.arange(len(self.themes)), gone)
        wide = [group.astype(np.float64) for group in groups]
        # Only the nearest similarities depend on the other themes; sizes and cohesion are local.
        near = self._similarity[np.ix_(keep, keep)].max(axis=1, initial=-np.inf)
        if wide:
            # A theme's nearest one may be new (``fresh``) or among those that stay.
            fresh = np.stack([centroid(group) for group in wide])
            to_old = fresh @ self.centres[keep].T if len(keep) else np.zeros((len(wide), 0))
            to_new = fresh @ fresh.T
            np.fill_diagonal(to_new, -np.inf)
            near = np.maximum(near, to_old.max(axis=0))
            near = np.append(near, np.hstack([to_new, to_old]).max(axis=1))
        sizes = np.append(self._sizes[keep], np.array([len(group) for group in wide], np.int64))
        tight = np.append(self._tight[keep], [cohesion(group) for group in wide])
        return objective(sizes, tight, near, self._spread)


def splits(vectors: Vector, similarity: float, most: int) -> dict[str, list[Sequence[int]]]:
    """Returns ways to split n statements into several parts of at most ``most``, by name.

    ``components``: connected at a cosine of ``similarity``. ``principal axis``: chunks along it.
    """
    from scipy.sparse.csgraph import connected_components  # slow to import; the first page skips it

    # Two kinds of candidate splits (§3.2); f decides between them.
    unit = unit_rows(vectors)
    count, group = connected_components(np.round(unit @ unit.T, 9) >= similarity, directed=False)
    components: list[Sequence[int]] = []
    for number in range(count):
        components += even_parts(np.flatnonzero(group == number).tolist(), most)
    # The sign of a principal axis is arbitrary; its largest entry is made positive.
    centred = (vectors - vectors.mean(axis=0)).astype(np.float64)
    axis = np.linalg.svd(centred, full_matrices=False)[2][0]
    axis = axis * np.sign(axis[np.argmax(np.abs(np.round(axis, 9)))] or 1.0)
    place = np.round(centred @ axis, 9)
    along = sorted(range(len(vectors)), key=lambda i: (place[i], i))
    ways = {"components": components, "principal axis": even_parts(along, most)}
    return {name: parts for name, parts in ways.items() if len(parts) > 1}


@dataclass(frozen=True)
class ThemeParameters(Declared):
    """Parameters of xMemory's themes."""

    most: int = param(
        12, "Statements in a theme before it is split.", (2, 50), source="App. B and Table 8, 12"
    )
    attach: float = param(0.62, "Similarity that joins any theme.", (-1, 1), source="code, .62")
    loose: float = param(
        0.52, "Similarity that joins a theme with room left.", (-1, 1), source="code, .52"
    )
    cut: float = param(
        0.66, "Similarity that connects members in a split.", (-1, 1), source="code, .66"
    )
    tiny: int = param(
        1,
        "Statements of a theme that may merge into another, at most.",
        (1, 50),
        source="§3.2 merges tiny themes; 1 by Tables 6 and 7, where a merge moves 1.1 statements",
    )
    merge: float = param(
        0.42,
        "Similarity from which a tiny theme may merge.",
        (-1, 1),
        source="code, .50; .42 is ours, for the offline embedder",
    )
    neighbours: int = param(10, "Nearest neighbours that count.", (1, 50), source="§3.2; code, 10")
    spread: float = param(
        0.05,
        "The spread σ of the nearest similarities in f, at least.",
        (1e-8, 1),
        source="equation 3 adds ε; code, 1e-8; .05 is ours",
    )
    restructure: str = param(
        "full",
        "Split and merge themes, or leave one or both out.",
        choices=("full", "w/o split", "w/o merge", "w/o merge&split"),
        source="Table 6, its rows",
    )

    @property
    def splitting(self) -> bool:
        """True if overcrowded themes are split."""
        return self.restructure in ("full", "w/o merge")


class Themes:
    """xMemory's themes in a draft; the children of a theme are its statements."""

    def __init__(self, draft: Draft, limits: ThemeParameters, annotate: Annotate) -> None:
        self._draft = draft
        self._limits = limits
        self._annotate = annotate
        self._parts = Partition(limits.spread)
        self._stale: dict[int, None] = {}  # themes to rewrite
        self.begin_step()

    def begin_step(self) -> None:
        """Forgets what was recorded about the previous unit."""
        self.judged: list[Judgement] = []
        self.chosen: int | None = None
        self.changes: list[str] = []
        self.inspected = 0
        self._touched: dict[int, None] = {}  # themes that changed
        self._lines: dict[int, list[str]] = {}  # splits and merges, by theme

    def _members(self, theme: int) -> Vector:
        return self._draft.vectors(self._draft.children[theme])

    def _near(
        self, vector: Vector, count: int, apart_from: int | None = None
    ) -> list[tuple[float, int]]:
        """Returns the themes most similar to a vector, and the cosines, without ``apart_from``."""
        themes = self._parts.themes
        self.inspected += len(themes)
        similarity = np.round(self._parts.centres @ vector, 9) if themes else np.zeros(0)
        order = np.argsort(-similarity, kind="stable")[: count + 1].tolist()
        nearest = [(float(similarity[i]), themes[i]) for i in order if themes[i] != apart_from]
        return nearest[:count]

    def attach(self, statement: int) -> None:
        """Adds a new statement to the most similar theme, or opens one (§3.2, guided attach)."""
        limits = self._limits
        near = self._near(self._draft.vectors([statement])[0], 1)
        if near:
            score, theme = near[0]
            # A theme that is full must be much more similar, since joining it will split it.
            roomy = len(self._draft.children[theme]) < limits.most
            limit = limits.loose if roomy else limits.attach
            self.judged.append(Judgement(theme, score, limit, f"for statement {statement}"))
            if score >= limit:
                self._draft.link(theme, statement)
                self.chosen = theme if self.chosen is None else self.chosen
                self._changed(theme)
                return
        self._open([statement])

    def _open(self, members: Sequence[int]) -> int:
        """Opens a theme over statements, with the text of the first; returns its node."""
        text, vector = self._draft.text[members[0]], self._draft.vectors(members[:1])[0]
        facts = {"most": self._limits.most * self._limits.splitting, "size": len(members)}
        theme = self._draft.add(3, members, text, THEME, facts, vector)
        self._changed(theme)
        return theme

    def _changed(self, theme: int) -> None:
        """Measures a theme anew and marks it: to be rewritten, and perhaps merged."""
        self._parts.put(theme, self._members(theme))
        self._draft.note(theme, size=len(self._draft.children[theme]))
        self._stale[theme] = None
        self._touched[theme] = None

    def upkeep(self) -> None:
        """Splits overcrowded themes; merges tiny themes that this step changed, where f gains."""
        limits, size = self._limits, self._draft.children
        if limits.splitting:
            for theme in list(self._parts.themes):
                if len(size[theme]) > limits.most:
                    self.split(theme, limits.most)
        # A merged theme may be tiny again, so merging is repeated until f no longer gains.
        merging = limits.restructure in ("full", "w/o split")
        while merging and self._merge_once():
            pass

    def split(self, theme: int, most: int) -> None:
        """Splits a theme into parts of at most ``most`` statements, the way with the highest f."""
        draft = self._draft
        members = list(draft.children[theme])
        vectors = self._members(theme)
        # §3.2: every way to split is scored by f; the best is taken even where f falls.
        ways = splits(vectors, self._limits.cut, most)
        before = self._parts.objective()
        scores = {
            name: self._parts.objective([theme], [vectors[list(part)] for part in parts])
            for name, parts in ways.items()
        }
        self.judged += [
            Judgement(theme, score, before, f"split by {name} into {len(ways[name])}")
            for name, score in scores.items()
        ]
        best = max(scores, key=lambda name: (round(scores[name], 9), name == "components"))
        # The largest part keeps the node, so that the fewest statements change their theme.
        parts = sorted(ways[best], key=lambda part: (-len(part), part))
        # Each other part becomes a theme of its own.
        opened = []
        for part in parts[1:]:
            moved = [members[i] for i in part]
            for statement in moved:
                draft.unlink(theme, statement)
                self._moved(statement)
            new = self._open(moved)
            draft.note(new, made=f"split off theme {theme}")
            opened.append(new)
        self._changed(theme)
        self._record("split", theme, before, scores[best], opened)
        sizes = ", ".join(str(len(part)) for part in parts)
        self.changes.append(
            f"theme {theme} was split by {best} into {sizes}: f {before:.3f} to {scores[best]:.3f}"
        )

    def _record(
        self, kind: str, theme: int, before: float, after: float, others: Sequence[int]
    ) -> None:
        """Records a split or merge in the facts of a theme, after those of themes it absorbed."""
        lines = self._lines.setdefault(theme, [])
        for other in others:
            lines += self._lines.pop(other, [])
        lines.append(f"{kind} {before:.9f} {after:.9f} {' '.join(map(str, others))}")
        self._draft.note(theme, changes="\n".join(lines))

    def _moved(self, statement: int) -> None:
        moves = int(as_number(self._draft.facts[statement], "moves"))
        self._draft.note(statement, moves=moves + 1)

    def _merge_once(self) -> bool:
        """Merges the tiny themes that this step changed, where f gains; True if any merged."""
        merged, limits, children = False, self._limits, self._draft.children
        for theme in sorted(self._touched):
            tiny = len(children[theme]) <= limits.tiny
            if theme not in self._parts.themes or not tiny:  # merged already, or too large
                continue
            # §3.2: a merge must raise the objective f; a tie goes to the older partner.
            before = self._parts.objective()
            own, after, gain = self._members(theme), dict[int, float](), dict[int, float]()
            centre = self._parts.centres[self._parts.themes.index(theme)]
            # Partners are near, and together with the theme not too large.
            for score, other in self._near(centre, limits.neighbours, apart_from=theme):
                size = len(children[theme]) + len(children[other])
                if score < limits.merge or size > limits.most:
                    continue
                both = np.concatenate([own, self._members(other)])
                after[other] = self._parts.objective(without=[theme, other], groups=[both])
                gain[other] = round(after[other] - before, 9)
            best = max(gain, key=lambda other: (gain[other], -other), default=None)
            if best is not None and gain[best] > 0:
                self._merge(theme, best, before, after[best])
                merged = True
        return merged

    def _merge(self, one: int, other: int, before: float, after: float) -> None:
        """Merges two themes: the smaller (the younger, if equal) joins the larger."""
        draft = self._draft
        kept, gone = sorted((one, other), key=lambda t: (-len(draft.children[t]), t))
        for statement in list(draft.children[gone]):
            draft.unlink(gone, statement)
            draft.link(kept, statement)
            self._moved(statement)
        self._changed(kept)
        self._parts.drop(gone)
        self._stale.pop(gone, None)
        self._touched.pop(gone, None)
        draft.remove(gone)
        self._record("merge", kept, before, after, [gone])
        self.judged.append(Judgement(kept, after, before, f"merge with {gone}"))
        self.changes.append(f"theme {gone} joined theme {kept}: f {before:.3f} to {after:.3f}")

    def rewrite(self) -> int:
        """Rewrites the texts of changed themes; returns the number of texts written."""
        stale, self._stale = self._stale, {}
        return self._draft.write(stale, self._annotate)


def statements_are_parted(s: Structure) -> Iterator[Violation]:
    """Checks that every message has one episode and every statement one theme.

    A theme has at most ``most`` statements (0: any number) and records its size.
    """
    for node in np.flatnonzero(s.active).tolist():
        owner = {"": "episode", "semantic": "theme"}.get(s.kind[node])
        if owner is not None:
            kinds = [s.kind[parent] for parent in s.parents[node]]
            if kinds != [owner]:
                yield Violation("partition", node, f"one {owner} above", str(kinds))
        if s.kind[node] == "theme":
            size = len(s.children[node])
            most = fact(s, node, "most")
            if not (size <= most or most == 0):
                yield Violation("partition", node, f"{most:g} members", str(size))
            if size != s.facts[node].get("size"):
                yield Violation("partition", node, f"size {size}", str(s.facts[node].get("size")))
