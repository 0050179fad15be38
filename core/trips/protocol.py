"""What a round trip is to the pipeline, whatever its task (RTC paper, Sec. 3, Table 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from core.generation import Extraction, Fits, Prompt
from core.types import Item, Span, Verdict

Report = Callable[[str, int, int], None]
"""`(stage, done, total)`; raising from it cancels."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A description of x that a person wrote. `author` says where it stands, e.g. `commit` or `comment`."""

    author: str
    text: str


class Trip(Protocol):
    """One task: what x is, how y is asked for, how x^ is made from y and compared with x."""

    uninformative: str
    """The baseline utterance, eps."""

    def items(self, wanted: int, seed: int, known: Mapping[str, Item], report: Report) -> Iterator[Item]:
        """Yield items, dropped ones with their reason, until `wanted` are admitted or none is left.

        The order depends on `seed` alone. `known` holds items stored by an earlier part of the run, by key:
        they are yielded as they are, without judging them again.
        """

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        """What to tell the user about how many items were admitted. Raises ProjectError when none was."""

    def references(self, item: Item) -> Sequence[Reference]:
        """Descriptions by people: x^ is made from them too and shown beside the model's, never counted."""

    def forward_prompt(self, item: Item, fits: Fits) -> Prompt:
        """Ask for a description of x. Raises ModelError when x alone does not fit."""

    def backward_prompt(self, item: Item, description: str, fits: Fits) -> Prompt:
        """Ask for x^ from the description. Raises ModelError when the place alone does not fit."""

    def read_description(self, raw: str) -> Extraction:
        """Take y from a raw answer."""

    def read_code(self, item: Item, raw: str, prefill: str) -> Extraction:
        """Take x^ from a raw answer."""

    def recitation(self, item: Item, description: str) -> float:
        """Share of x that y repeats verbatim, 0..1."""

    def description_scores(self, item: Item, description: str) -> dict[str, float]:
        """How y compares with the first reference, by metric; empty where there is none."""

    def judge(self, item: Item, text: str) -> Verdict:
        """Judge x^ by the task's oracle. Thread-safe; never raises for what x^ does."""

    def scores(self, item: Item, text: str) -> dict[str, float]:
        """Similarity of x^ to x by every metric of the task."""


@runtime_checkable
class FillsGaps(Protocol):
    """What a trip has beside the others' when x stands in a file, so that a model may fill in the middle."""

    def infill_prompt(self, item: Item, description: str, fits: Fits) -> Prompt:
        """Ask for x^ as what is missing between two texts. Raises ModelError when the place alone does not fit."""


@runtime_checkable
class SelectsCode(Protocol):
    """What a trip has beside the others' when code that a person selects can be an x."""

    def select(self, path: str, span: Span) -> Item:
        """The x around `span`, admitted or with its reason. Raises UserError, ProjectError."""
