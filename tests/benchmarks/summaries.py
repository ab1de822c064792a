"""What LoCoMo's own summaries of sessions are worth as annotations, against our extracts.

Run ``python -m tests.benchmarks.summaries`` from the project's root. Level 1 of each tree is the
sessions; with ``session-summaries`` its nodes have the summary of the data set, and the nodes above
have extracts of these. Texts also decide the places above level 1, so the trees differ there.
Intervals resample conversations and the questions in them. Nothing is asserted here.
"""

import segviz
from segviz.construct.annotate import Extractive, SessionSummaries
from segviz.construct.compatibility import Calibrated
from segviz.evaluation import MEASURES, Outcomes
from tests.benchmarks.nodes import ASKED, MEASURED, compared
from tests.benchmarks.recall import named, together
from tests.benchmarks.report import real_data, table


def measured(annotate: Extractive) -> list[Outcomes]:
    """Returns the outcomes of all questions for each relevance and setting."""
    tree = segviz.SegmentTree(Calibrated(level_1=-2, session_break=4), annotate)
    memories = [segviz.build(talk, tree) for talk in segviz.load(real_data("locomo/locomo5.json"))]
    return [together(memories, relevance, setting) for relevance, setting in ASKED["LoCoMo"]]


def main() -> None:
    """Prints both annotators and their paired differences."""
    ours, theirs = measured(Extractive()), measured(SessionSummaries())
    rows = [
        (named(*how), *compared(*both))
        for how, *both in zip(ASKED["LoCoMo"], ours, theirs, strict=True)
    ]
    print(f"LoCoMo, seen, {len(ours[0])} questions: extracts → summaries of the data set\n")
    print(table(("relevance, policy α/H", *(f">{MEASURES[n].label}" for n in MEASURED)), rows))


if __name__ == "__main__":
    main()
