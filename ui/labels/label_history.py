"""What the history of a sample's labels comes to: whose label holds, what was decided, and how it is told."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from core.store.rows import LabelRow
from core.types import LabelKind
from ui.labels.opinions import Opinion

NameOf = Callable[[str], str]
"""The name of an error mode, by id."""


def is_decision(label: LabelRow) -> bool:
    """Whether it decides between annotators, and is not one's own label."""
    return label.kind == LabelKind.ADJUDICATION


def own_label(labels: Sequence[LabelRow], annotator: str) -> LabelRow | None:
    """What an annotator said last."""
    return next((each for each in reversed(labels) if each.annotator == annotator and not is_decision(each)), None)


def decision(labels: Sequence[LabelRow]) -> LabelRow | None:
    """What was decided last."""
    return next((each for each in reversed(labels) if is_decision(each)), None)


def held_labels(labels: Sequence[LabelRow], shuffle: int | None = None) -> list[LabelRow]:
    """The label of each annotator that holds; `shuffle` seeds an order that tells nothing of who is who."""
    last = {each.annotator: each for each in labels if not is_decision(each)}
    held = [each for each in last.values() if each.mode]
    if shuffle is not None:
        random.Random(shuffle).shuffle(held)
    return held


def opinions(
    held: Sequence[LabelRow], decided: LabelRow | None, keys: Sequence[str], name_of: NameOf, *, blind: bool
) -> list[Opinion]:
    """Labels as cards; `blind` leaves out who gave them, and when."""
    return [
        Opinion(
            annotator=f"Annotator {place + 1}" if blind else each.annotator or "unnamed",
            mode=name_of(each.mode),
            note=each.note,
            made_at="" if blind else minute(each.made_at),
            key=keys[place] if place < len(keys) else "",
            accepted=decided is not None and decided.mode == each.mode,
        )
        for place, each in enumerate(held)
    ]


def told(entry: LabelRow, name_of: NameOf) -> str:
    """One entry of the history in words."""
    said = name_of(entry.mode) if entry.mode else "label taken back"
    who = f"{entry.annotator or 'unnamed'}{' decided' if is_decision(entry) else ''}"
    note = f": {entry.note}" if entry.note else ""
    return f"{who} · {said}{note} · {minute(entry.made_at)}"


def minute(time: str) -> str:
    """A stored time, to the minute."""
    return time[:16].replace("T", " ")
