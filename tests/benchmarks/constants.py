"""Constants of extracts, chosen on some LoCoMo conversations and reported on the others.

Run ``python -m tests.benchmarks.constants`` from the project's root with the data under SEGVIZ_DATA
or ../shared/data. Nothing is asserted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from segviz.construct.annotate import Extractive
from segviz.evaluation import Outcomes, pooled
from tests.benchmarks.nodes import BOTTOM_UP, built, talks
from tests.benchmarks.recall import STILL, outcomes
from tests.benchmarks.report import number, table
from tests.data import HELD_OUT, TUNED_ON

GRID: dict[str, tuple[float, ...]] = {
    "floor": (1.5, 2.0, 2.5),
    "repeat": (0.2, 0.4, 0.6),
    "max_words": (80, 90, 100),
}


@cache
def scores(annotate: Extractive, place: int) -> tuple[Outcomes, Outcomes]:
    """Returns the outcomes of one LoCoMo conversation: hybrid without propagation, and the
    paper's bottom-up on plain cosines."""
    memory = built(talks("LoCoMo")[place], annotate)
    return outcomes(memory, "hybrid", STILL), outcomes(memory, "dense", BOTTOM_UP)


def score(annotate: Extractive, places: Sequence[int]) -> tuple[float, float]:
    """Returns hybrid's evidence reached and bottom-up's gold turns quoted over conversations."""
    still, upwards = (
        pooled({str(place): scores(annotate, place)[which] for place in places}) for which in (0, 1)
    )
    return still.value("reached"), upwards.value("quoted")


def chosen(places: Sequence[int]) -> Extractive:
    """Chooses the constants with the largest sum of both scores, one constant after the other."""
    best = Extractive()
    for name, values in GRID.items():
        variants = [replace(best, **{name: value}) for value in values]
        # The current value comes first, so that it wins a tie.
        variants.sort(key=lambda each: each != best)
        best = max(variants, key=lambda each: sum(score(each, places)))
    return best


def main() -> None:
    """Prints what constants chosen on some conversations reach on the others."""
    names = [talk.id for talk in talks("LoCoMo")]
    rows = []
    for here, there in ((TUNED_ON, HELD_OUT), (HELD_OUT, TUNED_ON)):
        on, off = ([names.index(name) for name in half] for half in (here, there))
        best = chosen(on)
        for label, each in (("chosen", best), ("defaults", Extractive())):
            said = ", ".join(f"{name} {getattr(each, name):g}" for name in GRID)
            cells = [number(value) for value in (*score(each, on), *score(each, off))]
            rows.append((", ".join(here), label, said, *cells))
    print(
        "Constants chosen on some LoCoMo conversations by the sum of both measures, one after "
        "the other, and what they reach on the others:\n"
    )
    still, upwards = "hybrid, none: reached", "dense, bottom-up 0.1/2: quoted"
    heads = (f">{still}, there", f">{upwards}, there", f">{still}, others", f">{upwards}, others")
    print(table(("chosen on", "", "constants", *heads), rows))


if __name__ == "__main__":
    main()
