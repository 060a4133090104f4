"""Limits, deadlines, and a machine that has no room."""
