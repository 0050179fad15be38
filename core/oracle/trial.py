"""What is to be run: a text under tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rtc_inspector.core.types import Candidate, Change

NEWLINE = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Trial:
    """One thing to run: a candidate (None: the project as it is) under tests.

    Attributes:
        whole: collect every file, not those of the tests alone.
        in_order: run the tests as they stand here, in a fresh process.
        lean: ask nothing of the untouched project beside it: whoever asks does so, where it fails.
        rest: run in the same process after `tests` have passed, where that serves; else left out.
        slack: times its limits that it may take.
        again: a second run of what was run before, whose results may differ.
    """

    candidate: Candidate | None
    tests: tuple[str, ...]
    every_test: bool = False
    whole: bool = False
    rest: tuple[str, ...] = ()
    in_order: bool = False
    lean: bool = False
    again: bool = False
    slack: float = 1.0

    def request(self, stages: Sequence[Sequence[str]], total: float) -> dict[str, Any]:
        """Return the request as the zygote wants it: each stage is run when those before it have passed."""
        goes = [list(stage) for stage in stages if stage]
        asked: dict[str, Any] = {
            "tests": [test for go in goes for test in go],
            "whole": self.whole,
            "fail_fast": not self.every_test,
            "total": total,
        }
        if len(goes) > 1:
            asked["stages"] = goes
        if self.candidate is not None:
            asked["changes"] = [_request(change) for change in self.candidate.changes]
        return asked


def _request(change: Change) -> dict[str, Any]:
    first, last = lines_of(change)
    asked = {"path": change.file.path, "encoding": change.file.encoding, "original": change.file.text}
    return {**asked, "text": change.new_text, "first_line": first, "last_line": last}


def lines_of(change: Change) -> tuple[int, int]:
    """First and last line (1-based) of the span in the original, as Python counts lines."""
    text, span = change.file.text, change.span
    last = len(NEWLINE.findall(text, 0, max(span.start, span.end - 1)))
    return len(NEWLINE.findall(text, 0, span.start)) + 1, last + 1
