"""Take a description, a piece of code or an edit out of an answer, and record how.

Forgiving on purpose: what is judged is the code, not the wrapping. What came is always kept beside it, and its thoughts
are taken off before (`core.models.answers`). Code blocks are found however they are fenced or indented: any tag, in a
list or a line, unclosed, moved.
"""

import ast
import io
import keyword
import re
import textwrap
import tokenize
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from rtc_inspector.core.generation import Extraction
from rtc_inspector.core.languages import PYTHON, Language, language_for
from rtc_inspector.core.languages.trees import Block, Statement, fragment, frozen_lines, reads, statements
from rtc_inspector.core.models.gguf import without_joiners
from rtc_inspector.core.syntax import AnyFunction, Lines, first_line_of, indent_of, parsed, shared_indent
from rtc_inspector.core.types import Item, Span

LABEL = re.compile(
    r"^\s*(?:\*\*|#+\s*)?(?:description|answer|summary|output|explanation)\s*:?\s*(?:\*\*)?\s*:?\s*", re.I
)
_LABELLED = re.compile(r"\s*(?:\*\*|#+\s*)?\w+\s*:")
BESIDE = re.compile(r"^(?:(?:def|class|async def|import|from)\b|@)", re.M)
"""Begins a definition or an import at the left edge."""
TODO = re.compile(r"^\s*(?:#|//|--)\s*TODO\b", re.I)
_SIGN = re.compile(r"\s*(?:#|//+|--)")  # begins a line of a comment, in whichever language a model was asked
_CODE_SIGN = re.compile(r"\w\(|[={};]|::|->")


def extract_description(raw: str) -> Extraction:
    """Take the whole of the prose: code blocks, labels, quotes and the signs of a comment are dropped."""
    steps: list[str] = []
    text = _step(steps, "comment-signs-dropped", raw.strip(), _without_comment_signs)
    text = _step(steps, "fence-dropped", text, _without_fences)
    text = text.strip()
    if text.startswith(("#", "**")) or _LABELLED.match(text):
        text = _step(steps, "label-dropped", text, lambda t: LABEL.sub("", t, count=1)).strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text.count(text[0]) == 2:
        steps.append("unquoted")
        text = text[1:-1]
    if not text.strip():
        steps.append("empty")
    return Extraction(text.strip(), tuple(steps))


def extract_code(raw: str, item: Item, file_text: str, prefill: str) -> Extraction:
    """Take the code that stands at the item's span as it is: first line bare, the others indented to the block.

    `prefill` is what the answer already started with. Steps: `fence`, `fence-unterminated`, `todo-dropped`, `prose`,
    `function-body`, `class-body`, `block-body`, `whole-file`, `around-dropped`, `reindented`, `newlines`,
    `joiner-dropped`; and what is to be said of the code: `empty`, `no-code` (words alone), `unparsable`.
    """
    steps: list[str] = []
    language = language_for(item.path)
    names = enclosing(item, file_text)
    return _code_of(_answered(raw, file_text, prefill, names, steps, language), item, file_text, steps, language)


def extract_program(raw: str, item: Item, file_text: str, prefill: str, entry: str) -> Extraction:
    """Take the body of the function `entry` at the left edge of a file that is a program of its own, as above.

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
    """Return a body as it stands in its function, and what is defined behind it at the left edge; else all, nothing."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    behind = BESIDE.search(text)
    return (text[: behind.start()], text[behind.start() :]) if first[:1].isspace() and behind else (text, "")


def _needed(body: str, answer: str, file_text: str, entry: str) -> str:
    """Return the imports, definitions and constants that an answer's body names, or one that is needed itself does."""
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
    """Return the names that a statement of a module binds, where it does nothing else."""
    if isinstance(node, AnyFunction | ast.ClassDef):
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
    text = text.strip("\n")
    lines = text.split("\n")
    if TODO.match(lines[0]) and not TODO.match(item.text.split("\n", 1)[0]):
        # The comment that carried the description, which the answer repeats at its head.
        rest = next((at for at, line in enumerate(lines) if at and not _SIGN.match(line)), len(lines))
        text = "\n".join(lines[rest:])
        steps.append("todo-dropped")
    levelled = _step(steps, "prose", level(text, indent, language), lambda t: without_prose(t, language, indent))
    part, wrapping = unwrap(levelled, item, file_text)
    steps += wrapping
    placed = place(level(part, language=language), indent, language)
    if placed != (part if wrapping or "prose" in steps else text.rstrip()):
        steps.append("reindented")
    windows = file_text.count("\r\n")
    counts = {"\n": file_text.count("\n") - windows, "\r\n": windows, "\r": file_text.count("\r") - windows}
    newline = max(counts, key=lambda sign: counts[sign])
    text = _step(steps, "newlines", placed, lambda t: t.replace("\n", newline))
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
    """Return what stands outside code blocks; an unterminated block runs to the end. All code: its content.

    A block of sentences is no code, but a model's way to set its answer off.
    """
    found = [block for block in blocks(text) if not block.inline]
    sentences = [
        block.text
        for block in found
        if parsed(block.text) is None and all(_is_prose(line, PYTHON) for line in block.text.split("\n"))
    ]
    parts, at = [], 0
    for block in found:
        parts.append(text[at : text.rfind("\n", 0, block.start) + 1])
        at = block.end
    rest = "".join([*parts, text[at:].removeprefix("\n") if at else text])
    code = [block.text for block in found]
    return "\n".join(sentences) if sentences else rest if rest.strip() or not found else "\n".join(code)


def _without_comment_signs(text: str) -> str:
    """Return a description that goes on as a comment of several lines as words; a lone list or heading as it is."""
    lines = text.split("\n")
    if not lines[1:] or not all(_SIGN.match(line) or not line.strip() for line in lines[1:]):
        return text
    return "\n".join(_SIGN.sub("", line, count=1).strip() if _SIGN.match(line) else line.strip() for line in lines)


# --------------------------------------------------------------------------- code


def unfenced(
    text: str, prefill: str, steps: list[str], names: Collection[str] = (), but: str = "", language: Language = PYTHON
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
    (first, *others), before = found, text[: found[0].start]
    if others or first.closed or first.tag or not before.strip():
        chosen = best(found, names, but, language)
    elif _reads_levelled(before, language) and not _reads_levelled(first.text, language):
        chosen = Fenced(before, "", 0, first.start)  # a lone fence closes what was never opened
    else:
        chosen = first
    if chosen.closed or chosen.text != text:
        steps.append("fence" if chosen.closed else "fence-unterminated")
    return chosen.text


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
        ways = (each for each in inside[0].blocks if each.statements)
        way = next(
            (w for w in ways if Span(w.statements[0].span.start, w.statements[-1].span.end).overlaps(span)), None
        )
        if way is None:
            break
        path.append(way)
        block = way
    if not inside:
        return path, (), Span(0, 0)
    return path, block.statements, Span(block.statements.index(inside[0]), block.statements.index(inside[-1]) + 1)


def _descend(body: Sequence[Statement], path: Sequence[Block], steps: list[str]) -> Sequence[Statement]:
    """Go into the blocks around the region as far as the answer repeats them."""
    for depth, holder in enumerate(path):
        found = next((block for each in body for block in each.blocks if block.head == holder.head), None)
        if found is not None:
            whole = "whole-file" if len(body) > 1 else "class-body" if holder.body else "function-body"
            steps.append(whole if holder.name else "block-body")
            return _descend(found.statements, path[depth + 1 :], [])
    return body


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
    """Take the new code as it stands in its file.

    `old` is the old code, whose line ends and indentation the new code takes; `prefill` what the answer already
    started with. Steps: `label-dropped`, `prose`, `fence`, `fence-unterminated`, `reindented`, `newlines`,
    `joiner-dropped`; and what is to be said of the code: `empty`, `no-code`, `unparsable`.
    """
    steps: list[str] = []
    lines = NEWLINES.sub("\n", without_joiners(raw, old, steps)).split("\n")
    if _NEW_LABEL.fullmatch(lines[0]) and lines[0].strip().startswith("["):  # the prompt's mark, repeated
        steps.append("label-dropped")
        del lines[0]
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


# --------------------------------------------------------------------------- code blocks

_RUN = re.compile(r"`{3,}|~{3,}")
_LEAD = re.compile(r"[ \t]*(?:>[ \t]?)*[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?")
"""What may stand before a fence: white space, quote signs, the sign of a list."""
_QUOTED = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.M)
_TAG = re.compile(r"[ \t]*[\w+#.-]*[ \t]*")
_WORD = re.compile(r"[A-Za-z][\w+#.-]*[ \t]+")
NOT_CODE = frozenset({"bash", "sh", "shell", "console", "text", "txt", "plaintext", "output", "diff", "json", "pycon"})
"""Tags of blocks that hold something else while another block is there."""


@dataclass(frozen=True, slots=True)
class Fenced:
    """One code block: its content, its tag, and where it stands with its fences."""

    text: str
    tag: str
    start: int
    end: int
    closed: bool = True  # it has an end of its own
    inline: bool = False  # it stands in the middle of a line of words


class _End(NamedTuple):
    """A place where a block may end: its content ends at `inner`, it does itself at `outer`."""

    inner: int
    outer: int
    kind: str


def blocks(text: str, opened: str = "", language: Language = PYTHON) -> list[Fenced]:
    """Return the blocks of a text in order; `opened`: the fence that its prompt ended with, if there was one."""
    first, _, rest = text.lstrip("\n").partition("\n")
    lead = _LEAD.match(first)
    run = _RUN.match(first, lead.end() if lead else 0)
    # A model may open its own block once more: a fence and nothing else, with a tag or without.
    again = run is not None and _TAG.fullmatch(first, run.end()) and rest.strip()
    if not again and (mark := _RUN.match(opened.strip())) is not None:
        return [_block(language, text, 0, 0, mark[0], "", "", begun=True)]
    found: list[Fenced] = []
    at = 0
    while (block := _next(language, text, at)) is not None:
        found.append(block)
        at = max(block.end, at + 1)
    return found


def best(found: Sequence[Fenced], names: Collection[str] = (), but: str = "", language: Language = PYTHON) -> Fenced:
    """Return the block that answers: the one that defines what was asked (`names`), else the longest.

    `but`: code that was shown, which is no answer while another block is there.
    """

    def rank(block: Fenced) -> tuple[bool, bool, bool, int]:
        defines = any(language.defined_in(name, block.text) for name in names)
        repeats = bool(but.strip()) and block.text.split() == but.split()
        return not repeats, defines, block.tag not in NOT_CODE, len(block.text.strip())

    return max(reversed(found), key=rank)  # of equal ones the last


def _next(language: Language, text: str, at: int) -> Fenced | None:
    for run in _RUN.finditer(text, at):
        line = text.rfind("\n", 0, run.start()) + 1
        end = text.find("\n", run.end())
        end = len(text) if end < 0 else end
        lead, rest = text[line : run.start()], text[run.end() : end]
        alone = _LEAD.fullmatch(lead) is not None
        if run[0][0] == "~":
            # Python reads `~~~x` as well: a fence has an end, or stands first.
            closes = re.search(rf"^[ \t>]*{run[0]}", text[end:], re.M)
            if alone and "~" not in rest and (closes or not text[: run.start()].strip()):
                return _block(language, text, line, min(end + 1, len(text)), run[0], rest, lead)
            continue
        closing = rest.find(run[0])
        if closing >= 0:
            if rest[:closing].strip():
                stop = run.end() + closing + len(run[0])
                return Fenced(_untagged(language, rest[:closing].strip()), "", run.start(), stop, inline=True)
        elif alone or _TAG.fullmatch(rest):
            # A fence behind words says nothing of what stands before the lines below it.
            start, lead = (line, lead) if alone else (run.start(), "")
            return _block(language, text, start, min(end + 1, len(text)), run[0], rest, lead)
        elif (closing := text.find(run[0], end)) >= 0:  # a block that begins in the middle of a line of words
            inner = _untagged(language, text[run.end() : closing].strip(" \t"))
            return Fenced(inner, "", run.start(), closing + len(run[0]), inline=True)
    return None


def _untagged(language: Language, code: str) -> str:
    """Return code in a line without the tag before it, with which it does not parse."""
    bare = code[found.end() :] if (found := _WORD.match(code)) else ""
    return bare if bare and reads(bare, language) and not reads(code, language) else code


def _block(
    language: Language, text: str, start: int, inner: int, mark: str, info: str, lead: str, begun: bool = False
) -> Fenced:
    """Return the block whose content begins at `inner`: to the first end with which it parses, else to its first."""
    words = info.strip().strip("{}.").split()
    tag = words[0].lower() if words else ""
    ends = list(_ends(text, inner, mark))

    def content(end: int) -> str:
        """Return what stands there without what stands before all its lines: quote signs, a list's indentation."""
        code, margin = text[inner : max(inner, end)], lead
        if ">" in lead:
            code = _QUOTED.sub("", code)
            margin = lead[lead.rfind(">") + 1 :].removeprefix(" ")
        lines = code.split("\n")
        cut = min([len(margin), *(len(line) - len(line.lstrip()) for line in lines if line.strip())])
        return "\n".join(line[cut:] for line in lines)

    def readable(code: str) -> bool:
        return reads(code, language) or _reads_levelled(code, language)

    def depth(end: _End) -> int:
        """Return the width of the indentation, quote marks included, of the fence there, or of the next block's."""
        at = end.outer
        line = text[at : text.find("\n", at)] if end.kind == "next" else text[text.rfind("\n", 0, at) + 1 : at]
        return len(line) - len(line.lstrip(" \t>"))

    chosen = next((end for end in ends if (code := content(end.inner)).strip() and readable(code)), None)
    # To others backticks are the marks of strings: what follows a fence may parse as well.
    python = language is PYTHON
    if python and chosen is None and not begun and ends and readable(content(len(text))):
        return Fenced(content(len(text)), tag, start, len(text), closed=False)
    if chosen is None:
        deep = len(lead) + 3  # of a fence that stands deeper Markdown says that it belongs to the code
        outer = [end for end in ends if end.kind != "glued" and depth(end) <= deep]
        loose = [end for end in ends if end.kind != "glued"] + ([] if begun else ends)
        chosen = next(iter([*outer, *loose]), None)
    if chosen is None:
        return Fenced(content(len(text)), tag, start, len(text), closed=False)
    return Fenced(content(chosen.inner), tag, start, chosen.outer, chosen.kind != "next")


def _ends(text: str, inner: int, mark: str) -> Iterator[_End]:
    """Yield the places where a block may end.

    These are a fence of its kind alone on a line, one behind code, and the beginning of the next block.
    """
    at = inner
    while at <= len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        lead = _LEAD.match(line)
        bare = line[lead.end() if lead else 0 :].rstrip()
        runs = len(bare) - len(bare.lstrip(mark[0]))
        if runs >= len(mark) and runs == len(bare):
            yield _End(at - 1, end, "alone")
        elif runs >= len(mark) and _TAG.fullmatch(bare, runs):
            yield _End(at - 1, at, "next")
        elif mark[0] == "`" and bare.endswith(mark):
            yield _End(at + len(line.rstrip()) - (len(bare) - len(bare.rstrip("`"))), end, "glued")
        at = end + 1


# --------------------------------------------------------------------------- indentation

_STRING_TOKENS = {tokenize.STRING} | {
    getattr(tokenize, name) for name in ("FSTRING_MIDDLE", "TSTRING_MIDDLE") if hasattr(tokenize, name)
}


def _reads_levelled(code: str, language: Language) -> bool:
    return reads(level(code, language=language), language)


def level(text: str, indentation: str = "", language: Language = PYTHON) -> str:
    """Return `text` moved to column 0; a first line that alone lost its indentation is set right.

    `indentation`: what the other lines have before them when the text was copied from its place in the file.
    """
    lines = [line.rstrip() for line in text.strip("\n").rstrip().split("\n")]
    frozen = _string_lines("\n".join(lines), language)
    if language is not PYTHON:
        return "\n".join(_levelled(lines, indentation, frozen, language))
    if indentation and (copied := _copied(lines, indentation, frozen)):
        return copied
    moved = _dedented(lines, frozen, 0)
    if len(lines) > 1 and parsed("\n".join(moved)) is None:
        rest = _dedented(lines, frozen, 1)
        deeper = "    " if lines[0].endswith(":") else ""
        for extra in (deeper, ""):
            mended = [lines[0].lstrip(), *(_shift(line, extra, i + 1 in frozen) for i, line in enumerate(rest[1:]))]
            if parsed("\n".join(mended)) is not None:
                return "\n".join(mended)
    return "\n".join(moved)


def place(text: str, indentation: str, language: Language = PYTHON) -> str:
    """Return levelled `text` as it stands at a span: the first line bare, the others behind `indentation`."""
    lines = text.split("\n")
    frozen = _string_lines(text, language)
    return "\n".join([lines[0], *(_shift(line, indentation, i in frozen) for i, line in enumerate(lines) if i)])


def _copied(lines: list[str], indentation: str, frozen: frozenset[int]) -> str:
    """Return the text when its first line is bare and the others stand as deep as in the file; else empty."""
    rest = [line for i, line in enumerate(lines) if i and i not in frozen and line]
    if not rest or lines[0][:1].isspace() or not all(line.startswith(indentation) for line in rest):
        return ""
    if not rest[0][len(indentation) :][:1].isspace():
        return ""
    cut = [line if i == 0 or i in frozen else line[len(indentation) :] for i, line in enumerate(lines)]
    return "\n".join(cut) if parsed("\n".join(cut)) is not None else ""


def _shift(line: str, indentation: str, frozen: bool) -> str:
    return line if frozen or not line else indentation + line


def _dedented(lines: list[str], frozen: frozenset[int], start: int) -> list[str]:
    margin = shared_indent(line for i, line in enumerate(lines) if i >= start and i not in frozen)
    return [line[len(margin) :] if i >= start and i not in frozen else line for i, line in enumerate(lines)]


def _levelled(lines: list[str], indentation: str, frozen: frozenset[int], language: Language) -> list[str]:
    """Return lines of a language of braces moved to column 0.

    What the layout means to others tells whether the first line alone lost its indentation: a closing bracket or the
    next statement then stands at the margin that the other lines share.
    """
    moved = _dedented(lines, frozen, 0)
    margin = shared_indent(line for i, line in enumerate(moved) if i and i not in frozen)
    if not margin or indent_of(moved[0]):
        return moved
    if indentation and margin.startswith(indentation) and margin != indentation:  # copied from its place in the file
        return [line if i == 0 or i in frozen else line[len(indentation) :] for i, line in enumerate(moved)]
    block = fragment("\n".join(moved), language)
    starts = {statement.first - 1 for statement in block.statements[1:]} if block else set[int]()
    at_margin = (i for i, line in enumerate(moved) if i and i not in frozen and indent_of(line) == margin and line)
    lost = any(i in starts or moved[i][len(margin)] in ")]}" for i in at_margin)
    return _dedented(moved, frozen, 1) if lost else moved


@lru_cache(maxsize=32)  # each way to read an answer asks again
def _string_lines(text: str, language: Language) -> frozenset[int]:
    if language is not PYTHON:
        return frozen_lines(text, language)
    inside: set[int] = set()
    try:
        # In brackets the tokenizer does not care about indentation, which may still be wrong here.
        for token in tokenize.generate_tokens(io.StringIO(f"(\n{text}\n)").readline):
            if token.type in _STRING_TOKENS:
                inside.update(range(token.start[0] - 1, token.end[0] - 1))
    except (tokenize.TokenError, SyntaxError):
        pass
    return frozenset(inside)
