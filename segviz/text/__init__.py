"""Analyses texts by their form alone, and writes phrases for messages.

``dates``     dates and times: time stamps of programs, and times that a sentence names
``captions``  phrases for messages: counts, sizes, descriptions of values; text that can be shown
``words``     words of a text, its content words, and quotation of one text by another

Imports nothing of segviz.
"""
