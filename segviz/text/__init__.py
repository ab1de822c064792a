"""What a text says by its form alone, and what is said of one.

``dates``     dates and times: stamps of programs, and times that a sentence names
``captions``  phrases for messages: counts, sizes, what a value is

Imports nothing of segviz.
"""
