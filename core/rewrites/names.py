"""Take out of a program what says what it does: the name of a function, of variables, comments; by syntax tree."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from contextlib import suppress

from rtc_inspector.core.syntax import Lines, is_bare_text, parsed

# --------------------------- names hidden (IdentityChain, Sec. 4), variables made generic


# The paper replaces text: that breaks HumanEval/106, whose function is called `f` (`def` becomes `defunc`), and
# the seven problems whose name stands inside other words.
MASK = "func"
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def mask_name(source: str, name: str, mask: str = MASK) -> str:
    """Call the function `name` `mask`: its definition, its uses, and variables called like it.

    Variables too, since MBPP's bodies often keep their result under the function's own name. Attributes, methods,
    parameters, imports and texts of that name stay. Source that does not parse is taken token by token, and what is no
    Python at all word by word.
    """
    places = name_places(source, name)
    if places is None:
        return _mask_tokens(source, name, mask)
    return _replaced(source, places, name, mask)


def name_places(source: str, name: str) -> list[int] | None:
    """Return the offsets at which `mask_name` masks; None for source that does not parse."""
    tree = parsed(source)
    return None if tree is None else _standing(source, _uses(source, Lines(source), tree, name), name)


def mask_words(text: str, name: str, mask: str = MASK) -> str:
    """Replace the name in words of a person or a model where it stands as a word of its own."""
    return re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", mask, text)


def generic_variables(source: str) -> str | None:
    """Call variables and parameters `var0`, `var1` ... by first appearance (metric audit, Sec. 6).

    Functions, classes, imports, attributes, keywords of calls and names declared global stay. None for source that does
    not parse.
    """
    tree = parsed(source)
    if tree is None:
        return None
    bound, fixed, lines = set[str](), set[str](), Lines(source)
    places: dict[str, list[int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            places.setdefault(node.id, []).append(lines.start(node))
            bound |= {node.id} if isinstance(node.ctx, ast.Store) else set()
        elif isinstance(node, ast.arg):
            places.setdefault(node.arg, []).append(lines.offset(node.lineno, node.col_offset))
            bound.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            named = re.compile(rf"\bas\s+({re.escape(node.name)})\s*:")
            if found := named.search(source, *lines.bounds(node.lineno)):
                places.setdefault(node.name, []).append(found.start(1))
                bound.add(node.name)
        elif isinstance(node, ast.Nonlocal):
            for name in node.names:
                places.setdefault(name, []).append(_definition(source, lines, node, name))
        elif isinstance(node, ast.Global):
            fixed |= set(node.names)
        elif isinstance(node, _Definition):
            fixed.add(node.name)
        elif isinstance(node, ast.alias):
            fixed.add((node.asname or node.name).split(".")[0])
    at = {offset: name for name in bound - fixed for offset in _standing(source, places[name], name)}
    called: dict[str, str] = {}
    parts, end = list[str](), 0
    for offset in sorted(at):
        name = at[offset]
        parts += source[end:offset], called.setdefault(name, f"var{len(called)}")
        end = offset + len(name)
    return "".join([*parts, source[end:]])


def _uses(source: str, lines: Lines, tree: ast.AST, name: str) -> Iterator[int]:
    """Yield the offsets where the function is defined, declared or used below a node."""
    for node in ast.iter_child_nodes(tree):
        names_it = isinstance(node, _Definition) and node.name == name and not isinstance(tree, ast.ClassDef)
        if isinstance(node, ast.Name) and node.id == name:
            yield lines.start(node)
        elif (isinstance(node, _Definition) and names_it) or (
            isinstance(node, ast.Global | ast.Nonlocal) and name in node.names
        ):
            yield _definition(source, lines, node, name)
        if not (isinstance(node, _Scope | ast.ClassDef) and name in _other_names(node)):
            yield from _uses(source, lines, node, name)


def _definition(source: str, lines: Lines, node: ast.stmt, name: str) -> int:
    """Return the offset of the name in a statement that binds or declares it, e.g. behind `def`."""
    start, (_, end) = lines.start(node), lines.bounds(node.lineno)
    found = re.compile(rf"\b(?:def|class|global|nonlocal)\b.*?\b({re.escape(name)})\b").search(source, start, end)
    return found.start(1) if found else start


def _other_names(scope: _Scope | ast.ClassDef) -> set[str]:
    """Return names that mean something else in there: parameters, imports, errors caught, attributes of a class."""
    names = set[str]()
    if not isinstance(scope, ast.ClassDef):
        arguments = scope.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        names = {one.arg for one in every if one is not None}
    waiting: list[ast.AST] = [scope.body] if isinstance(scope, ast.Lambda) else list(scope.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and isinstance(scope, ast.ClassDef):
            names.add(node.id)
        if not isinstance(node, _Scope | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
    return names


def _mask_tokens(source: str, name: str, mask: str) -> str:
    lines = Lines(f"{source}\n")  # the last token stands on the line behind the last one

    def offset(line: int, column: int) -> int:
        return lines.bounds(line)[0] + column

    places: list[int] = []
    before, end = "", 0
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NAME and token.string == name and before != ".":
                places.append(offset(*token.start))
            before, end = token.string, offset(*token.end)
    done = source[:end]
    return _replaced(done, _standing(done, places, name), name, mask) + mask_words(source[end:], name, mask)


def _standing(source: str, places: Iterable[int], name: str) -> list[int]:
    """Return the places in order, without those where the name does not stand after all."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    return [at for at in sorted(set(places)) if word.match(source, at)]


def _replaced(source: str, places: list[int], name: str, mask: str) -> str:
    for at in reversed(places):
        source = source[:at] + mask + source[at + len(name) :]
    return source


# --------------------------- comments and docstrings


_BARE_TEXT = re.compile(r'^[ \t]*[rbuRBU]{0,2}("""|\'\'\')(?:.|\n)*?(?:\1|\Z)[ \t]*$', re.MULTILINE)
_COMMENT_LINE = re.compile(r"^[ \t]*#.*\n?", re.MULTILINE)


def without_comments(source: str) -> str:
    """Return the program without comments and texts that stand alone as statements, docstrings among them.

    What is left stands as it did. A block that held nothing else gets a `pass`. Source that does not parse is treated
    by its lines: what begins as a comment goes, and so do texts in triple quotes that begin a line.
    """
    tree = parsed(source)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (SyntaxError, tokenize.TokenError):
        tree = None
    if tree is None:
        return _COMMENT_LINE.sub("", _BARE_TEXT.sub("", source))
    lines: list[str | None] = [*source.split("\n")]
    for token in tokens:
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = (lines[row - 1] or "")[:column].rstrip() or None
    for node in ast.walk(tree):
        for block in (getattr(node, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(block, list):
                _drop_texts(lines, block, needed=not isinstance(node, ast.Module))
    return "\n".join(line for line in lines if line is not None).strip("\n")


def _drop_texts(lines: list[str | None], block: list[ast.stmt], *, needed: bool) -> None:
    """Drop the statements of a block that are texts and nothing else; `needed`: the block must hold a statement."""
    texts = [node for node in block if is_bare_text(node)]
    for node in texts:
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        before = (lines[first] or "").encode()[: node.col_offset].decode()
        after = (lines[last] or "").encode()[node.end_col_offset or 0 :].decode()
        if before.strip() or after.strip():
            continue  # it shares its line with code, as in `def f(): "text"`
        alone = needed and node is texts[-1] and len(texts) == len(block)
        lines[first] = f"{before}pass" if alone else None
        for row in range(first + 1, last + 1):
            lines[row] = None
