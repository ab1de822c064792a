"""The Streamlit app. Only this package and ``app.py`` import Streamlit.

Its layers, from the top: ``main``; ``pages``, which do not import each other; ``sidebar`` and
``inspector``; ``widgets``; ``address`` (links and the current view); ``settings`` (the question
and its retrieval settings); ``state``; ``keys``.
"""
