"""Take a description, a piece of code or an edit out of an answer, and record how.

Forgiving on purpose: what is judged is the code, not the wrapping. What came is always kept beside it, and its thoughts
are taken off before (`core.models.answers`).
"""

from __future__ import annotations

import ast
import keyword
import re
import textwrap
from collections.abc import Callable, Collection, Sequence
from itertools import product

from rtc_inspector.core.generation import Extraction
from rtc_inspector.core.languages import PYTHON, Language, language_for
from rtc_inspector.core.languages.trees import Block, Statement, fragment, reads, statements
from rtc_inspector.core.models.fences import Fenced, best, blocks, level, outside, place
from rtc_inspector.core.models.gguf import without_joiners
from rtc_inspector.core.syntax import AnyFunction, Lines, first_line_of, indent_of, parsed, shared_indent
from rtc_inspector.core.types import Item, Span


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
TODO = re.compile(r"^\s*(?:#|//|--)\s*TODO\b", re.I)
_SIGN = re.compile(r"\s*(?:#|//+|--)")
"""Begins a line of a comment, in whichever language a model was asked."""
_CODE_SIGN = re.compile(r"\w\(|[={};]|::|->")


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
    language = language_for(item.path)
    names = enclosing(item, file_text)
    return _code_of(_answered(raw, file_text, prefill, names, steps, language), item, file_text, steps, language)


def extract_program(raw: str, item: Item, file_text: str, prefill: str, entry: str) -> Extraction:
    """The same for the body of the function `entry` at the left edge of a file that is a program of its own.

    What the answer imports or defines beside the function stands below the body then, at the left edge, where the body
    needs it and the file has nothing of that name: a program may have helpers. The step is `kept-beside`.
    """
    steps: list[str] = []
    text = _answered(raw, file_text, prefill, [entry], steps, PYTHON)
    text, rest = _parted(text)
    found = _code_of(text, item, file_text, steps, PYTHON)
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


def _answered(
    raw: str, file_text: str, prefill: str, names: Collection[str], steps: list[str], language: Language
) -> str:
    """Return the code of an answer without fences; `names`: of what was asked for, the innermost first."""
    text = NEWLINES.sub("\n", without_joiners(raw, file_text, steps))
    if prefill and not prefill.strip():
        text = prefill + text  # written straight into the file: the first line's indentation is part of the answer
    return unfenced(text, prefill, steps, names, language=language)


def _code_of(text: str, item: Item, file_text: str, steps: list[str], language: Language) -> Extraction:
    start = max(file_text.rfind("\n", 0, item.span.start), file_text.rfind("\r", 0, item.span.start)) + 1
    indent = indent_of(file_text[start : item.span.start])
    text = _step(steps, "todo-dropped", text.strip("\n"), lambda t: _without_todo(t, item.text))
    levelled = _step(steps, "prose", level(text, indent, language), lambda t: without_prose(t, language, indent))
    part, wrapping = unwrap(levelled, item, file_text)
    steps += wrapping
    placed = place(level(part, language=language), indent, language)
    if placed != (part if wrapping or "prose" in steps else text.rstrip()):
        steps.append("reindented")
    text = _step(steps, "newlines", placed, lambda t: t.replace("\n", _newline(file_text)))
    around = (file_text[: item.span.start], file_text[item.span.end :])
    readable = reads(file_text, language, whole=True)
    return Extraction(text, (*steps, *finding(text, around, readable, language)))


def finding(text: str, around: tuple[str, str], readable: bool, language: Language = PYTHON) -> tuple[str, ...]:
    """Return what is to be said of code that was read from an answer: that it is none, or does not parse at its place.

    `readable`: whether what stands there now parses; else nobody knows what it should parse as.
    """
    if not text.strip():
        return ("empty",)
    if not readable or reads(around[0] + text + around[1], language, whole=True):
        return ()
    return ("no-code",) if all(_is_prose(line, language) for line in text.split("\n")) else ("unparsable",)


NEWLINES = re.compile(r"\r\n|\r")


def _step(steps: list[str], name: str, text: str, change: Callable[[str], str]) -> str:
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
    said = [
        block.text
        for block in found
        if parsed(block.text) is None and all(_is_prose(line, PYTHON) for line in block.text.split("\n"))
    ]
    rest = outside(text, found)
    return "\n".join(said) if said else rest if rest.strip() or not found else "\n".join(b.text for b in found)


def _without_label(text: str) -> str:
    rest = LABEL.sub("", text, count=1)
    marked = re.match(r"\s*(?:\*\*|#+\s*)?\w+\s*:", text)
    return rest if marked or text.lstrip().startswith(("#", "**")) else text


def _without_comment_signs(text: str) -> str:
    """A description that goes on as a comment of several lines, as words; a lone list or heading is left as it is."""
    first, *others = text.split("\n")
    if not others or not all(_SIGN.match(line) or not line.strip() for line in others):
        return text
    return "\n".join(
        _SIGN.sub("", line, count=1).strip() if _SIGN.match(line) else line.strip() for line in (first, *others)
    )


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text.count(text[0]) == 2:
        return text[1:-1]
    return text


# --------------------------------------------------------------------------- code


def unfenced(
    text: str,
    prefill: str,
    steps: list[str],
    names: Collection[str] = (),
    but: str = "",
    language: Language = PYTHON,
) -> str:
    """Return the content of the code block that answers; an unterminated one runs to the end.

    `prefill`: what the answer was begun with; `names`, `but`: as for `best`.
    """
    found = blocks(text, prefill, language)
    # Code that holds fences, e.g. in a docstring, is whole as it is; to others than Python a fence is a string.
    if not found or (language is PYTHON and parsed(level(text)) is not None):
        return text
    if language is PYTHON and not prefill and (bare := without_prose(text)) != text:
        steps.append("prose")
        return bare
    chosen = _stray(text, found, language) or best(found, names, but, language)
    if chosen.closed or chosen.text != text:
        steps.append("fence" if chosen.closed else "fence-unterminated")
    return chosen.text


def _stray(text: str, found: list[Fenced], language: Language) -> Fenced | None:
    """Return the code before a lone fence that closes what was never opened."""
    (first, *others), before = found, text[: found[0].start]
    if others or first.closed or first.tag or not before.strip() or not _reads(before, language):
        return None
    return None if _reads(first.text, language) else Fenced(before, "", 0, first.start)


def _reads(text: str, language: Language) -> bool:
    return reads(level(text, language=language), language)


def without_prose(text: str, language: Language = PYTHON, indent: str = "") -> str:
    """Return code without prose before and after it, when it parses only so."""
    if reads(text, language):
        return text
    lines = text.split("\n")
    code = [i for i, line in enumerate(lines) if not _is_prose(line, language)]
    indent = "" if language is PYTHON else indent
    part = level("\n".join(lines[code[0] : code[-1] + 1]), indent, language) if code else ""
    return part if part.strip() and reads(part, language) else text


def _is_prose(line: str, language: Language) -> bool:
    words = re.findall(r"[A-Za-z']+(?=[ ,:.])", line)
    if not line.strip():
        return True
    if language is PYTHON:
        is_code = bool(words) and (keyword.iskeyword(words[0]) or line[0] in " \t#@")
    else:
        begins = line[0] in " \t#@}" or line.startswith(language.comment)
        is_code = begins or (line.rstrip()[-1] not in ".:!?" and _CODE_SIGN.search(line) is not None)
    return not is_code and (len(words) > 2 or line.rstrip().endswith(":")) and not reads(line, language)


def _without_todo(text: str, reference: str) -> str:
    """Drop the comment that carried the description, when the answer repeats it at its head."""
    lines = text.split("\n")
    if not TODO.match(lines[0]) or TODO.match(reference.split("\n", 1)[0]):
        return text
    at = 1
    while at < len(lines) and _SIGN.match(lines[at]):
        at += 1
    return "\n".join(lines[at:])


# --------------------------------------------------------------------------- out of a larger answer


def unwrap(answer: str, item: Item, file_text: str) -> tuple[str, list[str]]:
    """Return the part of `answer` that corresponds to the item, and the steps taken.

    That is the body out of a whole function, class or file, and what is left without the lines around the item that
    the answer repeats. An answer that is the region itself is left as it is, whatever stands around it.
    """
    language = language_for(item.path)
    steps: list[str] = []
    text = _closed(textwrap.dedent(answer.strip("\n")), language, steps)
    given, file = fragment(text, language), statements(file_text, language)
    if given is None or file is None:
        return answer, []
    path, block, at = _locate(file, item.span)
    if not block or _meanings(given.statements) == _meanings(block[at.start : at.end]):
        return (text, steps) if steps else (answer, [])
    body = _without_neighbours(_descend(given.statements, path, steps), block, at, steps)
    return (_source(text, body, language), steps) if steps else (answer, [])


def enclosing(item: Item, file_text: str) -> list[str]:
    """Return the names of the functions and classes around the item, the innermost first."""
    file = statements(file_text, language_for(item.path))
    if file is None:
        return []
    path, _, _ = _locate(file, item.span)
    return [holder.name for holder in reversed(path) if holder.name]


def _closed(text: str, language: Language, steps: list[str]) -> str:
    """Return an answer in a language of braces without the ends of what it repeats by half.

    These are lines that close a block whose beginning it has not, and lines that open one whose end it has not.
    """
    if language is PYTHON or reads(text, language):
        return text
    lines = text.split("\n")
    openers = next((i for i, line in enumerate(lines) if not line.rstrip().endswith("{")), 0)
    closers = next((i for i, line in enumerate(reversed(lines)) if line.strip(" \t})];,")), 0)
    for low, high in sorted(product(range(openers + 1), range(closers + 1)), key=sum):
        part = "\n".join(lines[low : len(lines) - high])
        if low + high and part.strip() and reads(part, language):
            steps.append("around-dropped")
            return textwrap.dedent(part)
    return text


def _locate(file: Block, span: Span) -> tuple[list[Block], Sequence[Statement], Span]:
    """Return the way to the block that holds the span, its statements, and which of them the span is."""
    path: list[Block] = []
    block = file
    while True:
        inside = [each for each in block.statements if each.span.overlaps(span)]
        if len(inside) != 1 or inside[0].span.start >= span.start:
            break
        way = next((each for each in inside[0].blocks if _extent(each).overlaps(span)), None)
        if way is None:
            break
        path.append(way)
        block = way
    if not inside:
        return path, (), Span(0, 0)
    return path, block.statements, Span(block.statements.index(inside[0]), block.statements.index(inside[-1]) + 1)


def _extent(block: Block) -> Span:
    return Span(block.statements[0].span.start, block.statements[-1].span.end) if block.statements else Span(0, 0)


def _descend(body: Sequence[Statement], path: Sequence[Block], steps: list[str]) -> Sequence[Statement]:
    """Go into the blocks around the region as far as the answer repeats them."""
    for depth, holder in enumerate(path):
        found = next((block for each in body for block in each.blocks if block.head == holder.head), None)
        if found is not None:
            steps.append(_step_name(body, holder))
            return _descend(found.statements, path[depth + 1 :], [])
    return body


def _step_name(body: Sequence[Statement], holder: Block) -> str:
    if not holder.name:
        return "block-body"
    if len(body) > 1:
        return "whole-file"
    return "class-body" if holder.body else "function-body"


def _meanings(body: Sequence[Statement]) -> list[str]:
    return [each.meaning() for each in body]


def _without_neighbours(
    body: Sequence[Statement], block: Sequence[Statement], at: Span, steps: list[str]
) -> Sequence[Statement]:
    """Drop statements at both ends that repeat those around the region in the file; never all of them."""
    given, before, after = _meanings(body), _meanings(block[: at.start]), _meanings(block[at.end :])
    low = next((n for n in range(min(len(before), len(given)), 0, -1) if given[:n] == before[-n:]), 0)
    rest = given[low:]
    high = next((n for n in range(min(len(after), len(rest)), 0, -1) if rest[-n:] == after[:n]), 0)
    if not low + high or low + high == len(given):
        return body
    steps.append("around-dropped")
    return body[low : len(body) - high]


def _source(text: str, body: Sequence[Statement], language: Language) -> str:
    """Return the lines of the statements, with the comments between them and behind the last."""
    if not body:
        return ""
    lines, start, end = Lines(text), body[0].span.start, body[-1].span.end
    before = text[lines.bounds(body[0].first)[0] : start]
    line_end = lines.bounds(lines.number(end - 1))[1]
    behind = text[end:line_end].strip(" \t;")
    if not behind or behind.startswith(language.comment):
        end = line_end
    return (" " * len(before) if before.strip() else before) + text[start:end]


# --------------------------------------------------------------------------- edits

_NEW_LABEL = re.compile(r"[ \t]*\[?new(?: code)?\]?:?[ \t]*", re.IGNORECASE)


def extract_edit(raw: str, old: str, prefill: str) -> Extraction:
    """The new code as it stands in its file.

    `old` is the old code, whose line ends and indentation the new code takes; `prefill` what the answer already
    started with. Steps: `label-dropped`, `prose`, `fence`, `fence-unterminated`, `reindented`, `newlines`,
    `joiner-dropped`; and what is to be said of the code: `empty`, `no-code`, `unparsable`.
    """
    steps: list[str] = []
    lines = _unlabelled(NEWLINES.sub("\n", without_joiners(raw, old, steps)).split("\n"), steps)
    code = parsed(level(NEWLINES.sub("\n", old)))
    names = [each.name for each in code.body if isinstance(each, AnyFunction | ast.ClassDef)] if code else []
    text = unfenced("\n".join(lines), prefill, steps, names, but=old)
    if code and not prefill and not steps and (bare := without_prose(text)) != text:
        steps.append("prose")
        text = bare
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    text = "\n".join(_reindented(lines, NEWLINES.sub("\n", old).split("\n"), steps))
    if "\r\n" in old and "\n" in text:
        text = text.replace("\n", "\r\n")
        steps.append("newlines")
    return Extraction(text, (*steps, *finding(level(text), ("", ""), code is not None)))


def _unlabelled(lines: list[str], steps: list[str]) -> list[str]:
    """Return the lines without a first one that only repeats the prompt's mark."""
    if lines and _NEW_LABEL.fullmatch(lines[0]) and lines[0].strip().startswith("["):
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
