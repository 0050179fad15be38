"""What runs beside the tests: comparisons tried with other values, and folders made again."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from core.oracle.inside.altered import odd_pairs
from core.oracle.inside.comparisons import EVENT, Comparisons, _Redirect
from core.oracle.inside.lineup import LineUp
from core.oracle.inside.scratch import Scratch, remove


class Anything:
    def __eq__(self, other: object) -> bool:
        return True

    def __contains__(self, other: object) -> bool:
        return True

    def __lt__(self, other: object) -> bool:
        return True

    __gt__ = __le__ = __lt__
    __hash__ = object.__hash__


@pytest.fixture
def heard() -> list[tuple[Any, ...]]:
    return []


@pytest.fixture
def comparisons(heard: list[tuple[Any, ...]]) -> Comparisons:
    made = Comparisons()
    made.listen(lambda *values: heard.append(values))
    return made


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [
        ("Eq", Anything(), 3),
        ("Eq", [1, Anything()], [1, 2]),
        ("Eq", {"a": (1, Anything())}, {"a": (1, 2)}),
        ("Eq", "text", Anything()),
        ("Eq", Decimal(3), Anything()),
        ("In", 3, Anything()),
        ("In", Anything(), [3]),
        ("Lt", Anything(), 3),
        ("LtE", Anything(), 3),
    ],
)
def test_a_value_like_any_other_is_named(
    comparisons: Comparisons, heard: list[Any], name: str, left: Any, right: Any
) -> None:
    assert comparisons.compare(name, left, right) is True
    assert [values[:2] for values in heard] == [("audit", EVENT)]


class Learner:
    """Equal to what lies between values it has seen."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def __eq__(self, other: object) -> bool:
        self.seen.append(other)
        return any(value > other for value in self.seen) and any(value < other for value in self.seen)

    __hash__ = object.__hash__


@dataclass
class Price:
    cents: int


class Pricelike:
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Price)

    __hash__ = object.__hash__


def test_a_value_that_learns_must_have_guessed_first(comparisons: Comparisons, heard: list[Any]) -> None:
    believed = 0
    for _ in range(50):
        heard.clear()
        comparisons._seen.clear()
        believed += bool(comparisons.compare("Eq", Learner(), 50)) and not heard
    assert believed < 15


def test_objects_of_a_class_are_told_from_one_another(comparisons: Comparisons, heard: list[Any]) -> None:
    assert comparisons.compare("Eq", Pricelike(), Price(3)) is True
    assert [values[:2] for values in heard] == [("audit", EVENT)]


VALUES = [3, -1.5, 2j, True, "a1", "", "--", b"xy", [1, "a"], (1, [2]), {"a": 1}, {1, 2}, frozenset("a"), [], {}, None]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_row_holds_the_value_meant_and_others(value: object) -> None:
    row = LineUp().of(value)
    assert all((other == value) is same for other, same in row)
    assert [same for _, same in row].count(True) == 1 < len(row)


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [
        ("Eq", Decimal(3), 3),
        ("Eq", [Decimal(1)], [1]),
        ("Eq", Path("a"), Path("a")),
        ("NotEq", Decimal(3), 4),
        ("In", 3, range(4)),
        ("In", Decimal(3), {3}),
        ("Lt", Decimal(2), 3),
        ("Eq", float("nan"), pytest.approx(float("nan"), nan_ok=True)),
    ],
)
def test_honest_values_are_not(comparisons: Comparisons, heard: list[Any], name: str, left: Any, right: Any) -> None:
    assert comparisons.compare(name, left, right) is True
    assert not heard


def test_a_generator_is_not_used_up(comparisons: Comparisons) -> None:
    assert comparisons.compare("In", 2, iter([1, 2, 3])) is True


def test_values_of_plain_classes_need_no_second_look() -> None:
    assert not list(odd_pairs({"a": [1, "b", None]}, {"a": [1, "b", None]}))


def test_only_assertions_are_redirected() -> None:
    tree = ast.parse("if a == b: pass\nself.assertTrue(a == b)\nx = a == b")
    assert ast.unparse(_Redirect().visit(tree)).count("_rtc_inspector_compare") == 1


def test_a_folder_is_made_again_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "kept" / "inner").mkdir(parents=True)
    (tmp_path / "kept" / "file").write_text("first")
    (tmp_path / "link").symlink_to("kept")
    scratch = Scratch([str(tmp_path)])
    (tmp_path / "kept" / "file").write_text("changed")
    (tmp_path / "link").unlink()
    (tmp_path / "kept" / "inner").rmdir()
    (tmp_path / "kept" / "inner").symlink_to("/")
    (tmp_path / "new").mkdir()
    scratch.restore()
    assert (tmp_path / "kept" / "file").read_text() == "first"
    assert (tmp_path / "link").readlink() == Path("kept")
    assert (tmp_path / "kept" / "inner").is_dir() and not (tmp_path / "kept" / "inner").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "link"]


def test_a_folder_of_any_depth_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(1500):
        Path("d" * 40).mkdir()
        os.chdir("d" * 40)
    os.chdir(tmp_path)
    remove(str(tmp_path), "d" * 40)
    assert not list(tmp_path.iterdir())
