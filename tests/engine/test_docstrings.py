"""Docstrings of functions begin with a verb, so that a stranger understands them at first reading."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
NO_VERBS = """
    A After All Also An Another Any As At Before Behind Between Beyond Both By Each Either Else Every
    Everything Few First For From Half How If In Its Last Less Like Many More Most Much Neither No None
    Nothing Of On One Only Other Same Since Some Such That The Their These This Those To Under Until What When
    Where Whether Which While Who Whoever Whose Why With Within Without
"""


def first_words(source: str) -> Iterator[tuple[str, str]]:
    """Yield name and docstring's first word of the functions, properties aside: those are described like values."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        text = ast.get_docstring(node)
        if text and not any("property" in ast.unparse(decorator) for decorator in node.decorator_list):
            yield node.name, text.split()[0].strip(".,:;`")


@pytest.mark.parametrize("folder", ["app", "core", "rtc_inspector", "ui"])
def test_docstrings_of_functions_begin_with_a_verb(folder: str) -> None:
    files = [path for path in (ROOT / folder).rglob("*.py") if folder != "rtc_inspector" or path.parent.name == folder]
    assert files
    # What lies in bench/inside is copied into generated projects, whose digest would change with every word.
    read = {path: path.read_text(encoding="utf-8") for path in files if path.parts[-3:-1] != ("bench", "inside")}
    wrong = [
        f"{path.relative_to(ROOT)} {name}: {word}"
        for path, source in read.items()
        for name, word in first_words(source)
        if word in NO_VERBS.split()
    ]
    assert wrong == []


def test_a_docstring_without_a_verb_is_found() -> None:
    source = "class A:\n    def f(self): 'Of the socket.'\n    @property\n    def g(self): 'What it is.'\n"
    assert list(first_words(source)) == [("f", "Of")]
