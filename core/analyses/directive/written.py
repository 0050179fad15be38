"""The programs that runs on directives wrote, as tests and similarity judge them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rtc_inspector.core.figures import Link
from rtc_inspector.core.metrics.roc import Scored
from rtc_inspector.core.settings import DirectiveSettings
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import ItemRow, RunRow
from rtc_inspector.core.trips.programs import Program, programs


@dataclass(frozen=True)
class Made:
    """One program with the directive it was written for."""

    item: ItemRow
    program: Program

    @property
    def link(self) -> Link:
        """Leads to the first of the equal programs."""
        return Link(self.item.run_id, self.item.id, self.program.rows[0].id)


@dataclass(frozen=True)
class Written:
    """The programs of one run. `summaries`: how many each has."""

    run: RunRow
    settings: DirectiveSettings
    summaries: int
    items: tuple[ItemRow, ...]
    every: tuple[Made, ...]

    @property
    def embedder(self) -> str:
        """The name of the model whose cosines these are."""
        return self.settings.embedder_name or "the embedding model"

    @property
    def judged_twice(self) -> list[tuple[Made, bool, bool]]:
        """The programs of which both judges say something: whether each passes, and whether it means the directive."""
        said = ((made, made.program.passes, made.program.similar(self.settings.threshold)) for made in self.every)
        return [(made, passes, similar) for made, passes, similar in said if passes is not None and similar is not None]

    def scored(self, value: Callable[[Program], float | None] = lambda program: program.cosine) -> list[list[Scored]]:
        """Cosine and pass of each judged program that has both, one list a directive."""
        by_item: dict[int, list[Scored]] = {}
        for made in self.every:
            number, passes = value(made.program), made.program.passes
            if number is not None and passes is not None:
                by_item.setdefault(made.item.id, []).append((number, passes))
        return list(by_item.values())


def read(reader: Reader, run_id: int) -> Written:
    """Return what a run wrote, without what a person tried by hand."""
    settings = reader.settings(run_id)
    items = tuple(item for item in reader.items(run_id) if item.admitted and not item.extra)
    every = tuple(Made(item, program) for item in items for program in programs(reader.samples(item.id)))
    return Written(reader.run(run_id), settings.directive, settings.forward_samples, items, every)
