"""What a text says by its form alone.

``dates``  dates and times: stamps of programs, and times that a sentence names

Imports nothing of segviz.
"""
