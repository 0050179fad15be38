"""Which of a project's pytest options are kept, and where its configuration is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtc_inspector.core.oracle.sessionplan import only_unittest_finds_tests, read_options, split_addopts

SPLITS = [
    ("--doctest-modules -q", ("--doctest-modules",), ("-q",)),
    ("--cov thing --cov-report term tests", ("tests",), ("--cov", "thing", "--cov-report", "term")),
    ("--cov --cov-branch -ra", (), ("--cov", "--cov-branch", "-ra")),
    ("-n auto --dist=loadfile -W error", ("-W", "error"), ("-n", "auto", "--dist=loadfile")),
    ("-p no:warnings -x --maxfail 3", ("-p", "no:warnings"), ("-x", "--maxfail", "3")),
    ("--import-mode=importlib --strict-markers", ("--import-mode=importlib",), ("--strict-markers",)),
    ("-m 'not slow' -n4", ("-m", "not slow"), ("-n4",)),
    ("-r a --lf tests", ("tests",), ("-r", "a", "--lf")),
    ("--asyncio-mode=auto --tb short", ("--asyncio-mode=auto",), ("--tb", "short")),
]


@pytest.mark.parametrize(("addopts", "kept", "dropped"), SPLITS)
def test_options_are_split(tmp_path: Path, addopts: str, kept: tuple[str, ...], dropped: tuple[str, ...]) -> None:
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = {addopts}\n")
    options = read_options(tmp_path)
    assert (options.kept, options.dropped) == (kept, dropped)


FILES = [
    ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "-q --pyargs"\n'),
    ("pyproject.toml", '[tool.pytest]\naddopts = ["-q", "--pyargs"]\n'),
    ("setup.cfg", "[tool:pytest]\naddopts = -q --pyargs\n"),
    ("tox.ini", "[pytest]\naddopts =\n    -q\n    --pyargs\n"),
    (".pytest.ini", "[pytest]\naddopts = -q --pyargs\n"),
]


@pytest.mark.parametrize(("name", "text"), FILES)
def test_every_configuration_file_is_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    options = read_options(tmp_path)
    assert options.file == tmp_path / name
    assert options.kept == ("--pyargs",)


def test_a_file_without_a_section_for_pytest_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    (tmp_path / "tox.ini").write_text("[tox]\n")
    (tmp_path / "setup.cfg").write_text("[tool:pytest]\nrequired_plugins = pytest-asyncio\n")
    options = read_options(tmp_path)
    assert options.file == tmp_path / "setup.cfg"
    assert options.values == {"required_plugins": "pytest-asyncio"}


def test_a_file_that_cannot_be_read_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest\n")
    assert read_options(tmp_path).file is None


def test_a_value_that_is_missing_at_the_end_is_no_error() -> None:
    assert split_addopts(["-p"]) == (("-p",), ())


@pytest.mark.parametrize(
    ("files", "configured", "expected"),
    [
        (["tests.py"], "", True),
        (["pkg/tests.py", "pkg/test_one.py"], "", False),
        (["pkg/one_test.py", "testing.py"], "", False),
        (["tests.py"], "python_files = check*.py", False),
        (["tests/check.py"], "", False),
    ],
)
def test_names_that_only_unittest_looks_for(tmp_path: Path, files: list[str], configured: str, expected: bool) -> None:
    (tmp_path / "pytest.ini").write_text(f"[pytest]\n{configured}\n")
    assert only_unittest_finds_tests(read_options(tmp_path), files) is expected
