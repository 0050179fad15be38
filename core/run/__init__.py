"""Carrying a trip out: steps, judging, resuming, estimates, and what a person tries by hand."""
