"""Which analyses there are, and which of them apply to a run."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from rtc_inspector.core.analyses import audit, benchmark, chain, directive, marginals, ranking, scores
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.figures import Figure
from rtc_inspector.core.kinds import task
from rtc_inspector.core.store.reader import Reader

Analysis = Callable[[Reader, Sequence[int], Mapping[str, str]], Iterable[Figure]]
"""Makes figures of runs, at least one; what is chosen stands under the name of its `Choice`, whose first is usual."""
ANALYSES: Mapping[str, Analysis] = {
    "ranking": ranking.figures,
    "chain": chain.figures,
    "benchmark": benchmark.figures,
    "directive": directive.figures,
    "marginals": marginals.figures,
    "scores": scores.figures,
    "audit": audit.figures,
}
SCORED = frozenset({"audit"})
"""Analyses of runs of any kind together, whose code must have been scored (`core.run.scoring`)."""


def analyse(
    reader: Reader, run_ids: Sequence[int], only: str | None = None, chosen: Mapping[str, str] = MappingProxyType({})
) -> list[Figure]:
    """Return the figures of every analysis that a run's kind names, or of `only` that one; one kind's runs go together.

    A run that is one of a series is ranked with the others of its series, whatever its kind.

    Raises UserError: no such analysis, a run named twice. StoreError: an unknown run.
    """
    for run_id in run_ids:
        if run_ids.count(run_id) > 1:
            raise UserError(f"Run {run_id} is named more than once.", "Name each run once.")
    if only is not None and only not in ANALYSES:
        raise UserError(f"There is no analysis {only!r}.", f"Name one of these: {', '.join(ANALYSES)}.")
    if only in SCORED:
        return list(ANALYSES[only](reader, run_ids, chosen))
    found: list[Figure] = []
    by_kind: dict[str, list[int]] = {}
    for run_id in run_ids:
        by_kind.setdefault(reader.run(run_id).task, []).append(run_id)
    for kind, ids in by_kind.items():
        series = len(ids) == 1 and len(ranking.ranked_with(reader, ids)) > 1
        names = [only] if only else [*task(kind).analyses, *(["ranking"] if series else [])]
        found += [figure for name in names for figure in ANALYSES[name](reader, ids, chosen)]
    return found
