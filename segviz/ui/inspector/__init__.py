"""Inspector: one node in detail, its turns, and the comparison of two nodes or two trees."""

from segviz.ui.inspector.changes import changes_of as changes_of
from segviz.ui.inspector.changes import changes_panel as changes_panel
from segviz.ui.inspector.changes import tree_name as tree_name
from segviz.ui.inspector.node import node_details as node_details
from segviz.ui.inspector.node import node_transcript as node_transcript
from segviz.ui.inspector.pins import pins_panel as pins_panel
