"""How the machine's cores are shared between the model and those who judge beside it."""

from __future__ import annotations

from dataclasses import replace

from rtc_inspector.core.settings import OracleSettings, RunSettings

CORES_A_JUDGE = 8
"""One judge keeps up with a model on about this many cores: a verdict takes less than a second, a sample many."""
MOST_JUDGES = 8


def share_cores(settings: RunSettings, cores: int) -> RunSettings:
    """The settings with threads and workers filled in: what is given stays, and together they leave no core idle.

    ggml's threads spin, so that a judge on one of their cores would slow the model tenfold.
    """
    threads = settings.generation.threads
    oracle = with_workers(settings.oracle, cores - threads if threads is not None else cores // CORES_A_JUDGE)
    if threads is None:
        threads = max(1, cores - (oracle.workers or 1))
    return replace(settings, oracle=oracle, generation=replace(settings.generation, threads=threads))


def with_workers(settings: OracleSettings, cores: int) -> OracleSettings:
    """The settings with as many workers as there are cores for them, unless their number is given."""
    return settings if settings.workers else replace(settings, workers=min(max(1, cores), MOST_JUDGES))
