"""The selected node: details, tabs, pins."""
