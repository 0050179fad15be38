"""A sign and a word for each outcome, so that colour never stands alone."""

from __future__ import annotations

from dataclasses import dataclass

from rtc_inspector.core.store.rows import VerdictRow


@dataclass(frozen=True, slots=True)
class Sign:
    """What a badge shows: one character and a word or two."""

    symbol: str
    word: str

    @property
    def text(self) -> str:
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
    """Return the sign of an outcome; one we do not know keeps its own name."""
    return SIGNS.get(outcome, Sign("?", outcome.upper()))


def verdict_text(verdict: VerdictRow | None, covering: int = 0, *, going: bool = True) -> str:
    """`✓ PASS`, `✗ FAIL 2 of 8`, or `✗ FAIL at 3 of 385` where judging stopped at the first failure.

    `covering`: how many tests there are; 0 where that is not known. `going`: what has no verdict will get one.
    """
    if verdict is None:
        return "… judging" if going else "○ not judged yet"
    text = sign(verdict.outcome).text
    # Only a failure has counts worth a place on a badge.
    if verdict.outcome != "fail" or not verdict.tests_run or not covering:
        return text
    if _stopped_early(verdict, covering):
        return f"{text} at {verdict.tests_run} of {covering:,}"
    return f"{text} {verdict.tests_failed} of {verdict.tests_run}"


def verdict_badge(verdict: VerdictRow | None, covering: int, *, going: bool) -> tuple[str, str, str]:
    """Return the text, colour role and tip of the badge on a sample's card."""
    tip = verdict_detail(verdict, covering) if verdict else "Not judged yet."
    return verdict_text(verdict, covering, going=going), verdict_role(verdict), tip


def verdict_detail(verdict: VerdictRow, covering: int = 0) -> str:
    """Return what a verdict means, as a sentence without full stop; of a failure also that no test was run after it."""
    said = (verdict.detail or EXPLAINED.get(verdict.outcome, "")).rstrip(".")
    if verdict.outcome == "fail" and _stopped_early(verdict, covering):
        said += f"; judging stopped there, after {verdict.tests_run:,} of {covering:,} covering tests"
    return said


def _stopped_early(verdict: VerdictRow, covering: int) -> bool:
    return verdict.tests_failed == 1 and 0 < verdict.tests_run < covering


def outcome_role(outcome: str) -> str:
    """Return the theme's colour role of a verdict's or a test's outcome."""
    if outcome in {"pass", "passed"}:
        return "good"
    if outcome in {"infrastructure", "skipped", "missing", "not-executed"}:
        return "neutral"
    return "warn" if outcome in {"timeout", "out-of-memory", "tampered"} else "bad"


def verdict_role(verdict: VerdictRow | None) -> str:
    """Return the colour role of a verdict's badge."""
    return "neutral" if verdict is None else outcome_role(verdict.outcome)
