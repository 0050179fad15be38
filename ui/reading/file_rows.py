"""What became of each file, from a run's regions that were read anyway: asking again takes as long as reading them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from core.store.rows import FileRow, ItemRow


def by_file(items: Iterable[ItemRow]) -> Iterator[FileRow]:
    """The same rows as `Reader.files`, by path: counts of admitted and of complete regions, means of what is known."""
    files: dict[str, list[ItemRow]] = defaultdict(list)
    for item in items:
        if not item.extra and item.path:
            files[item.path].append(item)
    for path in sorted(files):
        rows = files[path]
        values: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            for name, value in row.measures.items():
                values[name].append(value)
        admitted, done = sum(row.admitted for row in rows), sum(row.state == "done" for row in rows)
        yield FileRow(path, admitted, done, {name: sum(found) / len(found) for name, found in values.items()})
