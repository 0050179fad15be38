"""A dozen tiny functions."""
