"""Stored runs against one another: a page of the window."""
