"""Finding the target's interpreter and what it needs to be seen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rtc_inspector.core.errors import TargetError
from rtc_inspector.core.oracle.bench.project import Origin, write_files
from rtc_inspector.core.oracle.interpreter import describe, find_interpreter


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    return root


def test_the_projects_own_environment_comes_first(environment: Path) -> None:
    notices: list[str] = []
    found = find_interpreter(environment, None, notices.append)
    assert found.executable == environment / ".venv" / "bin" / "python"
    assert found.version[:2] == sys.version_info[:2]
    assert environment / ".venv" in found.readonly
    assert Path(sys.base_prefix) in found.readonly
    assert notices == []


def test_without_one_ours_is_used_and_said(tmp_path: Path) -> None:
    notices: list[str] = []
    assert find_interpreter(tmp_path, None, notices.append).executable == Path(sys.executable)
    assert sys.executable in notices[0]
    generated = write_files(
        {"problems/p_0001.py": ""}, "own", tmp_path, Origin("own.jsonl", {"problems/p_0001.py": "a"})
    )
    find_interpreter(generated, None, notices.append)
    assert "project" not in notices[1], "who named a benchmark knows of no project"


def test_a_chosen_folder_is_an_environment(environment: Path, tmp_path: Path) -> None:
    found = find_interpreter(tmp_path, str(environment / ".venv"), print)
    assert found.executable == environment / ".venv" / "bin" / "python"


def test_paths_of_editable_installs_are_found_without_running_them(environment: Path) -> None:
    site = next((environment / ".venv" / "lib").glob("python*")) / "site-packages"
    (environment / "linked").mkdir()
    (environment / "mapped").mkdir()
    (site / "a.pth").write_text(f"import os; os.abort()\n{environment / 'linked'}\n/does/not/exist\n")
    (site / "__editable___x_finder.py").write_text(
        f"raise SystemExit\nMAPPING: dict[str, str] = {{'x': {str(environment / 'mapped')!r}}}\n"
    )
    found = find_interpreter(environment, None, print)
    assert found.editable == (environment / "linked", environment / "mapped")
    assert set(found.editable) <= set(found.readonly)


BAD = ["nowhere-to-be-found", "/bin/true", "/bin/cat"]


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_python_is_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(TargetError) as caught:
        find_interpreter(tmp_path, name, print)
    assert name in caught.value.problem
    assert caught.value.remedy


def test_an_old_python_is_refused(tmp_path: Path) -> None:
    fake = tmp_path / "python"
    answer = (
        '{"version": [3, 7, 9], "implementation": "cpython-37", "prefixes": [], "platlib": "", "purelib": "",'
        ' "path": [], "stdlib": ""}'
    )
    fake.write_text(f"#!/bin/sh\necho '{answer}'\n")
    fake.chmod(0o755)
    with pytest.raises(TargetError, match="too old"):
        describe(fake)
