"""Every score of a pair of texts: what it is called, what it says, and what it can be. Plain data, quick to import.

A metric is computed by the trip or the analysis that needs it; whatever shows one asks here. A stored metric that is
not named here is shown under its own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Metric:
    """A number for a sample against a reference: the item's own text, or another sample.

    Attributes:
        name: as it is stored.
        title: where there is room; `short` is for the head of a column.
        meaning: what it says, without a subject.
        higher_is_better: None where neither is better.
        yes_or_no: it is 0 or 1.
        usual: shown even before anything is scored.
    """

    name: str
    title: str
    short: str
    meaning: str
    lowest: float = 0.0
    highest: float = 1.0
    higher_is_better: bool | None = True
    yes_or_no: bool = False
    usual: bool = False


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            Metric(
                "exact_match", "Exact match", "Exact", "the same text, white space at line ends aside",
                yes_or_no=True, usual=True,
            ),
            Metric(
                "exact_match_strict", "Exact match, white space too", "Exact, strict", "the same text, sign by sign",
                yes_or_no=True,
            ),
            Metric(
                "same_ast", "Same syntax tree", "Same tree", "the same syntax tree: layout and comments aside",
                yes_or_no=True, usual=True,
            ),
            Metric(
                "edit_sim", "Likeness by character edits (EDIT-SIM)", "EDIT-SIM",
                "1 − edit distance ÷ length of the longer text, by character",
                usual=True,
            ),
            Metric(
                "bleu", "Likeness by token runs (BLEU)", "BLEU",
                "shared runs of up to four tokens, short answers penalised", usual=True,
            ),
            Metric(
                "chrf", "Likeness by character runs (chrF)", "chrF",
                "shared runs of up to six characters, precision and recall", usual=True,
            ),
            Metric(
                "unchanged", "Old code unchanged", "Old code", "the old code came back unchanged",
                higher_is_better=False, yes_or_no=True,
            ),
            Metric(
                "description_bleu", "BLEU of the description", "BLEU (words)", "words shared with what a person wrote"
            ),
        )
    }
)  # fmt: skip


def metric(name: str) -> Metric:
    """The metric of that name; one that nobody has described stands under its own name."""
    plain = name.replace("_", " ")
    return METRICS.get(name) or Metric(name, plain, plain, "a score that this version does not describe")
