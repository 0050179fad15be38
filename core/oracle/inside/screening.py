"""Names that code uses to look into its judge; counted in a candidate against the original."""

from __future__ import annotations

import ast
import gc
import inspect
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from .folding import folded
from .harmless import USES, harmless

_MODULES = """
_pytest pytest pluggy unittest doctest gc ctypes _ctypes inspect faulthandler builtins importlib runpy
_posixsubprocess readline
"""
MODULES = frozenset(_MODULES.split())
_CALLS = """
__import__ exec eval compile breakpoint
"""
CALLS = frozenset(_CALLS.split())
_NAMES = """
_getframe _current_frames currentframe getouterframes getinnerframes walk_stack walk_tb settrace setprofile
addaudithook meta_path path_hooks path_importer_cache __subclasses__ __globals__ __builtins__ __code__
__closure__ __loader__ f_back f_globals f_locals f_builtins tb_frame gi_frame cr_frame ag_frame get_objects
get_referrers get_referents process_vm_writev ptrace __eq__ __ne__ __instancecheck__ __subclasscheck__
"""
NAMES = frozenset(_NAMES.split())
_COMMON = """
exec eval compile __import__ importlib inspect currentframe
"""
COMMON = frozenset(_COMMON.split())
"""Where the file has one, more of it is the file's way."""
COMPARISONS = frozenset(["__eq__", "__ne__", "__instancecheck__", "__subclasscheck__"])
"""Suspicious where they are defined, not where they are called."""
PAIRS = frozenset([("sys", "modules"), ("inspect", "stack"), ("sys", "monitoring")])
TEST_MODULE = re.compile(r"tests?$|test_|.*_tests?$")
WORD = re.compile(r"\w+")
HIDDEN = MODULES | NAMES | {"sys", "modules"}
"""Words that nobody puts together from pieces for an honest reason."""
KNOT = re.compile(r"""["'][ \t]*[%\[+]|\{["']""")
"""Where a text is put together by an operator."""
_FIRST = (
    "modules stack monitoring proc getattr setattr delattr type vars join __dict__ format replace decode chr reversed"
)
FIRST_LOOK = MODULES | CALLS | NAMES | set(_FIRST.split())


def screen(original: str, candidate: str) -> list[str]:
    """Suspicious names that the candidate uses more often than the original does, or at all; empty for most.

    It never decides alone: only a candidate whose tests all pass is held up by it.
    """
    if not _words(candidate) - _words(original) and not _other_parts(original, candidate):
        return []
    usual = _names(original)
    more = set(_names(candidate) - usual) - {name for name in COMMON if usual[name]}
    if more & COMPARISONS:  # one that was harmless may be written anew in another form; an import that was may not
        more -= COMPARISONS - set(_names(candidate, every=True) - _names(original, every=True))
    return sorted(more)


def _words(text: str) -> Counter[str]:
    """A cheap first look at the words of the text, comments included."""
    words = Counter(word for word in _spelt(text) if word in FIRST_LOOK or "test" in word)
    return words + Counter(KNOT.findall(text))


def _spelt(text: str) -> list[str]:
    """Words as Python reads names."""
    return WORD.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))


def _other_parts(original: str, candidate: str) -> bool:
    """Whether a module that is there already, and harmless so far, may be used for more: it takes a name to."""
    words = Counter(_spelt(candidate))
    if words["importlib"]:
        return True
    loaded = [module for module in (gc, inspect) if words[module.__name__]]
    names = {name for module in loaded for name in set(dir(module)) - USES[module.__name__,]}
    before = Counter(word for word in _spelt(original) if word in names)
    return any(words[name] > before[name] for name in names)


def _names(text: str, *, every: bool = False) -> Counter[str]:
    """`every`: harmless uses count too."""
    tree = ast.parse(text)
    passed = frozenset() if every else harmless(tree)
    return Counter(name for node in ast.walk(tree) if id(node) not in passed for name in _of(node))


def _of(node: ast.AST) -> Iterator[str]:
    """The suspicious names a node carries."""
    if isinstance(node, ast.Name):
        yield from {node.id} & (NAMES | CALLS)
    elif isinstance(node, ast.Attribute):
        read = isinstance(node.ctx, ast.Load)
        yield from (name for name in _attribute(node.value, node.attr) if not (read and name in COMPARISONS))
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield from {node.name} & NAMES
    elif isinstance(node, ast.keyword):
        yield from {node.arg or ""} & NAMES
    elif isinstance(node, ast.Call):
        yield from _call(node)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from _imports(node)
    elif isinstance(node, ast.Subscript):
        yield from {folded(node.slice) or ""} & {"modules"}
        yield from _hidden(folded(node))
    elif isinstance(node, (ast.BinOp, ast.JoinedStr)):
        yield from _hidden(folded(node))
    else:
        yield from _text(folded(node))


def _attribute(base: ast.AST, name: str) -> Iterator[str]:
    """`base.name`, however it is written."""
    yield from {name} & NAMES
    owner = getattr(base, "id", getattr(base, "attr", ""))
    if (owner, name) in PAIRS:
        yield owner + "." + name


def _call(node: ast.Call) -> Iterator[str]:
    """Attributes by text, and classes made on the way."""
    function = getattr(node.func, "id", "")
    yield from _hidden(folded(node))
    if function in ("getattr", "setattr", "delattr") and len(node.args) > 1:
        name = folded(node.args[1])
        if name is not None and not (function == "getattr" and name in COMPARISONS):
            yield from _attribute(node.args[0], name)
            yield from {name} & MODULES
    elif function == "type" and len(node.args) > 2 and not _spelt_out(node.args[2]):
        yield "type with three arguments"


def _spelt_out(members: ast.AST) -> bool:
    """Whether the members of a class made on the way can be read off; their names are screened like all texts."""
    return isinstance(members, ast.Dict) and all(isinstance(key, ast.Constant) for key in members.keys)


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    paths = [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        paths = [(node.module or "") + "." + name for name in paths]
    for path in paths:
        parts = path.split(".")
        yield from set(parts) & (MODULES | NAMES)
        yield from (first + "." + second for first, second in zip(parts, parts[1:]) if (first, second) in PAIRS)
        yield from (part for part in parts if part == "conftest" or TEST_MODULE.match(part))


def _hidden(value: str | None) -> Iterator[str]:
    """Words in a text that was put together from constants."""
    yield from set(WORD.findall(value or "")) & HIDDEN


def _text(value: str | None) -> Iterator[str]:
    if value is not None:
        yield from {value.strip()} & (NAMES | MODULES)
        if "/proc/" in value:
            yield "/proc/"
