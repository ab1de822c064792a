"""Script that the ``segviz`` command starts with Streamlit."""
