"""Our verdicts and times beside those of plain pytest."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from judging.candidates import Trial
from judging.fresh import Fresh, note
from rtc_inspector.core.types import Outcome, Verdict

Figures = dict[str, float]


@dataclass(frozen=True)
class Pair:
    """One candidate, judged by us and run afresh."""

    trial: Trial
    verdict: Verdict
    seconds: float
    fresh: Fresh

    @property
    def wrong(self) -> bool:
        """Whether one passes it and the other does not."""
        return (self.verdict.outcome is Outcome.PASS) != self.fresh.passed

    @property
    def ended(self) -> bool:
        """Whether neither went over a time limit."""
        return not self.fresh.timed_out and self.verdict.outcome is not Outcome.TIMEOUT


def compared(pairs: list[Pair]) -> Figures:
    """Counts and means over the candidates; disagreements are told."""
    for pair in pairs:
        if pair.wrong:
            _explain(pair)
    ended = [pair for pair in pairs if pair.ended]
    figures: Figures = {
        "candidates": len(pairs),
        "passes": sum(pair.fresh.passed for pair in pairs),
        "timeouts": len(pairs) - len(ended),
        "not_judged": sum(not pair.verdict.outcome.judged for pair in pairs),
        "disagreements": sum(pair.wrong for pair in pairs),
        "whole_fresh_total_seconds": sum(pair.fresh.seconds for pair in ended),
        "ours_total_seconds": sum(pair.seconds for pair in ended),
    }
    for name, some in (
        ("", ended),
        ("_of_failures", [pair for pair in ended if not pair.fresh.passed]),
        ("_of_passes", [pair for pair in ended if pair.fresh.passed]),
    ):
        if some:
            figures |= _means(name, some)
    return figures


def _means(name: str, pairs: list[Pair]) -> Figures:
    mine = statistics.mean(pair.seconds for pair in pairs)
    theirs = statistics.mean(pair.fresh.seconds for pair in pairs)
    return {
        f"whole_fresh_mean_seconds{name}": theirs,
        f"ours_mean_seconds{name}": mine,
        f"speed{name}_against_whole_fresh": theirs / mine,
    }


def covering_ratio(ours: Sequence[float], fresh: Sequence[float]) -> Figures:
    """Medians of the seconds of candidates in functions; whole-suite confirmation is left out on both sides."""
    if not ours:
        return {}
    mine, theirs = statistics.median(ours), statistics.median(fresh)
    return {
        "covering_fresh_median_seconds": theirs,
        "ours_covering_median_seconds": mine,
        "speed_against_covering_fresh": theirs / mine,
    }


def _explain(pair: Pair) -> None:
    file, span = pair.trial.candidate.file, pair.trial.candidate.span
    note(f"DISAGREEMENT {pair.trial.kind} {file.path}:{span.start}-{span.end}")
    note(f"  original: {file.text[span.start : span.end]!r}\n  candidate: {pair.trial.candidate.replacement!r}")
    note(f"  ours: {pair.verdict.outcome}: {pair.verdict.detail}")
    note(f"  fresh: {'pass' if pair.fresh.passed else 'not pass'}: {pair.fresh.said[-1500:]}")
