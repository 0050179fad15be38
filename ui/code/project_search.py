"""Words in every file of a project, found off the window's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rtc_inspector.core.types import SourceFile
from rtc_inspector.ui.code.blocks import SourceText
from rtc_inspector.ui.diff.lines import units

MOST = 2_000  # places found at most; more are not read by anybody
_ROOM = 200  # characters of a line that are kept, the match among them


@dataclass(frozen=True, slots=True)
class Hit:
    """One match. `line` from 0; `column` and `length` in UTF-16 units of the line; `start` in `shown`."""

    path: str
    line: int
    column: int
    length: int
    shown: str
    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Hits:
    """What was found; `more`: there is more than is listed."""

    found: tuple[Hit, ...]
    files: int
    more: bool = False


def search(files: Sequence[SourceFile], words: str, given_up: Callable[[], bool]) -> Hits:
    """Return every place of `words`, in file order; capitals count only if there are any. Ends once `given_up()`."""
    found: list[Hit] = []
    paths: set[str] = set()
    fold = words == words.lower()
    for file in files:
        if given_up():
            break
        for hit in _in_file(file, words, fold):
            # One more than is listed is looked for, so that it can be said that there are more.
            if len(found) == MOST:
                return Hits(tuple(found), len(paths), more=True)
            found.append(hit)
            paths.add(file.path)
    return Hits(tuple(found), len(paths))


def _in_file(file: SourceFile, words: str, fold: bool) -> Iterator[Hit]:
    text = file.text.lower() if fold else file.text
    at = text.find(words) if words else -1
    if at < 0:
        return
    source = SourceText(file.text if len(text) == len(file.text) else text)  # some letters grow when folded
    while at >= 0:
        yield _hit(file.path, source, at, len(words))
        at = text.find(words, at + len(words))


def _hit(path: str, source: SourceText, at: int, size: int) -> Hit:
    place = source.position(at)
    line = source.line(place.line)
    before = at - source.offset(type(place)(place.line, 0))
    lead = len(line) - len(line.lstrip())
    cut = max(lead, before - _ROOM // 2) if before >= lead else 0
    shown = line[cut : cut + _ROOM]
    length = units(source.text[at : at + size])
    return Hit(path, place.line, place.column, length, shown, before - cut, size)
