"""The Streamlit app. Nothing outside this package and ``app.py`` knows Streamlit.

Its layers, from the top: ``main``; ``pages``, which do not import each other; ``sidebar`` and
``inspector``; ``widgets``; ``address`` (links, what is looked at);
``settings`` (the question and how it is asked); ``state``; ``keys``."""
