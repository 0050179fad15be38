"""Stored runs against one another: paired items, differences with intervals, and what they say in words."""
