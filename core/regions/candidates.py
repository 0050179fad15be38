"""Candidates for regions: runs of statements in one block (RTC paper, Sec. 4.2)."""

from __future__ import annotations

from collections.abc import Iterator

from core.regions.blocks import Block, parse_blocks
from core.regions.lines import Lines
from core.settings import RegionSettings
from core.types import Region, SourceFile, Span


def enumerate_candidates(file: SourceFile, settings: RegionSettings) -> list[Region]:
    """Every run of consecutive statements whose text keeps the bounds on characters, both included.

    None for a test file. Raises ProjectError when the statements cannot be located exactly.
    """
    if file.is_test:
        return []
    lines = Lines(file.text)
    spans = (span for block in parse_blocks(file) for span in _runs(block, settings))
    return sorted((as_region(file, span, lines) for span in spans), key=lambda r: (r.span.start, r.span.end))


def as_region(file: SourceFile, span: Span, lines: Lines) -> Region:
    """The region at `span`, not yet asked about coverage."""
    return Region(
        path=file.path,
        span=span,
        start_line=lines.number(span.start),
        end_line=lines.number(span.end - 1),
        text=file.text[span.start : span.end],
    )


def _runs(block: Block, settings: RegionSettings) -> Iterator[Span]:
    for first, start in enumerate(block.statements):
        if first == 0 and block.docstring and not settings.allow_docstring_start:
            continue
        for last in block.statements[first:]:
            length = last.end - start.start
            if length > settings.max_characters:
                break
            if length >= settings.min_characters:
                yield Span(start.start, last.end)
