"""Environments made from a project's requirements and a folder of wheels; no network."""

from __future__ import annotations

import importlib.metadata
import zipfile
from pathlib import Path

import pytest
from oracle_projects import Opened, write

from core.errors import TargetError
from core.oracle import environment
from core.oracle.factory import open_oracle
from core.settings import OracleSettings
from core.types import Outcome

PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
# A plugin of pytest with a second module, which a library imports: preloading that library comes before the plugin.
LIBRARIES = {
    "greeter": {"greeter_parts.py": "WORD = 'hello'\n", "greeter_plugin.py": "import greeter_parts\n"},
    "greeting": {"greeting.py": "from greeter_parts import WORD\n"},
}
METADATA = {
    "greeter": {"entry_points.txt": "[pytest11]\ngreeter = greeter_plugin\n", "METADATA": ""},
    "greeting": {"METADATA": "Requires-Dist: greeter\n"},
}
PROJECT = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\ndependencies = ["greeting"]\n'
    '[tool.pytest.ini_options]\nfilterwarnings = ["error"]\n',
    "app.py": "import greeting\n\n\ndef greet(name):\n    return greeting.WORD + ' ' + name\n",
    "test_app.py": "import app\n\n\ndef test_greet():\n    assert app.greet('you') == 'hello you'\n",
}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of pytest, packed from what is installed here, and of the libraries."""
    folder = tmp_path_factory.mktemp("wheels")
    for name in PYTEST:
        found = importlib.metadata.distribution(name)
        with zipfile.ZipFile(folder / f"{name}-{found.version}-py3-none-any.whl", "w") as wheel:
            for file in found.files or ():
                if ".." not in file.parts and "__pycache__" not in file.parts:
                    wheel.write(file.locate(), str(file))
    for name, modules in LIBRARIES.items():
        head = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n"
        about = {
            "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            **METADATA[name],
        }
        about |= {"METADATA": head + about["METADATA"], "RECORD": "".join(f"{module},,\n" for module in modules)}
        with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as wheel:
            for path, text in {**modules, **{f"{name}-1.dist-info/{key}": text for key, text in about.items()}}.items():
                wheel.writestr(path, text)
    return folder


def test_a_project_is_judged_in_an_environment_of_its_requirements(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/none")
    project = Opened(write(tmp_path / "project", PROJECT), install=True, wheels=str(wheels), identity_runs=1)
    try:
        assert project.tests == ["test_app.py::test_greet"]
        good = project.candidate("app.py", "greeting.WORD + ' ' + name", "f'{greeting.WORD} {name}'")
        bad = project.candidate("app.py", "greeting.WORD + ' ' + name", "name")
        assert project.oracle.judge(good, project.tests).outcome is Outcome.PASS
        assert project.oracle.judge(bad, project.tests).outcome is Outcome.FAIL
    finally:
        project.oracle.close()
    assert any("Installing 2 requirements (pyproject.toml)" in notice for notice in project.notices)
    monkeypatch.setattr(environment, "_make", None)  # the next opening makes nothing
    settings = OracleSettings(sandbox="bubblewrap", install=True, wheels=str(wheels))
    open_oracle(project.codebase, settings, project.notices.append).close()


def test_a_requirement_without_a_wheel_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "wheels").mkdir()
    with pytest.raises(TargetError, match="greeting") as caught:
        Opened(write(tmp_path / "project", PROJECT), install=True, wheels=str(tmp_path / "wheels"))
    assert "--wheels" in caught.value.remedy
    assert not list((tmp_path / "cache" / "rtc-inspector" / "environments").glob("*/")), "half an environment stayed"
    assert OracleSettings().install is False
