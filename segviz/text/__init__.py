"""What a text says by its form alone.

``dates``  dates and times: stamps of programs, and times that a sentence names
``words``  words of a text, those that say something, and whether one text quotes another

Imports nothing of segviz.
"""
