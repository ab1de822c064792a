"""What a text says by its form alone, and what is said of one.

``dates``     dates and times: stamps of programs, and times that a sentence names
``captions``  phrases for messages: counts, sizes, what a value is
``words``     words of a text, those that say something, and whether one text quotes another

Imports nothing of segviz.
"""
