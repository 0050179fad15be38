"""Where endless words may be broken: without that, one of them makes its whole panel wider."""

from __future__ import annotations

import re

LONGEST_WORD = 40
"""Characters; paths are broken at their slashes anyhow."""
MARK = "\u200b"
"""Takes no room and is not seen."""
_ENDLESS = re.compile(rf"([^\s/\\-]{{{LONGEST_WORD}}})(?=\w)")


def breakable(text: str) -> str:
    """A text for a label: marks stand in words that are longer than any line."""
    return _ENDLESS.sub(rf"\1{MARK}", text)
