"""What became of each file, from a run's regions that were read anyway: asking again takes as long as reading them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from core.store.rows import FileRow, ItemRow


def by_file(items: Iterable[ItemRow]) -> Iterator[FileRow]:
    """The same rows as `Reader.files`, by path: counts of admitted and of complete regions, means of what is known."""
    files: dict[str, list[ItemRow]] = defaultdict(list)
    for item in items:
        if not item.extra:
            files[item.path].append(item)
    for path in sorted(files):
        rows = files[path]
        rtc, lift = ([value for row in rows if (value := getattr(row, name)) is not None] for name in ("rtc", "lift"))
        admitted, done = sum(row.admitted for row in rows), sum(row.state == "done" for row in rows)
        yield FileRow(path, admitted, done, _mean(rtc), _mean(lift))


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
