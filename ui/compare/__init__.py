"""Stored runs against one another: a page of the window. Its keys are known to the list of keys before it is made."""

from __future__ import annotations

Key = tuple[str, str]
"""Words and keys."""

STEPS: tuple[Key, ...] = (
    ("Next item of the comparison", "Alt+Right"),
    ("Previous item of the comparison", "Alt+Left"),
)
"""Other keys walk the changes in the diffs inside."""

REFERENCE: Key = ("Make the run the reference", "R")
