"""What a run could have drawn in one file, how likely each candidate was, and why it was not taken."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.core.types import CoverageMap, Region, SourceFile, Span


class Fate(StrEnum):
    """The fate of a candidate."""

    DRAWN = "drawn"
    UNCOVERED = "uncovered"
    OVERLAPS = "overlaps"
    LEFT = "left"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Considered:
    """One candidate."""

    region: Region
    fate: Fate
    chance: float  # its share of this file's weights (RTC paper, Sec. 4.2); 0 where it cannot be drawn or nobody knows
    why: str  # its fate in words


def considered(
    file: SourceFile, settings: RegionSettings, coverage: CoverageMap | None, items: Sequence[ItemRow]
) -> list[Considered]:
    """Return every candidate of `file` in source order; `items` are what the run drew in it.

    `coverage` None: nobody knows which of them tests cover. Raises ProjectError as `enumerate_candidates`.
    """
    # The parser takes half a second to load.
    from rtc_inspector.core.regions.candidates import enumerate_candidates, weigh
    from rtc_inspector.core.regions.coverage import cover

    candidates = enumerate_candidates(file, settings)
    known = coverage if coverage is not None else CoverageMap((), {}, {})
    covered = {region.span: region for region in weigh(cover(candidates, known, settings, file))}
    total = sum(region.weight for region in covered.values())
    drawn = {item.span: item for item in items if not item.extra}
    found = []
    for candidate in candidates:
        region = covered.get(candidate.span, candidate)
        fate, why = _fate(region, coverage is not None, drawn, settings)
        found.append(Considered(region, fate, region.weight / total if total else 0.0, why))
    return found


def _fate(region: Region, known: bool, drawn: dict[Span, ItemRow], settings: RegionSettings) -> tuple[Fate, str]:
    own = drawn.get(region.span)
    if own is not None:
        return Fate.DRAWN, "drawn" if own.admitted else f"drawn, then dropped: {own.reason}"
    if not known:
        return Fate.UNKNOWN, "whether tests cover it is not known here: the next run on these files tells"
    if not region.weight:
        some = "no test runs all of its lines" if settings.coverage != "any" else "no test runs any of its lines"
        return Fate.UNCOVERED, some
    other = next((item for span, item in drawn.items() if region.span.overlaps(span)), None)
    if other is not None and not settings.allow_overlap:
        return Fate.OVERLAPS, f"shares lines with {other.start_line}–{other.end_line}, drawn before"
    return Fate.LEFT, "enough regions came first"
