"""A guided look at a run: a pass that the description made possible, one without it, and an instructive failure.

What is pointed at is found in the run at hand. What a run does not hold is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from rtc_inspector.core.comparison.comparison import bounded
from rtc_inspector.core.kinds import counted, noun, task
from rtc_inspector.core.store.rows import ItemRow, RunRow, SampleRow
from rtc_inspector.core.types import Form, Outcome
from rtc_inspector.ui.presenters import presenter, recites
from rtc_inspector.ui.reading.inspection import Inspection, LookedAt
from rtc_inspector.ui.shell.bars import NoticeText
from rtc_inspector.ui.shell.welcome import Step, Tour
from rtc_inspector.ui.window.browsing import Browsing
from rtc_inspector.ui.window.preferences import Preferences
from rtc_inspector.ui.window.window_parts import WindowParts

if TYPE_CHECKING:  # a window opens without it
    from rtc_inspector.core.store.reader import Reader

NOTHING = "This run shows nothing to point at yet: no reconstruction of it was judged."


@dataclass(frozen=True, slots=True)
class Highlight:
    """One sample worth a look. `fails`: what there is to learn stands in the tabs below the code."""

    title: str
    text: str
    item: ItemRow
    sample: SampleRow
    fails: bool = False


def highlights(run_id: int, reader: Reader) -> tuple[RunRow, list[Highlight]]:
    """Return the run, and what is worth a look in it, at most three samples."""
    judged = [item for item in reader.items(run_id) if item.admitted and not item.extra and item.tally]
    found = (_made_possible(reader, judged), _without(reader, judged), _failure(reader, judged))
    return reader.run(run_id), [each for each in found if each is not None]


def _made_possible(reader: Reader, items: Sequence[ItemRow]) -> Highlight | None:
    """Return a passing reconstruction at the largest lift, or None; copies of what stands there come last."""
    lifted = [item for item in items if (_gain(item) or 0.0) > 0]
    lifted.sort(key=lambda item: (item.copied, -(_gain(item) or 0.0)))
    for item, sample in _codes(reader, lifted, Outcome.PASS):
        text = (
            f"{_place(item)}: written from the model's own description, {item.tally} pass the tests. "
            f"Without a description the share is {_baseline(item):.2f}. The difference is the lift."
        )
        return Highlight("A pass that the description made possible", text, item, sample)
    return None


def _without(reader: Reader, items: Sequence[ItemRow]) -> Highlight | None:
    """Return a pass where the baseline passes as often, or None: the code around tells what is missing."""
    candidates = [item for item in items if item.headline and (_gain(item) or 0.0) <= 0 and _baseline(item)]
    candidates.sort(key=lambda item: (-_baseline(item), -(item.headline or 0.0)))
    for item, sample in _codes(reader, candidates, Outcome.PASS):
        text = (
            f"{_place(item)}: {item.tally} pass, without any description a share of {_baseline(item):.2f}. "
            "The code around tells what is missing: a pass says little about the description."
        )
        return Highlight("A pass without the description", text, item, sample)
    return None


def _failure(reader: Reader, items: Sequence[ItemRow]) -> Highlight | None:
    """Return the code that runs, fails a test, and comes nearest to the original."""
    failing = list(_codes(reader, [item for item in items if not item.headline], Outcome.FAIL))
    if not failing:
        return None
    item, sample = max(failing, key=lambda pair: pair[1].scores.get("edit_sim", 0.0))
    failed = counted(sample.verdict.tests_failed, "test") if sample.verdict else "a test"
    text = (
        f"{_place(item)}: {item.tally} pass. This one comes nearest to the original and fails {failed}. "
        "The diff shows what the description lost, the tab beside it which test noticed."
    )
    return Highlight("A failure to learn from", text, item, sample, fails=True)


def _gain(item: ItemRow) -> float | None:
    difference = task(item.task).difference
    return item.measures.get(difference.name) if difference and difference.less else None


def _baseline(item: ItemRow) -> float:
    return (item.headline or 0.0) - (_gain(item) or 0.0)


def _codes(reader: Reader, items: Sequence[ItemRow], wanted: Outcome) -> Iterator[tuple[ItemRow, SampleRow]]:
    """Yield judged code from descriptions of the model's own that do not recite the original."""
    for item in items:
        samples = reader.samples(item.id)
        words = {s.id for s in samples if s.form == Form.TEXT and s.author == "model" and not recites(s)}
        for sample in samples:
            if sample.parent_id in words and sample.verdict is not None and sample.verdict.outcome == wanted:
                yield item, sample


def _place(item: ItemRow) -> str:
    return presenter(item).heading(item)


class Guide(QObject):
    """Shows what a run holds, step by step."""

    def __init__(
        self, parts: WindowParts, inspection: Inspection, browsing: Browsing, preferences: Preferences
    ) -> None:
        super().__init__(parts)
        self._parts, self._inspection, self._browsing, self._preferences = parts, inspection, browsing, preferences
        self._awaits = False
        self._waiting: list[Step] = []
        self._tour: Tour | None = None
        preferences.tour_ended.connect(self._show_waiting)
        inspection.moved.connect(self._move)

    def ask(self) -> None:
        run = self._inspection.run
        if run is not None:
            self._inspection.ask("guide", partial(highlights, run.id), partial(self._begin, asked=True))

    def _move(self, before: LookedAt, now: LookedAt) -> None:
        if not before.same_run(now):
            self._inspection.forget("guide")
            self._waiting = []
            if self._tour is not None and self._tour is self._preferences.tour:
                self._tour.end()

    def await_end(self) -> None:
        self._awaits = True

    def note_end(self, run_id: int | None) -> None:
        if self._awaits and run_id is not None:
            self._awaits = False
            if run_id != self._inspection.looked_at.run:
                return  # the user looks at something else by now
            self._inspection.ask("guide", partial(highlights, run_id), partial(self._begin, asked=False))

    def _begin(self, found: tuple[RunRow, list[Highlight]], asked: bool) -> None:
        run, told = found
        if not told:
            if asked:
                self._parts.notices.say(NoticeText(NOTHING))
            return
        self._waiting = [self._step(each) for each in told] + [self._whole(run)]
        # The tour that is on goes first; its end shows what waits.
        if self._preferences.tour is None:
            self._show_waiting()

    def _show_waiting(self) -> None:
        steps, self._waiting = self._waiting, []
        if steps:
            self._preferences.show_steps(steps)
            self._tour = self._preferences.tour

    def _step(self, shown: Highlight) -> Step:
        parts = self._parts
        about: QWidget = parts.tabs if shown.fails else parts.roundtrip

        def point() -> None:
            parts.unfold_around(about)
            if shown.fails:
                parts.tabs.setCurrentWidget(parts.diff)
            self._browsing.choose(shown.item.id, shown.sample.id)

        return Step(about, shown.title, shown.text, point)

    def _whole(self, run: RunRow) -> Step:
        kind, n = task(run.task), run.headline.n
        text = f"Over {counted(n, noun(run.task))}: {kind.measure(kind.headline).title} {bounded(run.headline, '')}"
        if kind.difference and kind.difference.less:
            text += f", {kind.difference.title} {bounded(run.secondary)}. "
            text += "Where its bounds hold 0, it is not shown that descriptions help"
        text += ". Bounds say what other draws from this project could have given."
        return Step(self._parts.status, "What it comes to", text)
