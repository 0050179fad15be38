"""Comparing two texts: the Qt-free engine, and the views that show it."""
