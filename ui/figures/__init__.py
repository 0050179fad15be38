"""Figures in the window: one drawer for all that analyses return."""
