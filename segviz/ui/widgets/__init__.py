"""Shared parts of the pages: canvas, lists, charts, tables, export menu."""
