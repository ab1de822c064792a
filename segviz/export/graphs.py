"""Writes a structure as GraphML, for programs that read graphs."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

from segviz.export.text import legal
from segviz.tree import Structure


def graphml(structure: Structure, name: str = "", labels: Sequence[str] = ()) -> bytes:
    """Returns a structure without its vectors as a GraphML document with parallel edges.

    Nodes, retired ones included, have ``level``, ``top`` (the highest level of their same-text
    chain), ``start``, ``stop`` (half-open, in units), ``text``, ``active``, ``kind``, ``facts`` (a
    JSON object) and ``label`` (from ``labels``, one for each node, or ""). An edge has a ``type``
    and its ``order`` among the edges of this type. The type "child" leads from a parent to its
    child; the type "relation" has ``label`` and ``weight``, too. ``name`` is that of the graph.

    XML cannot represent some control characters: they become U+FFFD, and carriage returns become
    line feeds. The JSON export has the vectors.
    """
    # Imported late: it takes a third of segviz's own start-up time.
    from networkx.readwrite.graphml import write_graphml_xml

    graph = structure.to_networkx()
    graph.graph["name"] = legal(name)
    for node, values in graph.nodes.items():
        values["label"] = labels[node] if labels else ""
    for values in [*graph.nodes.values(), *graph.edges.values()]:
        for key, value in values.items():
            if isinstance(value, str):
                values[key] = legal(value)
            elif isinstance(value, dict):
                values[key] = json.dumps(value)
    file = io.BytesIO()
    # The writer of the standard library: the lxml writer, if installed, gives other bytes.
    write_graphml_xml(graph, file)
    return file.getvalue()
