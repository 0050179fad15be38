"""What runs beside the tests: folders made again, and a framework that is watched."""

from __future__ import annotations

import importlib.machinery
import os
import re
import textwrap
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _pytest.assertion import rewrite

from rtc_inspector.core.oracle.inside.scratch import Scratch, remove, unescaped
from rtc_inspector.core.oracle.inside.sessions import remember
from rtc_inspector.core.oracle.inside.tampering import snapshot


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


def test_assertions_of_a_test_file_are_rewritten_once_when_it_is_first_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader, usual, made = importlib.machinery.SourceFileLoader, rewrite._rewrite_test, list[str]()

    def counted(path: Path, config: Any) -> Any:
        made.append(path.name)
        return usual(path, config)

    monkeypatch.setattr(loader, "source_to_code", loader.source_to_code)
    monkeypatch.setattr(rewrite, "_rewrite_test", counted)
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text("def test(): assert 1\n")
    prepare = remember({"root": str(tmp_path), "rewritten": ["test_a.py", "test_b.py"]})
    prepare({"tests": ["test_a.py::test"]})
    config: Any = SimpleNamespace(getini=lambda name: False)
    first, second = (rewrite._rewrite_test(tmp_path / "test_a.py", config) for _ in range(2))
    assert first is second and made == ["test_a.py"]
    prepare({"tests": ["test_b.py::test"], "stages": [["test_a.py::test"], ["test_b.py::test"]]})
    assert made == ["test_a.py"], "a later stage may not be reached"
    prepare({"tests": ["test_a.py::test"], "whole": True})
    assert made == ["test_a.py", "test_b.py"]


def other(*_: Any) -> bool:
    return True


def patch_code() -> None:
    textwrap.dedent.__code__ = other.__code__


@pytest.mark.parametrize(
    ("patch", "named"),
    [
        (lambda: setattr(re, "search", other), ["re.search"]),
        (lambda: setattr(Path, "exists", other), ["Path.exists"]),
        (lambda: vars(re).update(len=other), ["re.len"]),
        (lambda: delattr(textwrap, "fill"), ["textwrap.fill"]),
    ],
)
def test_what_is_patched_is_named(patch: Callable[[], None], named: list[str]) -> None:
    held = dict(vars(re)), Path.exists, textwrap.fill
    changes = snapshot()
    try:
        patch()
        assert changes(False) == named
        assert changes(True) == named
    finally:
        vars(re).clear()
        vars(re).update(held[0])
        Path.exists, textwrap.fill = held[1:]  # type: ignore[method-assign,assignment]
    assert changes(False) == []


def test_other_code_is_named_where_setting_it_was_heard_of() -> None:
    changes, code = snapshot(), textwrap.dedent.__code__
    try:
        patch_code()
        assert "textwrap.dedent.__code__" in changes(True)
    finally:
        textwrap.dedent.__code__ = code
    assert changes(True) == []


def test_places_of_mounts_are_read_with_all_that_the_kernel_escapes() -> None:
    assert unescaped(b"/a\\040b\\011c\\012d\\134e\\043f") == b"/a b\tc\nd\\e#f"


def test_a_pool_that_was_there_before_hides_no_thread_that_goes_on() -> None:
    release = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).result()
        changes = snapshot()
        thread = threading.Thread(target=release.wait)
        thread.start()
        try:
            assert changes(False) == ["a thread that goes on"]
        finally:
            release.set()
            thread.join()
