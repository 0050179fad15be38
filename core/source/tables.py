"""Tables of problems: Parquet and Arrow files, and folders of them as Hugging Face's hub and `datasets` have them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import ProjectError, UserError
from rtc_inspector.core.packages import install_command

ENDINGS = (".parquet", ".arrow")
MARKS = ("dataset_info.json", "dataset_dict.json", "state.json")
"""Files by which `datasets` knows a folder that it saved."""
LARGEST = 64 << 20
"""Bytes of a table once it is unpacked, as of other files of problems."""


def is_table(path: Path) -> bool:
    """Return whether a path is named as tables are."""
    return path.suffix.lower() in ENDINGS


def table_in(folder: Path) -> Path | None:
    """Return the one table in a folder of problems; None where the folder is none. Raises UserError for several.

    A folder with Python files is a project, whatever data lies in it, unless `datasets` has saved it.
    """
    found = sorted(
        path for ending in ENDINGS for depth in ("*", "*/*", "*/*/*") for path in folder.glob(depth + ending)
    )
    saved = any((folder / mark).exists() for mark in MARKS)
    if not found or not (saved or next(folder.rglob("*.py"), None) is None):
        return None
    if len(found) > 1:
        names = ", ".join(str(path.relative_to(folder)) for path in found[:8])
        raise UserError(f"{folder} holds {len(found)} tables.", f"Name one of them: {names}.")
    return found[0]


def rows_of(path: Path, data: bytes, remedy: str) -> list[tuple[int, Any]]:
    """Return each row of a table with its number, from 1. Raises ProjectError, UserError without pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise UserError(
            f"{path.name} needs the package pyarrow to be read.", f"Run `{install_command('tables')}`."
        ) from error
    try:
        if path.suffix.lower() == ".parquet":
            file = pq.ParquetFile(io.BytesIO(data))
            size = sum(file.metadata.row_group(n).total_byte_size for n in range(file.metadata.num_row_groups))
            table = file.read() if size <= LARGEST else None
        elif data.startswith(b"ARROW1"):
            table = pa.ipc.open_file(io.BytesIO(data)).read_all()
        else:  # as `datasets` saves
            table = pa.ipc.open_stream(io.BytesIO(data)).read_all()
    except (pa.ArrowException, OSError) as error:
        raise ProjectError(f"{path} is not a table that can be read: {error}.", "Fetch the file again.") from error
    if table is None:
        raise ProjectError(f"{path} unpacks to more than {LARGEST >> 20} MiB.", remedy)
    return list(enumerate(table.to_pylist(), start=1))
