"""A sign and a word for each outcome, so that colour never stands alone."""

from __future__ import annotations

from dataclasses import dataclass

from core.store.rows import SampleRow, VerdictRow
from ui.theme import Theme


@dataclass(frozen=True, slots=True)
class Sign:
    """What a badge shows: one character and a word or two."""

    symbol: str
    word: str

    @property
    def text(self) -> str:
        """Both."""
        return f"{self.symbol} {self.word}"


SIGNS = {
    "pass": Sign("✓", "PASS"),
    "fail": Sign("✗", "FAIL"),
    "timeout": Sign("◷", "TIMEOUT"),
    "out-of-memory": Sign("▣", "OUT OF MEMORY"),
    "crash": Sign("✸", "CRASH"),
    "syntax-error": Sign("⊘", "SYNTAX ERROR"),
    "import-error": Sign("⊗", "IMPORT ERROR"),
    "tampered": Sign("⚑", "TAMPERED"),
    "not-executed": Sign("○", "NOT EXECUTED"),
    "infrastructure": Sign("⚙", "NOT JUDGED"),
    "passed": Sign("✓", "passed"),
    "failed": Sign("✗", "failed"),
    "error": Sign("✸", "error"),
    "skipped": Sign("○", "skipped"),
    "missing": Sign("?", "missing"),
}
"""Verdicts of samples in capitals, outcomes of single tests in small letters."""

EXPLAINED = {
    "pass": "All covering tests pass with this text.",
    "fail": "At least one covering test fails with this text.",
    "timeout": "The tests ran longer than they may.",
    "out-of-memory": "The tests needed more memory than they may have.",
    "crash": "The interpreter died while the tests ran.",
    "syntax-error": "The text is not valid Python where it stands.",
    "import-error": "The module cannot be imported with this text.",
    "tampered": "The text interfered with the test framework.",
    "not-executed": "No covering test ran this text.",
    "infrastructure": "Our sandbox failed, not the model; it does not count.",
}


def sign(outcome: str) -> Sign:
    """The sign of an outcome; one we do not know keeps its own name."""
    return SIGNS.get(outcome, Sign("?", outcome.upper()))


def verdict_text(verdict: VerdictRow | None) -> str:
    """`✗ FAIL 2 of 8`, `✓ PASS`, or that it is still being judged."""
    if verdict is None:
        return "… judging"
    text = sign(verdict.outcome).text
    if verdict.outcome == "fail" and verdict.tests_run:
        return f"{text} {verdict.tests_failed} of {verdict.tests_run}"
    return text


def verdict_colour(theme: Theme, verdict: VerdictRow | None) -> str:
    """The colour of a verdict's badge."""
    return theme.neutral if verdict is None else theme.outcome(verdict.outcome)


def sample_name(sample: SampleRow, place: int | None = None) -> str:
    """`y2` for a description, `x^` for a reconstruction, `eps` for the baseline, as the paper names them."""
    names = {"forward": f"y{sample.index + 1}", "backward": "x^", "baseline": "eps"}
    name = names.get(sample.role, sample.role)
    return f"{name}{place}" if place is not None else name
