"""What an annotator gave since they began: to be undone, and how fast it went."""

from __future__ import annotations

from dataclasses import dataclass

from core.store.rows import LabelRow
from ui.panels.pace import Pace


@dataclass(frozen=True, slots=True)
class Before:
    """What a sample had before its label was given."""

    sample_id: int
    mode: str
    note: str


class Given:
    """Labels of one annotator on the samples of one queue."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._before: list[Before] = []
        self._pace = Pace()
        self._standing = ""

    @property
    def text(self) -> str:
        """How far the queue is done, and the pace."""
        return self._standing + self._pace.text()

    def set_progress(self, done: int, total: int) -> None:
        """How far the queue is done."""
        self._standing = f"{done:,} of {total:,} · "

    def add(self, sample_id: int, own: LabelRow | None, *, counts: bool) -> None:
        """A label was given where `own` was; one that takes a label back counts for nothing."""
        self._before.append(Before(sample_id, own.mode if own else "", own.note if own else ""))
        if counts:
            self._pace.add()

    def take_back(self) -> Before | None:
        """Undo the last one."""
        if not self._before:
            return None
        self._pace.take_back()
        return self._before.pop()

    def forget(self) -> None:
        """Somebody else undoes nothing of what was said before, and has a pace and a count of their own."""
        self._before.clear()
        self._pace = Pace()

    def __bool__(self) -> bool:
        """Whether there is anything to undo."""
        return bool(self._before)
