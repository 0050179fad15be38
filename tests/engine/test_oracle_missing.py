"""What an environment lacks of what a project requires, found without running or installing anything."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from rtc_inspector.core.errors import ProjectError, TargetError
from rtc_inspector.core.oracle.environment import check_environment, environments_folder, read_install
from rtc_inspector.core.oracle.interpreter import describe
from rtc_inspector.core.settings import OracleSettings


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    (made / "pyproject.toml").write_text(
        """
[project]
dependencies = [
    "pytest>=7", "PyTest_xdist", "no-such-thing>=2", "numpy<0.1", "also-absent; python_version < '3'", "a @ file:///a",
]
"""
    )
    return made


def test_it_names_what_is_absent_and_what_is_too_old(project: Path) -> None:
    found = check_environment(project, OracleSettings(python=sys.executable))
    assert found.missing == ("no-such-thing>=2", "numpy<0.1")
    assert found.said.startswith(f"{sys.executable} lacks 2 of 5 requirements: no-such-thing>=2, numpy<0.1. ")


def test_a_package_that_two_files_ask_for_is_one(project: Path) -> None:
    (project / "pyproject.toml").write_text('[project]\ndependencies = ["No_Such.Thing"]')
    (project / "requirements.txt").write_text("no-such-thing~=2.4.0\n")
    found = check_environment(project, OracleSettings(python=sys.executable))
    assert found.missing == ("no-such-thing~=2.4.0",)
    assert "lacks 1 of 2 requirements: no-such-thing~=2.4.0. " in found.said


def test_nothing_is_missing_where_all_is_there(project: Path) -> None:
    (project / "pyproject.toml").write_text(f'[project]\ndependencies = ["numpy=={version("numpy")}"]')
    found = check_environment(project, OracleSettings(python=sys.executable))
    assert (found.missing, found.said) == ((), f"{sys.executable} has all 2 requirements (pyproject.toml).")
    (project / "pyproject.toml").unlink()
    assert check_environment(project, OracleSettings(python=sys.executable)).said.endswith(
        "the one requirement, pytest."
    )


def test_a_project_with_its_own_environment_is_held_against_that(project: Path, tmp_path: Path) -> None:
    home = project / ".venv"
    (home / "bin").mkdir(parents=True)
    (home / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages").mkdir(parents=True)
    (home / "bin" / "python").symlink_to(sys.executable)
    (home / "pyvenv.cfg").write_text("include-system-site-packages = false\n")
    found = check_environment(project, OracleSettings())
    assert "pytest>=7" in found.missing and str(home / "bin" / "python") in found.said


def test_wheels_are_looked_at_by_their_names(project: Path, tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name in ("pytest-8.2.0-py3-none-any.whl", "pytest_xdist-3.6-py3-none-any.whl", "numpy-2.0-py3-none-any.whl",
                 "no_such_thing-1.0-py3-none-any.whl", "odd.whl"):  # fmt: skip
        (wheels / name).touch()
    settings = OracleSettings(install=True, wheels=str(wheels))
    found = check_environment(project, settings)
    assert found.missing == ("no-such-thing>=2", "numpy<0.1")
    assert found.said.endswith("no-such-thing>=2, numpy<0.1. Left out: a @ file:///a.")
    (wheels / "no_such_thing-2.0-py3-none-any.whl").touch()
    (wheels / "numpy-0.0.1-py3-none-any.whl").touch()
    assert "installed from" in check_environment(project, settings).said
    with pytest.raises(TargetError, match="no folder of wheels"):
        check_environment(project, OracleSettings(install=True, wheels=str(tmp_path / "nowhere")))


def test_what_was_installed_before_is_said_to_be(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    settings = OracleSettings(install=True)
    assert "over the network" in check_environment(project, settings).said
    install, base = read_install(project, settings), describe(Path(sys.executable))
    assert install is not None
    home = environments_folder() / install.key(str(base.executable), base.version_text, base.tag)
    home.mkdir(parents=True)
    (home / "rtc-inspector.json").touch()
    found = check_environment(project, settings)
    assert "installed already" in found.said and found.missing == ()


def test_no_project_is_said(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="no project folder"):
        check_environment(tmp_path / "nowhere", OracleSettings())
