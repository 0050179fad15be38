"""Which files do not compile, found in this process or in one of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_trees import write_tree

from core.source import checking
from core.source.codebase import open_codebase, without


@pytest.mark.parametrize("in_place", [10**6, 0])
def test_a_project_read_without_the_compiler_ends_as_one_read_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_place: int
) -> None:
    monkeypatch.setattr(checking, "IN_PLACE", in_place)
    files = {"good.py": "x = 1\n", "tests/test_good.py": "def test_x():\n    assert True\n", "bad.py": "def broken(:\n"}
    root = write_tree(tmp_path, files)
    quick = open_codebase(root, compiled=False)
    assert "bad.py" in {file.path for file in quick.files}
    assert without(quick, checking.broken_files(quick)) == open_codebase(root)


def test_a_file_that_vanished_meanwhile_is_left_to_the_next_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "IN_PLACE", 0)
    codebase = open_codebase(write_tree(tmp_path, {"a.py": "x = 1\n", "b.py": "y = (\n"}), compiled=False)
    (tmp_path / "b.py").unlink()
    assert checking.broken_files(codebase) == {}
