"""Grow: watch the memory being built."""
