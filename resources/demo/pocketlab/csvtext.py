"""Tables as text: comma-separated values in, aligned columns out."""

from collections.abc import Iterable, Mapping, Sequence


class CsvError(ValueError):
    """Text that does not follow the rules; says in which line."""


def parse_rows(text: str, separator: str = ",") -> list[list[str]]:
    """Split text into rows of fields.

    A field in double quotes may contain separators, line breaks and, doubled,
    quotes. Blank lines are skipped. Line breaks may be those of any system.
    """
    rows: list[list[str]] = []
    row: list[str] = []
    field = ""
    quoted = closed = False
    line = 1
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for char in text if text.endswith("\n") else text + "\n":
        if quoted:
            if char == '"':
                quoted, closed = False, True
            else:
                field += char
        elif char == '"':
            if closed:
                field += char
            elif field:
                raise CsvError(f"line {line}: a quote inside a field")
            quoted, closed = True, False
        elif char in (separator, "\n"):
            row.append(field)
            if char == "\n":
                if row != [""] or closed:
                    rows.append(row)
                row = []
            field, closed = "", False
        elif closed:
            raise CsvError(f"line {line}: text after a closing quote")
        else:
            field += char
        line += char == "\n"
    if quoted:
        raise CsvError(f"line {line - 1}: a quote is never closed")
    return rows


def parse_records(text: str, separator: str = ",") -> list[dict[str, str]]:
    """Read rows under the names in the first one.

    Missing fields at the end of a row are empty; fields too many are an error.
    """
    rows = parse_rows(text, separator)
    if not rows:
        return []
    names = [name.strip() for name in rows[0]]
    if len(set(names)) < len(names):
        raise CsvError("two columns have the same name")
    records = []
    for number, row in enumerate(rows[1:], start=2):
        if len(row) > len(names):
            raise CsvError(f"row {number}: {len(row)} fields for {len(names)} columns")
        padded = row + [""] * (len(names) - len(row))
        records.append(dict(zip(names, padded, strict=True)))
    return records


def format_rows(rows: Iterable[Sequence[str]], separator: str = ",") -> str:
    """Write rows so that `parse_rows` reads the same ones back."""
    lines = []
    for row in rows:
        fields = []
        for field in row:
            awkward = any(char in field for char in (separator, '"', "\n", "\r"))
            if awkward or row == [""]:
                field = '"' + field.replace('"', '""') + '"'
            fields.append(field)
        lines.append(separator.join(fields) + "\n")
    return "".join(lines)


def align(records: Sequence[Mapping[str, str]]) -> str:
    """Set records as columns; those that hold only numbers go to the right."""
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = []
    for name in names:
        cells = [record.get(name, "") for record in records]
        width = max(len(cell) for cell in [name, *cells])
        numeric = all(_is_number(cell) for cell in cells if cell)
        justify = str.rjust if numeric else str.ljust
        columns.append([justify(cell, width) for cell in [name, *cells]])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
