"""xMemory's themes: the objective of a partition, and the splits and merges it guides.

The objective f (§3.2) scores how statements are divided among themes. ``Themes`` attaches
statements, splits what grew too large and merges where f gains. A theme keeps in its fact
``changes`` how it was split and merged when that last happened, a line each: the kind of
change, f before, f after, and the other themes' nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Annotate
from segviz.systems.common.annotation import write
from segviz.systems.common.draft import Draft
from segviz.tree import Judgement, Vector

Group = tuple[int, ...]

_SPREAD_FLOOR = 0.05


def sparsity(sizes: Sequence[int]) -> float:
    """N² / (K·Σ n²), in (0, 1]; 1 where all themes are equal in size.

    Source: xMemory §3.2, equation 2."""
    total = sum(sizes)
    return total * total / (len(sizes) * sum(n * n for n in sizes))


def cohesion(vectors: Vector) -> float:
    """Mean cosine of a theme's members with their centroid."""
    return float(np.mean(_unit(vectors) @ centroid(vectors)))


def centroid(vectors: Vector) -> Vector:
    """Direction of the members' mean, unit length (zero where they cancel out)."""
    mean = vectors.mean(axis=0)
    norm = float(np.linalg.norm(mean))
    return np.asarray(mean / norm if norm else mean)


def closeness(nearest: NDArray[np.float64]) -> NDArray[np.float64]:
    """g: how usual each theme's similarity to its nearest theme is, in (0, 1].

    exp(-(s - m)² / 2σ²) with median m and σ the median deviation, at least .05: two themes
    that are each other's nearest share s, so that with up to three of them the deviation
    is 0 and g would be all or nothing.
    """
    middle = float(np.median(nearest))
    spread = max(float(np.median(np.abs(nearest - middle))), _SPREAD_FLOOR)
    return np.asarray(np.exp(-((nearest - middle) ** 2) / (2 * spread**2)))


def objective(groups: Sequence[Vector]) -> float:
    """F = sparsity + mean of cohesion · closeness, in (0, 2]; 0 without themes.

    ``groups`` are the member vectors of each theme. Source: xMemory §3.2, equations 1 to 3.
    A single theme has no nearest one; its closeness is 1.
    """
    if not groups:
        return 0.0
    whole = sparsity([len(group) for group in groups])
    tight = np.array([cohesion(group) for group in groups])
    if len(groups) == 1:
        return whole + float(tight[0])
    centres = np.stack([centroid(group) for group in groups]).astype(np.float64)
    similarity = centres @ centres.T
    np.fill_diagonal(similarity, -np.inf)
    return whole + float(np.mean(tight * closeness(similarity.max(axis=1))))


def splits(vectors: Vector, similarity: float, most: int) -> dict[str, list[Group]]:
    """Ways to cut members 0 … n-1 into parts of at most ``most``, by name; only real cuts.

    ``components``: what hangs together at a cosine of ``similarity``, larger ones chunked;
    ``principal axis``: chunks along the first principal component.
    """
    found = {
        "components": [
            part for group in _components(vectors, similarity) for part in chunks(group, most)
        ],
        "principal axis": chunks(_along_axis(vectors), most),
    }
    return {name: parts for name, parts in found.items() if len(parts) > 1}


def chunks(members: Sequence[int], most: int) -> list[Group]:
    """Consecutive parts of at most ``most``, as equal in size as can be."""
    count = -(-len(members) // most)
    cuts = [round(i * len(members) / count) for i in range(count + 1)]
    return [tuple(members[a:b]) for a, b in pairwise(cuts)]


def _components(vectors: Vector, similarity: float) -> list[Group]:
    unit = _unit(vectors)
    joined = np.round(unit @ unit.T, 9) >= similarity
    free = set(range(len(vectors)))
    groups = []
    while free:
        group = [min(free)]
        free.discard(group[0])
        for member in group:
            near = sorted(m for m in free if joined[member, m])
            group += near
            free.difference_update(near)
        groups.append(tuple(sorted(group)))
    return groups


def _along_axis(vectors: Vector) -> list[int]:
    centred = (vectors - vectors.mean(axis=0)).astype(np.float64)
    axis = np.linalg.svd(centred, full_matrices=False)[2][0]
    # A principal axis has no direction of its own; its largest part decides.
    axis = axis * np.sign(axis[np.argmax(np.abs(np.round(axis, 9)))] or 1.0)
    place = np.round(centred @ axis, 9)
    return sorted(range(len(vectors)), key=lambda i: (place[i], i))


def _unit(vectors: Vector) -> Vector:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0))


SEMANTIC, THEME = "semantic", "theme"
_PASSES = 2


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes and similarities of the theme layer."""

    most: int
    attach: float
    loose: float
    cut: float
    merge: float
    alone: float
    neighbours: int
    restructure: str


class Themes:
    """The theme layer of a draft; the members of a theme are its children, statements."""

    def __init__(self, draft: Draft, limits: Limits, annotate: Annotate) -> None:
        """Takes up the themes as they stand in ``draft``."""
        self._draft = draft
        self._limits = limits
        self._annotate = annotate
        self._centres: dict[int, Vector] = {
            theme: self._centre(theme) for theme in draft.of_kind(THEME)
        }
        self._rows: tuple[list[int], Vector] | None = None
        self._stale: dict[int, None] = {}
        self.begin_step()

    def begin_step(self) -> None:
        """Resets the record of the previous unit."""
        self.judged: list[Judgement] = []
        self.chosen: int | None = None
        self.changes: list[str] = []
        self.inspected = 0
        self._touched: dict[int, None] = {}
        self._lines: dict[int, list[str]] = {}

    def _centre(self, theme: int) -> Vector:
        return centroid(self._draft.vectors(self._draft.children[theme]))

    def _members(self, theme: int) -> Vector:
        return self._draft.vectors(self._draft.children[theme])

    def _near(
        self, vector: Vector, count: int, apart_from: Sequence[int] = ()
    ) -> list[tuple[float, int]]:
        """Returns the other themes whose centroids are most like ``vector``, best first, with
        their similarity; a tie to the older."""
        self.inspected += len(self._centres)
        if not self._centres:
            return []
        if self._rows is None:
            oldest_first = sorted(self._centres)
            self._rows = oldest_first, np.stack([self._centres[t] for t in oldest_first])
        themes, rows = self._rows
        similarity = np.round((rows @ vector).astype(np.float64), 9)
        order = np.argsort(-similarity, kind="stable")[: count + len(apart_from)].tolist()
        found = [(float(similarity[i]), themes[i]) for i in order if themes[i] not in apart_from]
        return found[:count]

    def attach(self, statement: int) -> None:
        """A new statement joins the most similar theme, or opens one."""
        limits = self._limits
        near = self._near(self._draft.vectors([statement])[0], 1)
        if near:
            score, theme = near[0]
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
        draft = self._draft
        first = members[0]
        theme = draft.add(
            3,
            members,
            draft.text[first],
            THEME,
            {"most": self._limits.most, "size": len(members)},
            draft.vectors([first])[0],
        )
        self._changed(theme)
        return theme

    def _changed(self, theme: int) -> None:
        self._centres[theme] = self._centre(theme)
        self._rows = None
        self._draft.note(theme, size=len(self._draft.children[theme]))
        self._stale[theme] = None
        self._touched[theme] = None

    def _around(self, themes: Sequence[int]) -> list[int]:
        """Returns the nearest themes of some, without themselves."""
        found: dict[int, None] = {}
        for theme in themes:
            near = self._near(self._centres[theme], self._limits.neighbours, themes)
            found.update((other, None) for _, other in near)
        return list(found)

    def all_touched(self) -> None:
        """Marks every theme for the next upkeep."""
        self._touched = dict.fromkeys(sorted(self._centres))

    def upkeep(self) -> None:
        """Splits themes that grew too large, then merge (twice at most) where f gains."""
        mode = self._limits.restructure
        for theme in sorted(self._centres):
            if len(self._draft.children[theme]) > self._limits.most:
                # A cap is a cap: without splitting, what is too much becomes a new theme.
                self.split(theme, self._limits.most, free=mode in ("both", "split"))
        if mode in ("both", "merge"):
            for _ in range(_PASSES):
                if not self._merge_once():
                    break

    def split(self, theme: int, most: int, free: bool = True) -> float:
        """Cuts a theme the way that gives the highest f among its neighbours; the gain."""
        draft = self._draft
        members = list(draft.children[theme])
        vectors = self._members(theme)
        ways = splits(vectors, self._limits.cut, most)
        if not free:
            late = tuple(range(most, len(members)))
            ways = {"overflow": [tuple(range(most)), late]}
        around = [self._members(other) for other in self._around([theme])]
        before = objective([*around, vectors])
        scores = {
            name: objective([*around, *(vectors[list(part)] for part in parts)])
            for name, parts in ways.items()
        }
        self.judged += [
            Judgement(theme, score, before, f"split by {name} into {len(ways[name])}")
            for name, score in scores.items()
        ]
        best = max(scores, key=lambda name: (round(scores[name], 9), name == "components"))
        parts = sorted(ways[best], key=lambda part: (-len(part), part))
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
        gain = scores[best] - before
        sizes = ", ".join(str(len(part)) for part in parts)
        self.changes.append(
            f"theme {theme} was split by {best} into {sizes}: f {before:.3f} to {scores[best]:.3f}"
        )
        return gain

    def _record(
        self, kind: str, theme: int, before: float, after: float, others: Sequence[int]
    ) -> None:
        """Writes down a change of this step, with those of a theme that is gone by it."""
        lines = self._lines.setdefault(theme, [])
        for other in others:
            lines += self._lines.pop(other, [])
        lines.append(f"{kind} {before:.9f} {after:.9f} {' '.join(map(str, others))}")
        self._draft.note(theme, changes="\n".join(lines))

    def _moved(self, statement: int) -> None:
        moves = self._draft.facts[statement].get("moves", 0)
        self._draft.note(statement, moves=(moves if isinstance(moves, int) else 0) + 1)

    def _merge_once(self) -> bool:
        """One pass: every theme touched in this step with the partner that gains most."""
        merged = False
        for theme in sorted(self._touched):
            if theme not in self._centres:
                continue
            best = max(
                ((self.gain(theme, other), -other) for other in self._partners(theme)),
                default=(0.0, 0),
            )
            if best[0] > 0:
                self.merge(theme, -best[1])
                merged = True
        return merged

    def _partners(self, theme: int) -> list[int]:
        limits, size = self._limits, len(self._draft.children[theme])
        found = []
        for score, other in self._near(self._centres[theme], limits.neighbours, [theme]):
            count = len(self._draft.children[other])
            enough = limits.alone if 1 in (size, count) else limits.merge
            if score >= enough and size + count <= limits.most:
                found.append(other)
        return found

    def gain(self, one: int, other: int) -> float:
        """What f gains among their neighbours when two themes become one."""
        before, after = self._merged(one, other)
        return round(after - before, 9)

    def _merged(self, one: int, other: int) -> tuple[float, float]:
        around = [self._members(theme) for theme in self._around([one, other])]
        a, b = self._members(one), self._members(other)
        return objective([*around, a, b]), objective([*around, np.concatenate([a, b])])

    def merge(self, one: int, other: int) -> int:
        """Merges two themes: the smaller (the younger, if equal) joins the larger."""
        draft = self._draft
        before, after = self._merged(one, other)
        kept, gone = sorted((one, other), key=lambda t: (-len(draft.children[t]), t))
        for statement in list(draft.children[gone]):
            self.move(statement, kept)
        self._record("merge", kept, before, after, [gone])
        self.judged.append(Judgement(kept, after, before, f"merge with {gone}"))
        self.changes.append(f"theme {gone} joined theme {kept}: f {before:.3f} to {after:.3f}")
        return kept

    def move(self, statement: int, theme: int) -> None:
        """Gives a statement to another theme; one left empty goes."""
        old = self._draft.parents[statement][0]
        self._draft.unlink(old, statement)
        self._draft.link(theme, statement)
        self._moved(statement)
        self._changed(theme)
        self.left(old)

    def left(self, theme: int) -> None:
        """Updates a theme that lost a member; one left empty is removed."""
        if self._draft.children[theme]:
            self._changed(theme)
            return
        for kept in (self._centres, self._stale, self._touched):
            kept.pop(theme, None)
        self._rows = None
        self._draft.remove(theme)

    def rewrite(self) -> int:
        """Writes the themes that changed from all their statements; their number."""
        draft = self._draft
        row = sorted(self._stale)
        self._stale = {}
        groups = [[draft.text[m] for m in draft.children[theme]] for theme in row]
        draft.rewrite(row, write(self._annotate, groups))
        return sum(len(group) > 1 for group in groups)
