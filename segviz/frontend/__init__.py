"""Layer 3: the canvas component (scripts, one stylesheet) and what Python sends it.

``palette`` holds every colour, ``payload`` turns a Structure into a message and reads the
static files. Nothing here imports Streamlit; ``segviz.ui.widgets.canvas`` mounts the component.
"""
