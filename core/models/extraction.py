"""Take a description or a piece of code out of an answer, and record how.

Forgiving on purpose: what is judged is the code, not the wrapping. What came is always kept beside it, and its thoughts
are taken off before (`core.models.answers`).
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Collection

from rtc_inspector.core.generation import Extraction
from rtc_inspector.core.models.fences import Fenced, best, blocks, outside
from rtc_inspector.core.models.gguf import without_joiners
from rtc_inspector.core.models.indentation import level, place
from rtc_inspector.core.models.unwrap import enclosing, unwrap
from rtc_inspector.core.syntax import first_line_of, indent_of, parsed
from rtc_inspector.core.types import Item


def _newline(text: str) -> str:
    """The line end that occurs most."""
    windows = text.count("\r\n")
    counts = {"\n": text.count("\n") - windows, "\r\n": windows, "\r": text.count("\r") - windows}
    best = max(counts, key=lambda k: counts[k])
    return best if counts[best] else "\n"


LABEL = re.compile(
    r"^\s*(?:\*\*|#+\s*)?(?:description|answer|summary|output|explanation)\s*:?\s*(?:\*\*)?\s*:?\s*", re.I
)
BESIDE = re.compile(r"^(?:(?:def|class|async def|import|from)\b|@)", re.M)
"""Begins a definition or an import at the left edge."""
TODO = re.compile(r"^\s*#\s*TODO\b", re.I)


def extract_description(raw: str) -> Extraction:
    """The whole of the prose: code blocks, labels, quotes and the signs of a comment are dropped."""
    steps: list[str] = []
    text = _step(steps, "comment-signs-dropped", raw.strip(), _without_comment_signs)
    text = _step(steps, "fence-dropped", text, _without_fences)
    text = _step(steps, "label-dropped", text.strip(), _without_label)
    text = _step(steps, "unquoted", text.strip(), _unquoted)
    if not text.strip():
        steps.append("empty")
    return Extraction(text.strip(), tuple(steps))


def extract_code(raw: str, item: Item, file_text: str, prefill: str) -> Extraction:
    """The code that stands at the item's span as it is: first line bare, the others indented to the block.

    `prefill` is what the answer already started with. Steps: `fence`, `fence-unterminated`, `todo-dropped`, `prose`,
    `function-body`, `class-body`, `block-body`, `whole-file`, `around-dropped`, `reindented`, `newlines`,
    `joiner-dropped`; and what is to be said of the code: `empty`, `no-code` (words alone), `unparsable`.
    """
    steps: list[str] = []
    return _code_of(_answered(raw, file_text, prefill, enclosing(item, file_text), steps), item, file_text, steps)


def extract_program(raw: str, item: Item, file_text: str, prefill: str, entry: str) -> Extraction:
    """The same for the body of the function `entry` at the left edge of a file that is a program of its own.

    What the answer imports or defines beside the function stands below the body then, at the left edge, where the body
    needs it and the file has nothing of that name: a program may have helpers. The step is `kept-beside`.
    """
    steps: list[str] = []
    text = _answered(raw, file_text, prefill, [entry], steps)
    text, rest = _parted(text)
    found = _code_of(text, item, file_text, steps)
    whole = re.search(rf"^(?:async )?def {re.escape(entry)}\b", level(text), re.M)
    beside = _needed(found.text, rest or text, file_text, entry) if rest or whole else ""
    return Extraction(f"{found.text}\n\n\n{beside}", (*found.steps, "kept-beside")) if beside else found


def _parted(text: str) -> tuple[str, str]:
    """A body as it stands in its function, and what is defined behind that at the left edge; else all and nothing."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    behind = BESIDE.search(text)
    return (text[: behind.start()], text[behind.start() :]) if first[:1].isspace() and behind else (text, "")


def _needed(body: str, answer: str, file_text: str, entry: str) -> str:
    """The imports, definitions and constants of an answer that its body names, or one that is needed itself does."""
    source = level(answer)
    given, file = parsed(source), parsed(file_text)
    if given is None or file is None:
        return ""
    there = {name for node in file.body for name in _bound_by(node)} | {entry}
    lines, kept, wanted = source.split("\n"), list[str](), body
    for node in reversed(given.body):  # what is needed stands above what needs it, most often
        names = _bound_by(node)
        if names and not names & there and any(re.search(rf"\b{re.escape(name)}\b", wanted) for name in names):
            kept.insert(0, "\n".join(lines[first_line_of(node) - 1 : node.end_lineno]))
            wanted += kept[0]
    return "\n\n\n".join(kept)


def _bound_by(node: ast.stmt) -> set[str]:
    """The names that a statement of a module binds, where it does nothing else."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(each.asname or each.name).split(".")[0] for each in node.names}
    targets = node.targets if isinstance(node, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _answered(raw: str, file_text: str, prefill: str, names: Collection[str], steps: list[str]) -> str:
    """The code of an answer without fences; `names`: of what was asked for, the innermost first."""
    text = NEWLINES.sub("\n", without_joiners(raw, file_text, steps))
    if prefill and not prefill.strip():
        text = prefill + text  # written straight into the file: the first line's indentation is part of the answer
    return unfenced(text, prefill, steps, names)


def _code_of(text: str, item: Item, file_text: str, steps: list[str]) -> Extraction:
    start = max(file_text.rfind("\n", 0, item.span.start), file_text.rfind("\r", 0, item.span.start)) + 1
    indent = indent_of(file_text[start : item.span.start])
    text = _step(steps, "todo-dropped", text.strip("\n"), lambda t: _without_todo(t, item.text))
    levelled = _step(steps, "prose", level(text, indent), without_prose)
    part, wrapping = unwrap(levelled, item, file_text)
    steps += wrapping
    placed = place(level(part), indent)
    if placed != (part if wrapping or "prose" in steps else text.rstrip()):
        steps.append("reindented")
    text = _step(steps, "newlines", placed, lambda t: t.replace("\n", _newline(file_text)))
    around = (file_text[: item.span.start], file_text[item.span.end :])
    return Extraction(text, (*steps, *finding(text, around, parsed(file_text) is not None)))


def finding(text: str, around: tuple[str, str], readable: bool) -> tuple[str, ...]:
    """Return what is to be said of code that was read from an answer: that it is none, or does not parse at its place.

    `readable`: whether Python can parse what stands there now; else nobody knows what it should parse as.
    """
    if not text.strip():
        return ("empty",)
    if not readable or parsed(around[0] + text + around[1]) is not None:
        return ()
    return ("no-code",) if all(map(_is_prose, text.split("\n"))) else ("unparsable",)


NEWLINES = re.compile(r"\r\n|\r")


def _step(steps: list[str], name: str, text: str, change: Callable[[str], str]) -> str:
    """Apply a change and record its name when it did something."""
    changed = change(text)
    if changed != text:
        steps.append(name)
    return changed


# --------------------------------------------------------------------------- descriptions


def _without_fences(text: str) -> str:
    """Text outside code blocks; an unterminated block runs to the end. All code: its content, better than nothing.

    A block of sentences is no code, but a model's way to set its answer off.
    """
    found = [block for block in blocks(text) if not block.inline]
    said = [block.text for block in found if parsed(block.text) is None and all(map(_is_prose, block.text.split("\n")))]
    rest = outside(text, found)
    return "\n".join(said) if said else rest if rest.strip() or not found else "\n".join(b.text for b in found)


def _without_label(text: str) -> str:
    rest = LABEL.sub("", text, count=1)
    marked = re.match(r"\s*(?:\*\*|#+\s*)?\w+\s*:", text)
    return rest if marked or text.lstrip().startswith(("#", "**")) else text


def _without_comment_signs(text: str) -> str:
    """A description that goes on as a comment of several lines, as words; a lone list or heading is left as it is."""
    first, *others = text.split("\n")
    if not others or not all(line.lstrip().startswith("#") or not line.strip() for line in others):
        return text
    return "\n".join([first.removeprefix("#").strip(), *(line.lstrip().removeprefix("#").strip() for line in others)])


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text.count(text[0]) == 2:
        return text[1:-1]
    return text


# --------------------------------------------------------------------------- code


def unfenced(text: str, prefill: str, steps: list[str], names: Collection[str] = (), but: str = "") -> str:
    """The content of the code block that answers; an unterminated one runs to the end.

    `prefill`: what the answer was begun with; `names`, `but`: as for `best`.
    """
    found = blocks(text, prefill)
    if not found or parsed(level(text)) is not None:  # code that holds fences, e.g. in a docstring, is whole as it is
        return text
    if not prefill and (bare := without_prose(text)) != text:
        steps.append("prose")
        return bare
    chosen = _stray(text, found) or best(found, names, but)
    if chosen.closed or chosen.text != text:
        steps.append("fence" if chosen.closed else "fence-unterminated")
    return chosen.text


def _stray(text: str, found: list[Fenced]) -> Fenced | None:
    """The code before a lone fence that closes what was never opened."""
    (first, *others), before = found, text[: found[0].start]
    if others or first.closed or first.tag or not before.strip() or parsed(level(before)) is None:
        return None
    return Fenced(before, "", 0, first.start) if parsed(level(first.text)) is None else None


def without_prose(text: str) -> str:
    """Return code without prose before and after it, when Python can parse it only so."""
    if parsed(text) is not None:
        return text
    lines = text.split("\n")
    code = [i for i, line in enumerate(lines) if not _is_prose(line)]
    part = level("\n".join(lines[code[0] : code[-1] + 1])) if code else ""
    return part if part.strip() and parsed(part) is not None else text


def _is_prose(line: str) -> bool:
    """Return whether a line reads as a sentence rather than as code."""
    words = re.findall(r"[A-Za-z']+(?=[ ,:.])", line)
    if not line.strip():
        return True
    starts_code = bool(words) and (keyword.iskeyword(words[0]) or line[0] in " \t#@")
    return not starts_code and (len(words) > 2 or line.rstrip().endswith(":")) and parsed(line) is None


def _without_todo(text: str, reference: str) -> str:
    """Drop the comment that carried the description, when the answer repeats it at its head."""
    lines = text.split("\n")
    if not TODO.match(lines[0]) or TODO.match(reference.split("\n", 1)[0]):
        return text
    at = 1
    while at < len(lines) and lines[at].lstrip().startswith("#"):
        at += 1
    return "\n".join(lines[at:])
