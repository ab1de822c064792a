"""Writes a structure as GraphML, for programs that read graphs."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

from segviz.export.text import legal
from segviz.tree import Structure


def graphml(structure: Structure, name: str = "", labels: Sequence[str] = ()) -> bytes:
    """Returns a structure without its vectors as a GraphML document with parallel edges.

    All nodes, retired ones too, have ``level``, ``top``, ``start``, ``stop``, ``text``, ``active``,
    ``kind``, ``facts`` and ``label``. ``top`` is the highest level of the node's same-text chain.
    ``start`` and ``stop`` are its half-open span in units. ``facts`` is a JSON object. ``label`` is
    the node's one of ``labels``, "" if these are empty. An edge has a ``type``
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
