"""What the ``segviz`` command gives to Streamlit."""
