"""Candidates for regions: runs of statements in one block (RTC paper, Sec. 4.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.regions.blocks import Block, parse_blocks
from rtc_inspector.core.regions.coverage import cover
from rtc_inspector.core.regions.sampling import weigh
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.syntax import Lines
from rtc_inspector.core.types import CoverageMap, Region, Report, SourceFile, Span

_BARE = re.compile(r"[ \t\f]*(?:#.*)?")  # a line without code; `.` stops at \n only, so lines come without their end


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


# --------------------------------------------------------------------------- of a whole project


@dataclass(frozen=True, slots=True)
class Found:
    """What a project has to sample from.

    Attributes:
        regions: covered and weighed.
        problems: a sentence for each file that could not be taken.
    """

    regions: tuple[Region, ...]
    problems: tuple[str, ...]


def find_regions(
    files: Sequence[SourceFile],
    coverage: CoverageMap,
    settings: RegionSettings,
    progress: Report,
) -> Found:
    """Candidates of every code file some line of which ran; files that no test reaches are not even parsed.

    `progress(stage, done, total)` is called before each file; raising from it cancels.
    """
    ran = coverage.lines.keys() | coverage.import_lines.keys()
    code = [file for file in files if file.path in ran and not file.is_test]
    regions: list[Region] = []
    problems: list[str] = []
    for done, file in enumerate(code):
        progress("finding regions", done, len(code))
        try:
            regions += cover(enumerate_candidates(file, settings), coverage, settings, file)
        except ProjectError as error:
            problems.append(error.problem)
    return Found(tuple(weigh(regions)), tuple(problems))


# --------------------------------------------------------------------------- of a selection


def snap(file: SourceFile, span: Span) -> Region | None:
    """The smallest run of whole statements of one block that covers a selection, of whatever length.

    An empty selection means the line it stands on. Blank lines and comments at the ends of the selection do not
    count; None when nothing else was selected. Raises ProjectError when the file's statements cannot be located.
    """
    lines = Lines(file.text)
    wanted = _code_in(file.text, span, lines)
    if wanted is None:
        return None
    # A selection inside an `if` lies in its block and, as a part of the whole statement, in the one around it.
    runs = [run for block in parse_blocks(file) if (run := _covering(block, wanted, lines))]
    return as_region(file, min(runs, key=len), lines) if runs else None


def _code_in(text: str, span: Span, lines: Lines) -> Span | None:
    """The selection without the blank and comment lines, and the blanks, at its ends."""
    start, end = max(0, min(span.start, len(text))), max(0, min(span.end, len(text)))
    if start == end:
        start, end = lines.bounds(lines.number(start))
    pieces = []
    for number in range(lines.number(start), lines.number(max(start, end - 1)) + 1):
        first, last = lines.bounds(number)
        piece = text[max(first, start) : min(last, end)]
        if piece.strip() and not _BARE.fullmatch(text[first:last]):
            left = max(first, start) + len(piece) - len(piece.lstrip())
            pieces.append(Span(left, left + len(piece.strip())))
    return Span(pieces[0].start, pieces[-1].end) if pieces else None


def _covering(block: Block, wanted: Span, lines: Lines) -> Span | None:
    """The block's statements that the selection touches, if their lines hold all of it."""
    touched = [span for span in block.statements if _reach(span, lines).overlaps(wanted)]
    if not touched:
        return None
    first, last = _reach(touched[0], lines), _reach(touched[-1], lines)
    covered = first.start <= wanted.start and wanted.end <= last.end
    return Span(touched[0].start, touched[-1].end) if covered else None


def _reach(span: Span, lines: Lines) -> Span:
    """A statement's whole lines: its indentation and a comment behind it select it too."""
    return Span(lines.bounds(lines.number(span.start))[0], lines.bounds(lines.number(span.end - 1))[1])
