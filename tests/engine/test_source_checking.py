"""Which files do not compile, found in this process or in one of its own."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from source_trees import write_tree

from rtc_inspector.core.source import reading
from rtc_inspector.core.source.codebase import open_codebase, without


@pytest.mark.parametrize("in_place", [10**6, 0])
def test_a_project_read_without_the_compiler_ends_as_one_read_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_place: int
) -> None:
    monkeypatch.setattr(reading, "IN_PLACE", in_place)
    files = {"good.py": "x = 1\n", "tests/test_good.py": "def test_x():\n    assert True\n", "bad.py": "def broken(:\n"}
    root = write_tree(tmp_path, files)
    quick = open_codebase(root, compiled=False)
    assert "bad.py" in {file.path for file in quick.files}
    assert without(quick, reading.Checking(quick).broken()) == open_codebase(root)


def test_a_file_that_vanished_meanwhile_is_left_to_the_next_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "IN_PLACE", 0)
    codebase = open_codebase(write_tree(tmp_path, {"a.py": "x = 1\n", "b.py": "y = (\n"}), compiled=False)
    (tmp_path / "b.py").unlink()
    assert reading.Checking(codebase).broken() == {}


def test_a_check_that_is_stopped_says_nothing_and_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "IN_PLACE", 0)
    body = "".join(f"def function_{n}(value):\n    return value + {n}\n" for n in range(4_000))
    files = {f"m{n}.py": body for n in range(40)} | {"bad.py": "x = (\n"}
    check = reading.Checking(open_codebase(write_tree(tmp_path, files), compiled=False))
    found: list[dict[str, str]] = []
    asking = threading.Thread(target=lambda: found.append(check.broken()))
    asking.start()
    while not check.is_alive() and asking.is_alive():
        time.sleep(0.001)
    check.stop()
    asking.join(30)
    assert found == [{}] and not check.is_alive(), "it went on to the end, and found what does not parse"
    assert check.broken() == {}
