"""What runs beside the tests: folders made again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.oracle.inside.scratch import Scratch, remove


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
