"""H-Mem's tree: events summarised by time window and similarity, bottom up (§3.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from segviz.construct import Annotate, Declared, param
from segviz.construct.tasks import Stated
from segviz.conversation import DAY, Moment, as_time, seconds
from segviz.systems.common.structure_editor import Draft
from segviz.tree import Judgement, Scalar, Structure, as_number
from segviz.tree.invariants import Violation, fact

EVENT, SUMMARY = "event", "summary"
TOP = 4  # A.2: day, week, month, year
# Windows nest: a week of 7 days, a month of 4 weeks, a year of 13 months.
_WINDOW_DAYS = {2: 7, 3: 28, 4: 364}  # A.2; that they nest is ours
# The tree's age in days up to which it has this many levels (A.2).
_TOP_UNTIL = ((7.0, 2), (30.0, 3))


@dataclass(frozen=True)
class TreeParameters(Declared):
    """Parameters of H-Mem's tree of events."""

    alpha_2: float = param(
        0.51,
        "Similarity that joins a week's summary.",
        (-1, 1),
        source="A.2, .8; 0.51 is ours, for the offline embedder",
    )
    alpha_3: float = param(
        0.49,
        "Similarity that joins a month's summary.",
        (-1, 1),
        source="A.2, .7; 0.49 is ours, for the offline embedder",
    )
    alpha_4: float = param(
        0.42,
        "Similarity that joins a year's summary.",
        (-1, 1),
        source="A.2, .6; 0.42 is ours, for the offline embedder",
    )
    windows: str = param(
        "nested",
        "Windows of 7, 28 and 364 days from the first event, or calendar weeks, months and years.",
        choices=("nested", "calendar"),
        source="A.2, week, month and year; nested ones are ours",
    )


class EventTree:
    """Tree of H-Mem's events and their summaries, built in a draft."""

    def __init__(self, draft: Draft, rules: TreeParameters, annotate: Annotate) -> None:
        self._draft = draft
        self._rules = rules
        self._least = {2: rules.alpha_2, 3: rules.alpha_3, 4: rules.alpha_4}  # by level
        self._annotate = annotate
        # Summaries by level and start of their window.
        self._windows: dict[tuple[int, float], list[int]] = {}
        self._stale: dict[int, None] = {}  # summaries to rewrite
        self.begin_step()
        self._began: float | None = None  # time of the first event
        self.top = 2

    def begin_step(self) -> None:
        """Forgets the judgements made for the previous unit."""
        self.inspected = 0
        self.judged: list[Judgement] = []
        self.joined: list[int] = []

    def age(self, now: float) -> int:
        """Adds the levels that the tree's age at ``now`` requires (A.2); returns how many."""
        if self._began is None:
            return 0
        draft, days, former = self._draft, (now - self._began) / DAY, self.top
        wanted = next((top for limit, top in _TOP_UNTIL if days < limit), TOP)
        while self.top < wanted:
            orphans = [
                node
                for node in draft.of_kind(SUMMARY)
                if draft.level[node] == self.top and not draft.parents[node]
            ]
            self.top += 1
            # The summaries of the former top level get parents on the new one.
            for node in sorted(orphans, key=lambda n: (as_number(draft.facts[n], "opened"), n)):
                self._route(node, self.top, as_number(draft.facts[node], "last"))
        return self.top - former

    def event(self, fact: Stated, fragment: int, when: Moment) -> None:
        """Adds an event of a fragment and finds or opens a summary above it."""
        if self._began is None:
            self._began = when.seconds
        facts: dict[str, Scalar] = {}
        if fact.about is not None:
            facts = {"about_from": seconds(fact.about[0]), "about_to": seconds(fact.about[1])}
        facts |= dict.fromkeys(("opened", "from", "to", "last"), when.seconds)
        facts |= {"n": 0, "dated": when.dated}
        self._route(self._draft.add(1, [fragment], fact.text, EVENT, facts), 2, when.seconds)

    def _route(self, node: int, level: int, now: float) -> None:
        """Gives ``node`` a parent on ``level``; a parent that is new gets one, too, and so on."""
        draft = self._draft
        while level <= self.top:
            # §3.2: only nodes of the same temporal window β are candidates.
            window = self._window(level, as_number(draft.facts[node], "opened"))
            limit = self._least[level]
            nearest = self._nearest(node, self._windows.get((level, window[0]), []))
            if nearest is not None:
                best, sibling, score = nearest
                self.judged.append(Judgement(best, score, limit, f"for node {node}"))
                # α decides between an existing cluster and a new one.
                if score >= limit:
                    draft.link(best, node)
                    self.joined.append(best)
                    self.reinforce(sibling, now)
                    # The summary and those above it are stale, and cover the child's times.
                    times = draft.facts[node]
                    start, stop = as_number(times, "from"), as_number(times, "to")
                    for upper in draft.upwards(best, SUMMARY):
                        self.reinforce(upper, now)
                        self._stale[upper] = None
                        if start < as_number(draft.facts[upper], "from"):
                            draft.note(upper, **{"from": start})
                        if stop > as_number(draft.facts[upper], "to"):
                            draft.note(upper, to=stop)
                    return
            node = self._open(node, level, window)
            level += 1

    def _nearest(self, node: int, candidates: Sequence[int]) -> tuple[int, int, float] | None:
        """Returns the candidate whose child is most similar to ``node``, the child, the cosine."""
        # §3.2 compares a node with the nodes of its own level, so with the candidates' children.
        owned = [(owner, child) for owner in candidates for child in self._draft.children[owner]]
        self.inspected += len(owned)
        if not owned:
            return None
        scores = self._draft.cosines(self._draft.vectors([node])[0], [child for _, child in owned])
        # On a tie the older candidate, then the older child.
        score, owner, child = max(
            (score, -owner, -child) for score, (owner, child) in zip(scores, owned, strict=True)
        )
        return -owner, -child, score

    def _open(self, child: int, level: int, window: tuple[float, float]) -> int:
        """Opens a summary over one child with a copy of its text; calls no model."""
        draft = self._draft
        facts: dict[str, Scalar] = {
            name: draft.facts[child][name] for name in ("opened", "from", "to", "last", "dated")
        }
        facts |= {"n": 0, "window_from": window[0], "window_to": window[1]}
        vector = draft.vectors([child])[0]
        node = draft.add(level, [child], draft.annotation(child), SUMMARY, facts, vector)
        self._windows.setdefault((level, window[0]), []).append(node)
        return node

    def reinforce(self, node: int, now: float) -> None:
        """Reinforces ``node``: its count n grows by one, and its age is counted from ``now``."""
        n = self._draft.facts[node]["n"]
        last = max(as_number(self._draft.facts[node], "last"), now)
        self._draft.note(node, n=(n if isinstance(n, int) else 0) + 1, last=last)

    def rewrite(self) -> int:
        """Rewrites the stale summaries, from low to high; returns the number of texts written."""
        stale, self._stale = self._stale, {}
        return self._draft.write(stale, self._annotate)

    def _window(self, level: int, moment: float) -> tuple[float, float]:
        """Returns start and end, in seconds, of the time window on ``level`` around a moment."""
        began = self._began or 0.0
        if self._rules.windows == "nested":
            size = _WINDOW_DAYS[level] * DAY
            start = began + math.floor((moment - began) / size) * size
            return start, start + size
        day = as_time(moment)
        midnight = moment - (day.hour * 3600 + day.minute * 60 + day.second + day.microsecond / 1e6)
        if level == 2:
            monday = midnight - day.weekday() * DAY
            return monday, monday + 7 * DAY
        first = day.replace(month=day.month if level == 3 else 1, day=1)
        after = (
            first.replace(year=first.year + 1)
            if level == TOP
            else first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
        )
        start = midnight - (day - first).days * DAY
        return start, start + (after - first).days * DAY


def events_have_a_place(s: Structure) -> Iterator[Violation]:
    """Checks that events and summaries have one parent at most, one level up, of their window."""
    for node in s.of_kind("event", "summary"):
        above = s.parents[node]
        if len(above) > 1:
            yield Violation("windows", node, "one parent", str(above))
        for parent in above:
            if s.level[parent] != s.level[node] + 1:
                level = f"level {s.level[parent]}"
                yield Violation("windows", node, f"a parent on level {s.level[node] + 1}", level)
            opened = fact(s, node, "opened")
            start, stop = fact(s, parent, "window_from"), fact(s, parent, "window_to")
            if not start <= opened < stop:
                yield Violation("windows", node, f"opened in [{start}, {stop})", str(opened))
