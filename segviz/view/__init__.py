"""What a view of a memory is, apart from any screen: its link, colours and words.

``bookmark``   a view as the parameters of a link, and back (``link_readers``)
``palette``    the one colour table; ``theme`` the settings Streamlit runs with
``captions``   what the canvas says; ``look`` what it colours nodes by
``word_diff``  what changed between two texts

May import everything up to ``evaluate``.
"""
