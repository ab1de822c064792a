"""The canvas as the browser gets it: its scripts as one module, its style sheets as one."""

from __future__ import annotations

from segviz.frontend.scripts import joined, source

_SCRIPTS = (
    "pointing.js",
    "tree_text.js",
    "tree_colour.js",
    "tree_message.js",
    "tree_rows.js",
    "tree_geometry.js",
    "tree_boxes.js",
    "tree_view.js",
    "tree_canvas.js",
    "tree_history.js",
    "tree_motion.js",
    "tree_span.js",
    "tree_search.js",
    "tree_axis.js",
    "tree_propagate.js",
    "tree_theme.js",
    "tree_shades.js",
    "tree_alone.js",
    "tree_classes.js",
    "tree_weights.js",
    "tree_gutter.js",
    "tree_labels.js",
    "tree_margin.js",
    "tree_paint.js",
    "tree_signs.js",
    "tree_kin.js",
    "tree_marks.js",
    "tree_words.js",
    "tree_legend.js",
    "tree_look.js",
    "tree_controls.js",
    "tree_dials.js",
    "tree_map.js",
    "tree_crumbs.js",
    "tree_find.js",
    "tree_help.js",
    "tree_tools.js",
    "tree_mirror.js",
    "tree_frame.js",
    "tree_link.js",
    "tree_moves.js",
    "tree_pointer.js",
    "tree_keys.js",
    "tree.js",
)
_SHEETS = ("tree.css", "tree_legend.css")


def javascript() -> str:
    """Source of the component as one ES module: the scripts one after another, without
    the imports between them."""
    return joined(*_SCRIPTS)


def stylesheet() -> str:
    """Source of the component's stylesheet."""
    return "\n".join(map(source, _SHEETS))
