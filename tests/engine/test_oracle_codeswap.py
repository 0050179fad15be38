"""Code swap against exec of the whole changed file, and when it is refused."""

from __future__ import annotations

import os
import types
from pathlib import Path

import pytest

from rtc_inspector.core.oracle.inside.codeswap import Functions, Outline, Refusal, swap

TEXT = '''from __future__ import annotations

BASE = 1


def plain(x):
    """Doc."""
    y = x + BASE
    return y


class Thing:
    def __init__(self, size):
        self.__size = size

    def size(self):
        extra = 1
        return self.__size + extra

    if BASE:
        def inner(self, n):
            total = n
            return super().__repr__()[:0] + str(total)


def maker(n):
    def made(x):
        value = x + n
        return value
    return made


def ran():
    z = 2
    return z


VALUE = ran()
ADD = maker(3)


def wide(
    x,
    y=BASE,
):
    w = x + y
    return w
'''


@pytest.fixture
def module(tmp_path: Path) -> types.ModuleType:
    path = os.path.realpath(tmp_path / "thing.py")
    Path(path).write_text(TEXT)
    found = types.ModuleType("thing")
    found.__file__ = path
    exec(compile(TEXT, path, "exec"), vars(found))  # noqa: S102 - the fixture is ours
    return found


def swapped(module: types.ModuleType, old: str, new: str) -> None:
    start = TEXT.index(old)
    first = TEXT.count("\n", 0, start) + 1
    request = {
        "path": "thing.py",
        "text": TEXT.replace(old, new, 1),
        "first_line": first,
        "last_line": first + old.count("\n"),
        "import_lines": {"thing.py": [1, 3, 6, 12, 13, 16, 20, 21, 26, 27, 30, 33, 34, 35, 38, 39, 42, 44]},
    }
    assert module.__file__ is not None
    swap(Functions(), Outline(module.__file__, TEXT), request)


def test_a_function_gets_its_new_code(module: types.ModuleType) -> None:
    swapped(module, "y = x + BASE", "y = (\n        x\n        - BASE)")
    assert module.plain(5) == 4
    assert module.plain.__code__.co_firstlineno == 6
    assert module.plain.__doc__ == "Doc."


def test_private_names_and_super_still_work(module: types.ModuleType) -> None:
    swapped(module, "extra = 1\n        return self.__size + extra", "return self.__size * 10")
    assert module.Thing(2).size() == 20
    swapped(module, "total = n", "total = n * 2")
    assert module.Thing(2).inner(3) == "6"


def test_a_header_over_several_lines_is_no_code_that_runs_at_import(module: types.ModuleType) -> None:
    swapped(module, "w = x + y", "w = x - y")
    assert module.wide(5) == 4


REFUSED = [
    ("BASE = 1", "BASE = 2", "module level"),
    ("z = 2", "z = 3", "runs at import"),
    ("value = x + n", "value = x - n", "runs at import"),
    ("def plain(x):", "def plain(x, y):", "function header"),
    ("y = x + BASE\n    return y", "yield x", "kind"),
    ("    return y", "    return y\n\n\nBASE = 5", "structure"),
    ('"""Doc."""', '"""Other."""', "docstring"),
]


@pytest.mark.parametrize(("old", "new", "why"), REFUSED)
def test_what_a_swap_cannot_show_is_refused(module: types.ModuleType, old: str, new: str, why: str) -> None:
    before = module.plain.__code__
    with pytest.raises(Refusal, match=why):
        swapped(module, old, new)
    assert module.plain.__code__ is before


def test_text_that_does_not_compile_changes_nothing(module: types.ModuleType) -> None:
    with pytest.raises(SyntaxError):
        swapped(module, "y = x + BASE", "y = (")
    assert module.plain(5) == 6


def test_the_links_of_a_file_are_followed_once_for_all_its_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(os.path, "realpath", lambda path: asked.append(path) or path)
    Functions()
    assert asked and len(asked) == len(set(asked))
