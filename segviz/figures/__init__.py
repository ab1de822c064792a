"""Draws charts and graphs of memories and measures, without Streamlit.

Most modules give a chart as a Plotly figure, its data as rows of a table, and its result as a
sentence; ``node_link`` gives an HTML page by pyvis. May import ``view``, ``evaluation`` and the
packages below them, not ``frontend``. Public face: its modules.
"""
