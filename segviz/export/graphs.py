"""Writes a structure as GraphML, for programs that read graphs."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

from segviz.export.text import legal
from segviz.tree import Structure


def graphml(structure: Structure, name: str = "", labels: Sequence[str] = ()) -> bytes:
    """All columns but the vectors, as a GraphML document with parallel edges.

    Nodes, retired ones included, have ``level``, ``top`` (the highest level of their same-text
    chain), ``start``, ``stop`` (half-open, in units),
    ``text``, ``active``, ``kind`` and ``facts`` (a JSON object). Edges have a ``type``:
    "child" leads from a parent to its child, with its ``order`` among all links;
    "relation" has ``order``, ``label`` and ``weight``. The graph has a ``name``, nodes have a
    ``label`` where ``labels`` has one for each.

    XML cannot hold some control characters: they become U+FFFD, carriage returns line
    feeds. The vectors are in the JSON export.
    """
    # Imported when it is needed: it takes a third of the time segviz takes to start.
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
    # The writer of the standard library: the one on lxml, where installed, writes otherwise.
    write_graphml_xml(graph, file)
    return file.getvalue()
