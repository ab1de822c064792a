"""The Streamlit app. Nothing outside this package and ``app.py`` knows Streamlit.

Its layers, from the top: ``main``; ``pages``, which do not import each other; ``sidebar`` and
``inspector``; ``widgets``; ``address`` (links); ``settings`` (how a question is
asked); ``view_state`` (what is looked at); ``state``; ``keys``."""
