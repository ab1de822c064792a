"""Draws charts and graphs of memories and measures as plain objects, without Streamlit.

Most modules have a chart as a Plotly figure or HTML page, its data as rows of a table, and its
message as a sentence; ``node_link`` uses pyvis. May import ``view``, ``evaluation`` and the
packages below them, not ``frontend``. Public face: its modules.
"""
