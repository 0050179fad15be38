"""Take the new code out of a raw answer, and record how; what is judged is the code, not its wrapping."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rtc_inspector.core.generation import Extraction
from rtc_inspector.core.models.extraction import finding, unfenced, without_prose
from rtc_inspector.core.models.gguf import without_joiners
from rtc_inspector.core.models.indentation import level
from rtc_inspector.core.models.unwrap import Scope
from rtc_inspector.core.syntax import indent_of, parsed, shared_indent

_LABEL = re.compile(r"[ \t]*\[?new(?: code)?\]?:?[ \t]*", re.IGNORECASE)
_NEWLINES = re.compile(r"\r\n|\r")


def extract_edit(raw: str, old: str, prefill: str) -> Extraction:
    """The new code as it stands in its file.

    `old` is the old code, whose line ends and indentation the new code takes; `prefill` what the answer already
    started with. Steps: `label-dropped`, `prose`, `fence`, `fence-unterminated`, `reindented`, `newlines`,
    `joiner-dropped`; and what is to be said of the code: `empty`, `no-code`, `unparsable`.
    """
    steps: list[str] = []
    lines = _unlabelled(_NEWLINES.sub("\n", without_joiners(raw, old, steps)).split("\n"), steps)
    code = parsed(level(_NEWLINES.sub("\n", old)))
    names = [each.name for each in code.body if isinstance(each, Scope)] if code else []
    text = unfenced("\n".join(lines), prefill, steps, names, but=old)
    if code and not prefill and not steps and (bare := without_prose(text)) != text:
        steps.append("prose")
        text = bare
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    text = "\n".join(_reindented(lines, _NEWLINES.sub("\n", old).split("\n"), steps))
    if "\r\n" in old and "\n" in text:
        text = text.replace("\n", "\r\n")
        steps.append("newlines")
    return Extraction(text, (*steps, *finding(level(text), ("", ""), code is not None)))


def _unlabelled(lines: list[str], steps: list[str]) -> list[str]:
    """Return the lines without a first one that only repeats the prompt's mark."""
    if lines and _LABEL.fullmatch(lines[0]) and lines[0].strip().startswith("["):
        steps.append("label-dropped")
        return lines[1:]
    return lines


def _reindented(lines: Sequence[str], old: Sequence[str], steps: list[str]) -> list[str]:
    """Put back the indentation that all of the old code has, where the answer was moved to the margin.

    Models tend to do that; what is meant is still where the old code stood. Lines that both have must agree on it.
    """
    missing = shared_indent(old).removesuffix(shared_indent(lines))
    places: dict[str, set[str]] = {}
    for line in old:
        places.setdefault(line.strip(), set()).add(indent_of(line))
    kept = [line for line in lines if line.strip() and line.strip() in places]
    if not missing or not kept or any(missing + indent_of(line) not in places[line.strip()] for line in kept):
        return list(lines)
    steps.append("reindented")
    return [missing + line if line.strip() else line for line in lines]
