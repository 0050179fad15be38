"""SynthesisRTC: region -> description -> region again (RTC paper, Sec. 3.1 and 4.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.models.prompts import wording
from rtc_inspector.core.regions.admission import NO_EFFECT, admit
from rtc_inspector.core.regions.candidates import draw
from rtc_inspector.core.regions.coverage import keep_coverage
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.source.codebase import content_fingerprint
from rtc_inspector.core.trips.judged import Judged, open_judged, selected_item
from rtc_inspector.core.trips.pool import draw_items
from rtc_inspector.core.trips.protocol import Opened
from rtc_inspector.core.trips.roundtrip import InFile
from rtc_inspector.core.types import Codebase, Item, Notify, Region, Report, Span
from rtc_inspector.core.waiting import in_thread

if TYPE_CHECKING:
    from rtc_inspector.core.regions.candidates import Ahead

SAFE_SHARE = 0.2
"""Of the regions that can be drawn without overlap: beyond it the drawn ones are shorter than the rest by so much that
intervals miss the project's figure too often (docs/sampling.md)."""


class SynthesisTrip(InFile):
    """x is a run of statements, y its description, sim is that all covering tests pass."""

    def __init__(self, judged: Judged, settings: RunSettings, notify: Notify, ahead: Sequence[Future[Ahead]]) -> None:
        """`ahead`: candidates that are looked for since the project was opened."""
        super().__init__(judged, settings)
        self._ahead = ahead
        self._region = settings.region
        self._notify = notify
        self._regions: Sequence[Region] = ()
        self._seed = 0
        self._dropped: list[Item] = []

    def items(self, wanted: int, seed: int, stored: Mapping[str, Item], report: Report) -> Iterator[Item]:
        """Draw regions by weight and admit those whose deletion the tests notice (Sec. 4.2)."""
        from rtc_inspector.core.regions.candidates import find_regions

        judged, ahead = self.judged, self._ahead[0].result()
        found = find_regions(judged.codebase.files, judged.suite.coverage, self._region, report, ahead.of)
        self._regions, self._seed = found.regions, seed
        for problem in found.problems:
            self._notify(problem)

        def item_of(region: Region) -> Item:
            key = f"{region.path}:{region.span.start}-{region.span.end}"
            return stored.get(key) or admit(region, judged.files[region.path], judged.oracle)

        drawn = iter(draw(found.regions, seed, self._region.allow_overlap))
        if self._region.short_first:
            drawn = chain(sorted(islice(drawn, wanted), key=lambda region: len(region.text)), drawn)
        workers = self.settings.oracle.workers
        yield from draw_items(drawn, item_of, wanted, report, "admitting regions", self._dropped, workers)

    @property
    def available(self) -> int:
        """Return how many regions can be drawn: without overlap, where none is allowed."""
        return len(self._regions) if self._region.allow_overlap else self._disjoint()

    def _disjoint(self) -> int:
        """Return how many regions go together, which depends on the order in which they are drawn."""
        return sum(1 for _ in draw(self._regions, self._seed, False))

    def select(self, path: str, span: Span) -> Item:
        return selected_item(self.judged, path, span)

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        """Say when too few regions were admitted, or too large a share drawn. Raises ProjectError when there is none.

        Sec. 4.2: the paper sets aside projects with fewer than 80 regions.
        """
        if wanted and not self._regions:
            least, most = self._region.min_characters, self._region.max_characters
            raise ProjectError(
                f"This project has no region to draw: its tests run no statements of {least} to {most} characters.",
                "Widen --min-characters and --max-characters, or add tests that run more of the code.",
            )
        if wanted and not admitted:
            raise ProjectError(
                f"No region of this project was admitted: {_most_frequent([item.reason for item in self._dropped])}.",
                "Add tests that check what the code does, or widen --min-characters and --max-characters; "
                "`rtc-inspector sample` lists the regions that were dropped and why.",
            )
        notices = []
        drawn, disjoint = admitted + len(self._dropped), 0 if self._region.allow_overlap else self._disjoint()
        if drawn > SAFE_SHARE * disjoint > 0:
            notices.append(
                f"{drawn} of about {disjoint} regions that do not overlap were drawn. Beyond {SAFE_SHARE:.0%} "
                "those that are left are short, and intervals promise too much: allow overlap, or draw fewer."
            )
        if admitted < min(wanted, 80):
            few = f"Only {admitted} of {wanted} regions could be admitted"
            notices.append(f"{few}; the paper leaves out projects with fewer than 80.")
        return notices


def _most_frequent(reasons: Sequence[str]) -> str:
    """Return what holds for most of the regions that were dropped, in the words of one of them."""
    if not reasons:
        return "none was drawn"
    kinds = [reason.partition(":")[0] for reason in reasons]
    kind, count = Counter(kinds).most_common(1)[0]
    if kind == NO_EFFECT:
        most = "the tests notice the deletion of none of them"
        return most if count == len(kinds) else f"the tests do not notice the deletion of {count} of {len(kinds)}"
    return f"of {count} of {len(kinds)} drawn, {reasons[kinds.index(kind)].rstrip('.')}"


def _look_ahead(codebase: Codebase, settings: RunSettings) -> Ahead:
    from rtc_inspector.core.regions.candidates import Ahead  # the parser takes half a second to load

    return Ahead(codebase.files, settings.region)


def open_synthesis(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report) -> Opened:
    """Open the project and run its own tests. Raises ProjectError, TargetError, SandboxError."""
    ahead: list[Future[Ahead]] = []

    def look(codebase: Codebase) -> None:
        ahead.append(in_thread(lambda: _look_ahead(codebase, settings)))

    judged = open_judged(stack, project, settings.oracle, notify, report, python_only=False, meanwhile=look)
    fingerprint = content_fingerprint(judged.codebase)
    in_thread(lambda: keep_coverage(fingerprint, judged.suite.coverage))
    settings = replace(settings, prompt_version=wording().version)
    return judged.opened(lambda settings: SynthesisTrip(judged, settings, notify, ahead), settings, fingerprint)
