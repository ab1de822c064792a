"""Describes a view of a memory independently of any screen: link, scene, colours, captions.

``bookmark``   encodes a view as the parameters of a link, and decodes it
``scene``      the content of a picture of a memory, before it is drawn
``live``       the settings a canvas computes with; ``look`` its choice of colour and label
``measures``   the measures of nodes to colour by
``palette``    the one colour table; ``theme`` the settings Streamlit runs with
``captions``   texts of the canvas; ``word_diff`` the difference of two texts

May import ``memory`` and the packages below it, not ``evaluate``. Public face: its modules.
"""
