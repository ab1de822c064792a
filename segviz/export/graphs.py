"""A structure for programs that read graphs and trees: GraphML and Newick."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

from segviz.export.text import legal, one_line
from segviz.tree import Structure

_LABEL_LENGTH = 60


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


def newick_problem(structure: Structure) -> str:
    """Why a structure cannot be written as Newick; "" where it can."""
    for node, parents in enumerate(structure.parents):
        if len(parents) > 1:
            return (
                f"node {node} has {len(parents)} parents ({', '.join(map(str, parents))}), and "
                "Newick has trees only; export GraphML, which keeps every edge"
            )
    return ""


def newick(structure: Structure, labels: Sequence[str] = ()) -> str:
    """The active nodes in Newick format, one line per root, oldest first.

    A label is the node's number and its label, else the beginning of its text, quoted:
    ``'n12 Ada: I …'``.
    A branch is as long as the number of levels it spans. Children stand in the order they
    were linked. ValueError, naming GraphML, where a node has several parents.
    """
    if problem := newick_problem(structure):
        raise ValueError(problem)
    return "".join(f"{_tree(structure, root, labels)};\n" for root in structure.roots)


def _tree(structure: Structure, root: int, labels: Sequence[str]) -> str:
    """One tree without its semicolon; a stack in place of recursion, for any depth."""
    parts: list[str] = []
    pending: list[int | str] = [root]
    while pending:  # from the end of the text to its beginning
        here = pending.pop()
        if isinstance(here, str):
            parts.append(here)
            continue
        children = structure.children[here]
        parts.append((")" if children else "") + _label(structure, here, labels))
        for place, child in enumerate(children):
            pending += ["," if place else "(", child]
    return "".join(reversed(parts))


def _label(structure: Structure, node: int, labels: Sequence[str]) -> str:
    known = labels[node] if labels else ""
    text = one_line(known or structure.text[node], _LABEL_LENGTH)
    quoted = f"n{node} {text}".rstrip().replace("'", "''")
    above = structure.parents[node]
    if not above:
        return f"'{quoted}'"
    return f"'{quoted}':{max(0, int(structure.level[above[0]]) - int(structure.level[node]))}"
