"""What the baseline's key depends on, and a cache that may be broken."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rtc_inspector.core.oracle.baseline import Baseline, Chain
from rtc_inspector.core.oracle.bench.project import Origin, origin_of, write_files
from rtc_inspector.core.oracle.cache import KEPT, BaselineCache, fingerprint
from rtc_inspector.core.oracle.interpreter import describe
from rtc_inspector.core.oracle.sessionplan import make_plan, read_options
from rtc_inspector.core.oracle.verdicts import Allowances
from rtc_inspector.core.settings import OracleSettings
from rtc_inspector.core.types import CoverageMap, Suite, TestCase


def baseline() -> Baseline:
    tests = (TestCase("t.py::a", 0.5), TestCase("t.py::b", 0.1))
    lines = {3: frozenset({1, 2}), 4: frozenset({0})}  # a test that is set aside comes first
    coverage = CoverageMap(("t.py::e", "t.py::a", "t.py::b"), {"x.py": lines}, {"x.py": frozenset({1, 2})})
    needing = (TestCase("t.py::d", 0.2),)
    suite = Suite(tests, {"t.py::c": "fails"}, coverage, 1.5, "3.11.7", own_order=needing, not_asked=("t.py::e",))
    allowed = Allowances(frozenset({"a.b"}), frozenset({("os.fork", "lib.py")}))
    return Baseline(
        suite,
        0.7,
        4.0,
        ("bad.py",),
        ("json",),
        frozenset({"conftest.py"}),
        ("out",),
        allowed,
        True,
        frozenset({"t.py::b"}),
        (Chain(("t.py::a", "t.py::d"), True),),
    )


def key(root: Path, settings: OracleSettings | None = None, sandbox: str = "bubblewrap") -> str:
    settings = settings or OracleSettings()
    interpreter = dataclasses.replace(describe(Path(sys.executable)), editable=())
    plan = make_plan(root, interpreter, read_options(root), settings)
    return fingerprint(root, interpreter, plan, settings, (sandbox, ""))


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    cache = BaselineCache(tmp_path / "new" / "folder")
    cache.save("k", baseline())
    loaded = cache.load("k")
    assert loaded is not None and loaded.suite.cached
    assert dataclasses.replace(loaded, suite=dataclasses.replace(loaded.suite, cached=False)) == baseline()
    assert cache.load("other") is None


@pytest.mark.parametrize(
    "damaged",
    [
        lambda data: b"",
        lambda data: b"not gzip",
        lambda data: data[:-20],
        lambda data: data[:20] + b"\xff" * 8 + data[28:],
    ],
    ids=["empty", "another kind", "cut off", "overwritten"],
)
def test_a_broken_cache_is_no_cache(tmp_path: Path, damaged: Callable[[bytes], bytes]) -> None:
    cache = BaselineCache(tmp_path)
    cache.save("k", baseline())
    file = next(tmp_path.glob("k*"))
    file.write_bytes(damaged(file.read_bytes()))
    assert cache.load("k") is None


def test_a_cache_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    cache = BaselineCache(blocked / "below")
    cache.save("k", baseline())
    assert cache.load("k") is None


def test_old_entries_go(tmp_path: Path) -> None:
    cache = BaselineCache(tmp_path)
    for number in range(KEPT + 3):
        cache.save(str(number), baseline())
    assert len(list(tmp_path.iterdir())) == KEPT


def test_the_key_follows_content(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "data.json").write_text("{}")
    first = key(tmp_path)
    assert key(tmp_path) == first
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").write_text("changes with every command")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.cpython-311.pyc").write_bytes(b"x")
    assert key(tmp_path) == first
    (tmp_path / "data.json").write_text("[]")
    assert key(tmp_path) != first


def test_the_key_follows_settings_and_sandbox(tmp_path: Path) -> None:
    first = key(tmp_path)
    assert key(tmp_path, OracleSettings(identity_runs=5)) != first
    assert key(tmp_path, OracleSettings(workers=2)) == first
    assert key(tmp_path, sandbox="docker") != first
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --doctest-modules\n")
    assert key(tmp_path) != first


def test_a_benchmark_that_was_moved_is_not_learned_again(tmp_path: Path) -> None:
    program = "problems/p.py"
    project = write_files({program: "x = 1\n"}, "own", tmp_path, Origin("/here/own.jsonl", {program: "Own/1"}))
    first = key(project)
    assert write_files({program: "x = 1\n"}, "own", tmp_path, Origin("/there.jsonl", {program: "Own/1"})) == project
    assert origin_of(project).file == "/there.jsonl" and key(project) == first
