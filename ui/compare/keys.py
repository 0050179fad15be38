"""Keys of the comparison: known to the list of keys before the page is made."""

from __future__ import annotations

Key = tuple[str, str, str]
"""Name, words, keys."""

STEPS: tuple[Key, ...] = (
    ("compare-next-region", "Next item of the comparison", "Alt+Right"),
    ("compare-previous-region", "Previous item of the comparison", "Alt+Left"),
)
"""Other keys walk the changes in the diffs inside."""

REFERENCE: Key = ("make-reference", "Make the run the reference", "R")
