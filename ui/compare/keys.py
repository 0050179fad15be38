"""Keys of the comparison: known to the list of keys before the page is made."""

from __future__ import annotations

Key = tuple[str, str]
"""Words and keys."""

STEPS: tuple[Key, ...] = (
    ("Next item of the comparison", "Alt+Right"),
    ("Previous item of the comparison", "Alt+Left"),
)
"""Other keys walk the changes in the diffs inside."""

REFERENCE: Key = ("Make the run the reference", "R")
