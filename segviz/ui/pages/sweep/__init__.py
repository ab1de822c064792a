"""Sweep: every setting over all questions."""
