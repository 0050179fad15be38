"""Every metric of the audit that needs no model, for many pairs of programs and on several cores."""

from __future__ import annotations

import multiprocessing
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial

from rtc_inspector.core.metrics.codebleu import Gram, codebleu, crystalbleu
from rtc_inspector.core.metrics.dataflow import TooLargeError
from rtc_inspector.core.metrics.similarity import CODE_METRICS

Wanted = tuple[str, str, frozenset[str]]
"""A candidate, its reference, and the names of the metrics to compute."""

CRYSTAL = "crystalbleu"
PARTS = ("codebleu", "codebleu_zero", "codebleu_ngram", "codebleu_weighted", "codebleu_syntax", "codebleu_dataflow")
NAMES = (*CODE_METRICS, *PARTS, CRYSTAL)
_BATCH = 50
"""Pairs that a process is given at a time."""


def scores(wanted: Wanted, shared: Collection[Gram]) -> dict[str, float]:
    """The metrics that are asked for; those that are not defined for the pair are left out.

    `shared`: the n-grams that CrystalBLEU passes over.
    """
    candidate, reference, names = wanted
    found = {name: function(candidate, reference) for name, function in CODE_METRICS.items() if name in names}
    if CRYSTAL in names:
        found[CRYSTAL] = crystalbleu(candidate, reference, shared)
    if not names.isdisjoint(PARTS):
        with suppress(TooLargeError):
            found |= {name: value for name, value in codebleu(candidate, reference).items() if name in names}
    return found


def all_scores(
    pairs: Sequence[Wanted], shared: Collection[Gram], processes: int
) -> Iterator[tuple[int, list[dict[str, float]]]]:
    """The scores of all pairs, batch by batch as they are done: where a batch begins, and its scores.

    A few pairs are done at once: starting a process takes longer. Closing the iterator drops what has not begun.
    """
    batches = [(at, pairs[at : at + _BATCH]) for at in range(0, len(pairs), _BATCH)]
    if processes < 2 or len(batches) < 4:
        for at, batch in batches:
            yield at, _batch(batch, shared)
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        try:
            done = pool.map(partial(_batch, shared=shared), [batch for _, batch in batches])
            yield from zip((at for at, _ in batches), done, strict=True)
        finally:
            pool.shutdown(cancel_futures=True)


def _batch(pairs: Sequence[Wanted], shared: Collection[Gram]) -> list[dict[str, float]]:
    return [scores(pair, shared) for pair in pairs]
