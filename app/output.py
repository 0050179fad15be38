"""Files that commands write for users."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from core.errors import UserError
from core.store.opening import refuse_database


@contextmanager
def written(file: Path) -> Iterator[TextIO]:
    """`file`, open for text with line ends as they are given. Raises UserError when it cannot be written."""
    refuse_database(file)
    try:
        with file.open("w", encoding="utf-8", newline="") as stream:
            yield stream
    except OSError as error:
        problem = f"{file} cannot be written: {error.strerror or error}."
        raise UserError(problem, "Name a file in a folder you may write.") from error
