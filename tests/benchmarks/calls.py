"""Model calls per leaf for every construction variant and time of refreshing.

Run ``python -m tests.benchmarks.calls [FILE [CONVERSATION]]`` from the project's root; the
default is conv-47 under SEGVIZ_DATA or ../shared/data. The model is a loopback server whose
decisions come from the offline similarity, so the counts are those of a plausible model and
cost nothing; every call really goes over the wire. A text that is refused counts once, and the
offline text in its place is the same quotation.
"""

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import segviz
from segviz.construct.annotate import Extractive
from segviz.construct.compatibility import cosines
from segviz.embedding import background_mean, get_embedder
from segviz.evaluation.published import printed_shapes
from segviz.llm import Endpoint, ModelCache, OpenAIChat
from segviz.tree import total_cost
from segviz.tree.shape import shape
from tests.benchmarks.report import data_file, table
from tests.llm.server import ModelServer, enum, quoted, texts_under

HEAD = ("choices", "summaries", "calls/leaf", "paper", "nodes/leaf", "max depth")

# What the stand-in model asks of each level before it says MERGE.
NEEDED = (0.20, 0.12, -0.05, -0.30)


def stand_in() -> Callable[[dict[str, Any]], str]:
    """A model that merges by background-corrected similarity and summarises by quoting."""
    embedder = get_embedder()
    centre = background_mean(embedder)

    def beyond(message: str, head: str, summary: str) -> float:
        a, b = embedder.embed([message, summary]) - centre
        level = min(int(head.split()[-1]), len(NEEDED))
        return float(cosines(a, b[np.newaxis])[0]) - NEEDED[level - 1]

    def answer(request: dict[str, Any]) -> str:
        labels = enum(request)
        if not labels:
            return str(Extractive()(texts_under(request, "Part")))
        *segments, (_, message) = quoted(request["messages"][1]["content"])
        more = [beyond(message, *segment) for segment in segments]
        if "SPLIT" in labels:
            fits = (label for label, each in zip(labels, more, strict=False) if each >= 0)
            return next(fits, "SPLIT")
        if "MERGE" in labels:
            return "MERGE" if more[0] >= 0 else "CONTINUE"
        return str(min(10, max(0, math.floor(5 + 10 * more[0]))))

    return answer


def main() -> None:
    path = data_file()
    corpus = segviz.load(path)
    conversation = corpus[sys.argv[2] if len(sys.argv) > 2 else min(3, len(corpus) - 1)]
    paper = {
        row["memory"].split(",")[0].split()[-1]: row
        for row in printed_shapes("segment-tree", "LoCoMo")
    }
    print(f"{conversation.id}, exchange units, annotation by the model:\n")
    head = ("", *(f">{name}" for name in HEAD))
    rows = []
    with ModelServer() as server:
        server.answer = stand_in()
        kinds = {name: (name, {}) for name in ("cosine", "calibrated", "batch", "pointwise")}
        kinds["pointwise, upwards"] = ("pointwise", {"asks": "upwards"})
        for label, (name, settings) in kinds.items():
            for refresh in ("eager", "lazy", "joined"):
                server.requests.clear()
                endpoint = Endpoint(server.url, model="stand-in", concurrency=2)
                with ModelCache(None) as cache:
                    memory = segviz.build(
                        conversation,
                        chat=OpenAIChat(endpoint, cache),
                        compatibility={"name": name, **settings},
                        annotate="llm",
                        refresh=refresh,
                    )
                choices = sum(bool(enum(request)) for request in server.requests)
                # Without retries: the stand-in quotes its messages, and such a text is refused.
                calls, leaves = total_cost(memory.steps).calls, len(memory.units)
                measured = shape(memory.structure)
                rows.append(
                    (
                        f"{label}, {refresh}",
                        str(choices),
                        str(calls - choices),
                        f"{calls / leaves:.2f}",
                        f"{paper[name]['calls/leaf']:.2f}" if name in paper else "",
                        f"{measured.nodes_per_leaf:.2f}",
                        str(measured.max_depth),
                    )
                )
    print(table(head, rows))


if __name__ == "__main__":
    main()
