"""Entry point for ``streamlit run app.py``; the ``segviz`` command starts the same app."""

from segviz.ui.main import main

main()
