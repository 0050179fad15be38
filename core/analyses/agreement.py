"""How well the annotators of stored labels agree beyond chance, with intervals: overall, mode by mode, pair by pair.

Cohen's kappa and Krippendorff's alpha are 1 - observed / expected disagreement over nominal labels: two different
labels are simply different. Intervals are percentile bootstraps over samples. A coefficient is a function of sums over
samples, and samples with the same labels add the same to those sums; so a resample is drawn as counts of the distinct
ones.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rtc_inspector.core.store.rows import LabelRow
from rtc_inspector.core.types import Estimate

Floats = NDArray[np.float64]
Disagreement = Callable[[Floats], tuple[Floats, Floats]]
"""Observed and expected disagreement from summed features, one row a resample."""
U = TypeVar("U", bound=Hashable)
RESAMPLES = 10_000


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> Estimate:
    """Return Cohen's (1960) kappa of two annotators: `pairs` holds the labels of samples that both labelled."""
    names = sorted({name for pair in pairs for name in pair})
    size = len(names)

    def features(pair: tuple[str, str]) -> Floats:
        row = np.zeros(2 * size + 1)
        row[names.index(pair[0])] = row[size + names.index(pair[1])] = 1
        row[-1] = pair[0] != pair[1]
        return row

    def disagreement(sums: Floats) -> tuple[Floats, Floats]:
        first, second = sums[:, :size], sums[:, size:-1]
        total = first.sum(axis=1)
        return sums[:, -1] / total, 1 - (first * second).sum(axis=1) / total**2

    return _estimate(list(pairs), features, disagreement)


def krippendorff_alpha(samples: Sequence[Sequence[str]]) -> Estimate:
    """Return Krippendorff's nominal alpha of any number of annotators: `samples` holds the labels of each sample.

    Labels may be missing; a sample with fewer than two labels says nothing and is left out.
    """
    units = [tuple(sorted(labels)) for labels in samples if len(labels) > 1]
    names = sorted({name for unit in units for name in unit})

    def features(unit: tuple[str, ...]) -> Floats:
        counts = np.array([unit.count(name) for name in names], dtype=np.float64)
        differing = (counts * (len(unit) - counts)).sum() / (len(unit) - 1)
        return np.append(counts, differing)

    def disagreement(sums: Floats) -> tuple[Floats, Floats]:
        counts = sums[:, :-1]
        total = counts.sum(axis=1)
        return sums[:, -1] / total, (total**2 - (counts**2).sum(axis=1)) / (total * (total - 1))

    return _estimate(units, features, disagreement)


def _estimate(units: Sequence[U], features: Callable[[U], Floats], disagreement: Disagreement) -> Estimate:
    """Return one minus the ratio of the two disagreements, bounded by resampling units; None where undefined.

    The bounds are None as well where resampling changes nothing: an annotator who gave one label throughout has a kappa
    of 0 whatever the samples, which is no certainty.
    """
    if not units:
        return Estimate(None, None, None, 0)
    distinct = Counter(units)
    table = np.array([features(unit) for unit in distinct])
    counts = np.array(list(distinct.values()))
    observed, expected = (float(part[0]) for part in disagreement((counts @ table)[None, :]))
    if expected <= 0:
        return Estimate(None, None, None, len(units))
    value = 1 - observed / expected
    if observed == 0:
        # A bootstrap would claim certainty. With probability 0.975 they differ on at most 1 - 0.025^(1 / samples) of
        # all samples: Clopper-Pearson for none.
        differing = 1.0 - float(0.025 ** (1 / len(units)))
        return Estimate(value, max(1.0 - differing / expected, -1.0), 1.0, len(units))
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(units), counts / len(units), size=RESAMPLES)
    seen, chance = disagreement(drawn @ table)
    values = 1 - seen[chance > 0] / chance[chance > 0]
    low, high = (float(bound) for bound in np.quantile(values, [0.025, 0.975]))
    if high - low < 1e-12:
        return Estimate(value, None, None, len(units))
    return Estimate(value, min(low, value), max(high, value), len(units))


KAPPA, ALPHA = "Cohen's kappa", "Krippendorff's alpha"
Modes = Mapping[str, str]
"""Annotator to the modes given to one sample: their ids in alphabetical order, with a space between them."""


@dataclass(frozen=True, slots=True)
class ModeAgreement:
    """One mode, given or not. `times`: labels with it, on the samples that are compared."""

    mode: str
    times: int
    estimate: Estimate


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two annotators on the samples both labelled."""

    first: str
    second: str
    same: float | None  # share of those samples on which they gave the same modes, all of them; None without any
    estimate: Estimate
    # how many samples got which modes from the first and which from the second, in that order; largest counts first,
    # those that never met left out
    confusion: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Agreement:
    """The result of `measure`."""

    annotators: tuple[tuple[str, int], ...]  # with the number of samples each has labelled, by name
    coefficient: str  # KAPPA for two annotators, ALPHA for more; empty for fewer
    overall: Estimate
    samples: int  # that two or more have labelled; `disputed` of them carry different modes
    disputed: int
    modes: tuple[ModeAgreement, ...]
    pairs: tuple[PairAgreement, ...]  # of annotators, by Cohen's kappa
    # share of all pairs of labels on one sample that name the same modes (percent agreement); None without any
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
    counts = Counter(label.annotator for label in labels)
    names = sorted(counts)
    compared = [each for each in by_sample.values() if len(each) > 1]
    modes = Counter(mode for each in compared for given in each.values() for mode in given.split())
    return Agreement(
        annotators=tuple((name, counts[name]) for name in names),
        coefficient=KAPPA if len(names) == 2 else ALPHA if len(names) > 2 else "",
        overall=_overall(compared, names),
        samples=len(compared),
        disputed=sum(len(set(each.values())) > 1 for each in compared),
        modes=tuple(
            ModeAgreement(mode, times, _overall([_with_or_without(mode, each) for each in compared], names))
            for mode, times in modes.most_common()
        ),
        pairs=tuple(_pair(compared, *pair) for pair in combinations(names, 2)),
        same=_same([pair for each in compared for pair in combinations(each.values(), 2)]),
    )


def _same(pairs: Sequence[tuple[str, str]]) -> float | None:
    return sum(one == other for one, other in pairs) / len(pairs) if pairs else None


def _overall(compared: Sequence[Modes], names: Sequence[str]) -> Estimate:
    if len(names) == 2:
        return cohen_kappa([(each[names[0]], each[names[1]]) for each in compared])
    return krippendorff_alpha([list(each.values()) for each in compared])


def _with_or_without(mode: str, modes: Modes) -> Modes:
    return {name: mode if mode in given.split() else "" for name, given in modes.items()}


def _pair(compared: Sequence[Modes], first: str, second: str) -> PairAgreement:
    both = [(each[first], each[second]) for each in compared if first in each and second in each]
    confusion = tuple((*met, times) for met, times in Counter(both).most_common())
    return PairAgreement(first, second, _same(both), cohen_kappa(both), confusion)


def confusion_table(pair: PairAgreement) -> tuple[tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Return the modes that either gave, the most frequent first, and a row of counts for each of the first's."""
    seen: Counter[str] = Counter()
    for one, other, times in pair.confusion:
        seen[one] += times
        seen[other] += times
    modes = tuple(mode for mode, _ in seen.most_common())
    counts = {(one, other): times for one, other, times in pair.confusion}
    return modes, tuple(tuple(counts.get((one, other), 0) for other in modes) for one in modes)
