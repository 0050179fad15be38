"""What commands write for users: files, and lines and tables on standard output."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table

from rtc_inspector.core.kinds import counted
from rtc_inspector.core.store.files import writing

SHOWN = 20  # rows printed of a long table; the rest is counted, and whole with --csv and --json


@contextmanager
def written(file: Path | None) -> Iterator[TextIO]:
    """`file`, open for text with line ends as they are given; without one standard output.

    Raises UserError when the file cannot be written.
    """
    if file is None:
        yield sys.stdout
        return
    with writing(file), file.open("w", encoding="utf-8", newline="") as stream:
        yield stream


def terminal(soft_wrap: bool = False) -> Console:
    """Return a console for text as it is: no word of a user's code or file names is taken for colours or emoji."""
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=soft_wrap)


def print_table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: bool = False, rest: str = "") -> None:
    """Print a table; `right`: numbers from the second column on; `rest`: what is counted beyond the first rows."""
    table = Table()
    for at, head in enumerate(heads):
        table.add_column(head, justify="right" if right and at else "left")
    for row in rows[: SHOWN if rest else None]:
        table.add_row(*row)
    if rest and len(rows) > SHOWN:
        table.caption = f"and {counted(len(rows) - SHOWN, rest)} more: see --json or --csv"
    terminal().print(table)


def print_json(values: Mapping[str, Any]) -> None:
    """Print one object on a line of its own, at once: a script may wait for it."""
    print(json.dumps(values, ensure_ascii=False), flush=True)
