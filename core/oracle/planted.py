"""A candidate that no test can pass, to see whether the tests import the file at all."""

from __future__ import annotations

from core.types import Candidate, SourceFile, Span


def planted_error(file: SourceFile) -> Candidate:
    """The whole file replaced by a raise."""
    return Candidate(file, Span(0, len(file.text)), 'raise ImportError("planted to see whether this file is used")\n')
