"""What a project requires, read from its own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtc_inspector.core.errors import TargetError
from rtc_inspector.core.oracle.environment import Install, Requirements, read_install, read_requirements
from rtc_inspector.core.settings import OracleSettings

PYPROJECT = """
[project]
dependencies = ["attrs>=22 ; python_version > '3.7'", "click"]
[project.optional-dependencies]
docs = ["sphinx"]
test = ["pytest>=7", "pytest-cov"]
[dependency-groups]
dev = ["mypy", {include-group = "tests"}]
tests = ["hypothesis", {include-group = "dev"}]
"""
SETUP_CFG = "[options]\ninstall_requires =\n    six\n    idna>=3\n[options.extras_require]\ntesting = freezegun\n"
FILE = """
# comment
-r more/base.txt
pytest == 8.2 \\
    --hash=sha256:aa --hash=sha256:bb
--index-url https://example.org/simple
-e .
./vendored
git+https://example.org/x.git
name @ https://example.org/name.whl
Rich[jupyter,all] (>=13,<15)  # why
"""


def test_what_is_declared_for_tests_is_found(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "setup.cfg").write_text(SETUP_CFG)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "test.txt").write_text("tox\nclick\n")
    (tmp_path / "requirements-dev.txt").write_text("black\n")
    found = read_requirements(tmp_path, None)
    assert set(found.lines) == {
        "attrs>=22 ; python_version > '3.7'", "click", "pytest>=7", "pytest-cov", "mypy", "hypothesis", "six",
        "idna>=3", "freezegun", "tox",
    }  # fmt: skip
    assert found.sources == ("pyproject.toml", "setup.cfg", "requirements/test.txt")
    assert found.left_out == ()


def test_what_developers_need_counts_where_tests_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["six"]\n[dependency-groups]\ndev = ["mypy"]')
    assert read_requirements(tmp_path, None).lines == ("mypy", "pytest", "six")


def test_a_file_is_followed_and_what_pip_would_build_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "base.txt").write_text("six\n-r ../all.txt\n")
    (tmp_path / "all.txt").write_text(FILE)
    found = read_requirements(tmp_path, str(tmp_path / "all.txt"))
    assert found.lines == ("Rich[jupyter,all] (>=13,<15)", "pytest == 8.2", "six")
    assert found.left_out == (
        "--index-url https://example.org/simple",
        "./vendored",
        "git+https://example.org/x.git",
        "name @ https://example.org/name.whl",
    )


def test_pytest_is_always_there(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("pytest-asyncio\n")
    assert read_requirements(tmp_path, None).lines == ("pytest", "pytest-asyncio")


def test_broken_files_are_said(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project")
    with pytest.raises(TargetError, match=r"pyproject\.toml cannot be read"):
        read_requirements(tmp_path, None)
    with pytest.raises(TargetError, match="no requirements file"):
        read_requirements(tmp_path, str(tmp_path / "none.txt"))


def test_the_key_is_of_requirements_base_and_wheels(tmp_path: Path) -> None:
    wanted = Requirements(("pytest",), (), ())
    key = Install(wanted, tmp_path).key("python")
    assert Install(wanted, tmp_path).key("python") == key
    (tmp_path / "a-1-py3-none-any.whl").write_bytes(b"1")
    keys = {key, Install(wanted, tmp_path).key("python"), Install(wanted, None).key("python")}
    keys |= {Install(Requirements(("six",), (), ()), None).key("python"), Install(wanted, None).key("other")}
    assert len(keys) == 5
    with pytest.raises(TargetError, match="no folder of wheels"):
        Install(wanted, tmp_path / "none").key("python")


def test_nothing_is_installed_unasked(tmp_path: Path) -> None:
    assert read_install(tmp_path, OracleSettings()) is None
    assert read_install(tmp_path, OracleSettings(install=True)) is not None
