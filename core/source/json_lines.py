"""Files of JSON objects, one a line or in one array, read whole: every line that is wrong is named at once.

Used for whatever people bring in such files: problems of a benchmark, directives. Nothing of a file runs here.
"""

import ast
import codecs
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rtc_inspector.core.errors import ProjectError, UserError
from rtc_inspector.core.packages import install_command
from rtc_inspector.core.syntax import UNREADABLE, parse

LARGEST = 64 << 20  # bytes of a file once it is unpacked
_SHOWN = 20
SURROGATE = re.compile("[\ud800-\udfff]")
_GZIP = b"\x1f\x8b"
Row = Mapping[str, Any]
Read = TypeVar("Read")


class BadLine(ValueError):
    """An error in one line."""


def read_rows(path: Path, remedy: str) -> tuple[bytes, list[tuple[int, Any]]]:
    """Return a file's bytes, and its values by line number; what is no JSON has a BadLine in the value's place.

    `remedy`: what to do about a file that cannot be read at all. Raises ProjectError.
    """
    data = read_bytes(path, remedy)
    if path.suffix.lower() in ENDINGS:
        return data, rows_of(path, data, remedy)
    return data, list(_rows(path, _unpacked(path, data, remedy).removeprefix(codecs.BOM_UTF8)))


def read_each(
    path: Path, rows: Sequence[tuple[int, Any]], read: Callable[[int, Row], Read], key: Callable[[Read], str], name: str
) -> list[Read]:
    """Return what `read` makes of each row; it raises BadLine for a bad one.

    No two rows may have the same `key`, called `name` in the file.
    Raises ProjectError that names each bad line (the first 20).
    """
    found: list[Read] = []
    bad: list[str] = []
    lines: dict[str, int] = {}
    for number, row in rows:
        try:
            if isinstance(row, BadLine):
                raise row
            if not isinstance(row, dict):
                raise BadLine("is not a JSON object")
            value = read(number, row)
            if key(value) in lines:
                raise BadLine(f"has the `{name}` {key(value)} that line {lines[key(value)]} has")
            lines[key(value)] = number
            found.append(value)
        except BadLine as error:
            bad.append(f"{path.name}, line {number}: {error}.")
    refuse(bad, "Mend or remove those lines; nothing was run.")
    return found


def refuse(bad: Sequence[str], remedy: str) -> None:
    """Raise ProjectError where there are such faults: it names the first 20 and says how many more there are."""
    if bad:
        more = [f"And {len(bad) - _SHOWN} more."] if len(bad) > _SHOWN else []
        raise ProjectError("\n".join([*bad[:_SHOWN], *more]), remedy)


def read_bytes(path: Path, remedy: str) -> bytes:
    """Read a file of at most LARGEST bytes. Raises ProjectError."""
    try:
        if path.stat().st_size > LARGEST:
            raise ProjectError(f"{path} is larger than {LARGEST >> 20} MiB.", remedy)
        return path.read_bytes()
    except OSError as error:
        raise ProjectError(f"{path} cannot be read: {error.strerror}.", remedy) from error


def _unpacked(path: Path, data: bytes, remedy: str) -> bytes:
    """Return the content of a gzip file, whatever it is called, and any other data as it is.

    Raises ProjectError where the file is damaged, cut off, or unpacks to more than `LARGEST` bytes.
    """
    if not data.startswith(_GZIP):
        return data
    unpacker = zlib.decompressobj(wbits=31)
    try:
        unpacked = unpacker.decompress(data, LARGEST + 1)
    except zlib.error as error:
        raise ProjectError(f"{path} is a damaged gzip file: {error}.", "Fetch or pack the file again.") from None
    if len(unpacked) > LARGEST:
        raise ProjectError(f"{path} unpacks to more than {LARGEST >> 20} MiB.", remedy)
    if not unpacker.eof:
        raise ProjectError(f"{path} is a gzip file that was cut off.", "Fetch or pack the file again.")
    return unpacked


def _rows(path: Path, data: bytes) -> Iterator[tuple[int, Any]]:
    if not data.lstrip().startswith(b"["):
        yield from lines_of(data)
        return
    whole = _value(data)
    if isinstance(whole, BadLine):
        raise ProjectError(f"{path.name}: {whole}.", "Mend the file; nothing was run.")
    yield from enumerate(whole, start=1)


def lines_of(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each line that is not blank; what is no JSON has a BadLine in the value's place."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.strip():
            yield number, _value(line)


def _value(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        return BadLine("is not UTF-8")
    except json.JSONDecodeError as error:
        fault = error.msg.removesuffix(" at")  # as "Unterminated string starting at" ends
        return BadLine(f"is not JSON ({fault} at character {error.pos + 1})")
    except (RecursionError, ValueError) as error:
        deep = " (nested too deeply)" if isinstance(error, RecursionError) else ""
        return BadLine(f"is not JSON that can be read{deep}")


def text_of(row: Row, name: str, default: str | None = None) -> str:
    """Return a text with plain line ends. Raises BadLine."""
    value = row.get(name, default)
    if value is None:
        raise BadLine(f"has no `{name}`")
    if not isinstance(value, str):
        raise BadLine(f"`{name}` is not a text")
    if SURROGATE.search(value):
        raise BadLine(f"`{name}` holds half of a surrogate pair, which is no character")
    return value.replace("\r\n", "\n").replace("\r", "\n")


def texts_of(row: Row, name: str) -> list[str]:
    """Return a list of texts. Raises BadLine."""
    values = row.get(name)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise BadLine(f"`{name}` is not a list of texts")
    return [text_of({name: value}, name) for value in values]


def python_tree(name: str, source: str) -> ast.Module:
    """Return the syntax tree of the source in the field `name`. Raises BadLine."""
    try:
        return parse(source)
    except UNREADABLE as error:
        fault = error.msg if isinstance(error, SyntaxError) else str(error)
        raise BadLine(f"`{name}` is not Python that can be read ({fault})") from None


ENDINGS = (".parquet", ".arrow")
MARKS = ("dataset_info.json", "dataset_dict.json", "state.json")
"""Files by which `datasets` knows a folder that it saved."""


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
