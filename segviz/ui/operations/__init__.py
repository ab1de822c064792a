"""Changing a finished memory: operations, their log, merging."""
