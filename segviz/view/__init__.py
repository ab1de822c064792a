"""Describes a view of a memory independently of any screen: link, scene, colours, captions.

``bookmark``   encodes a view as the parameters of a link, and decodes it
``scene``      the content of a picture of a memory, before it is drawn
``coloring``   choice of colour and label of nodes, and the retrieval settings of the canvas
``palette``    the colours of data in views and exports
``captions``   texts of the canvas
``word_diff``  compares texts word by word

May import ``memory`` and the packages below it, not ``evaluation``. Public face: its modules.
"""
