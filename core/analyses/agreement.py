"""How well the annotators of stored labels agree: overall, mode by mode, and pair by pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rtc_inspector.core.metrics.agreement import Estimate, cohen_kappa, krippendorff_alpha
from rtc_inspector.core.store.rows import LabelRow

KAPPA, ALPHA = "Cohen's kappa", "Krippendorff's alpha"
Said = Mapping[str, str]
"""Annotator to the modes given to one sample: their ids in alphabetical order, with a space between them."""


@dataclass(frozen=True, slots=True)
class ModeAgreement:
    """One mode, given or not. `times`: labels with it, on the samples that are compared."""

    mode: str
    times: int
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two annotators on the samples both labelled.

    Attributes:
        same: share of those samples on which they gave the same modes, all of them; None without any.
        confusion: how many samples got which modes from the first and which from the second, in that order; largest
            counts first, those that never met left out.
    """

    first: str
    second: str
    same: float | None
    estimate: Estimate
    confusion: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Agreement:
    """What `measure` finds.

    Attributes:
        annotators: with the number of samples each has labelled, by name.
        coefficient: KAPPA for two annotators, ALPHA for more; empty for fewer.
        samples: that two or more have labelled; `disputed` of them carry different modes.
        same: share of all pairs of labels on one sample that name the same modes (percent agreement); None without any.
        pairs: of annotators, by Cohen's kappa.
    """

    annotators: tuple[tuple[str, int], ...]
    coefficient: str
    overall: Estimate
    samples: int
    disputed: int
    modes: tuple[ModeAgreement, ...]
    pairs: tuple[PairAgreement, ...]
    same: float | None = None


def measure(labels: Sequence[LabelRow]) -> Agreement:
    """Measure the agreement in the labels that hold, one a sample and annotator.

    A label may have several modes. Overall two labels are the same when all their modes are; mode by mode each label
    says yes or no to that one mode. Notes alone and adjudications are no part of it.
    """
    by_sample: dict[int, dict[str, str]] = {}
    labels = [label for label in labels if label.modes]
    for label in labels:
        by_sample.setdefault(label.sample_id, {})[label.annotator] = " ".join(sorted(label.modes))
    said = list(by_sample.values())
    counts = Counter(label.annotator for label in labels)
    names = sorted(counts)
    compared = [each for each in said if len(each) > 1]
    modes = Counter(mode for each in compared for given in each.values() for mode in given.split())
    return Agreement(
        annotators=tuple((name, counts[name]) for name in names),
        coefficient=KAPPA if len(names) == 2 else ALPHA if len(names) > 2 else "",
        overall=_overall(compared, names),
        samples=len(compared),
        disputed=sum(len(set(each.values())) > 1 for each in compared),
        modes=tuple(
            ModeAgreement(mode, times, _overall(_against_rest(compared, mode), names))
            for mode, times in modes.most_common()
        ),
        pairs=tuple(_pair(compared, *pair) for pair in combinations(names, 2)),
        same=_same([pair for each in compared for pair in combinations(each.values(), 2)]),
    )


def _same(pairs: Sequence[tuple[str, str]]) -> float | None:
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else None


def _overall(compared: Sequence[Said], names: Sequence[str]) -> Estimate:
    if len(names) == 2:
        return cohen_kappa([(each[names[0]], each[names[1]]) for each in compared])
    return krippendorff_alpha([list(each.values()) for each in compared])


def _against_rest(compared: Sequence[Said], mode: str) -> list[Said]:
    """The same labels with only two values: with this mode, or without it."""
    return [{name: mode if mode in given.split() else "" for name, given in each.items()} for each in compared]


def _pair(compared: Sequence[Said], first: str, second: str) -> PairAgreement:
    both = [(each[first], each[second]) for each in compared if first in each and second in each]
    confusion = tuple((*met, times) for met, times in Counter(both).most_common())
    return PairAgreement(first, second, _same(both), cohen_kappa(both), confusion)


def confusion_table(pair: PairAgreement) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """The modes that either annotator gave, the most frequent first, and a row of counts for each of the first's."""
    seen: Counter[str] = Counter()
    for one, other, times in pair.confusion:
        seen[one] += times
        seen[other] += times
    modes = tuple(mode for mode, _ in seen.most_common())
    counts = {(one, other): times for one, other, times in pair.confusion}
    return modes, tuple(tuple(counts.get((one, other), 0) for other in modes) for one in modes)
