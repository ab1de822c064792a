"""Inspector: one node in detail, its turns, and the comparison of two pinned nodes."""

from segviz.ui.inspector.node import node_details as node_details
from segviz.ui.inspector.node import node_transcript as node_transcript
from segviz.ui.inspector.pins import pins_panel as pins_panel
