"""The sidebar: conversation, unit, system, models."""
