"""The wheel as outsiders have it: in an environment of its own, beside a package that has `core/` and `app/` too."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from projects import write_shop
from small_model import write_small_model

from rtc_inspector import open_store
from rtc_inspector.core.settings import RunSettings

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", folder], cwd=ROOT, check=True)
    return folder


@pytest.fixture(scope="module")
def outside(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment's folder of programs. Packages are lent from ours, without the checkout."""
    folder = tmp_path_factory.mktemp("outside")
    venv.create(folder, with_pip=False, symlinks=True)
    (wheel,) = built.glob("*.whl")
    python = folder / "bin" / "python"
    install = ["-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", wheel]
    subprocess.run([sys.executable, *install], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    for name in ("core", "app", "ui", "resources"):
        (packages / name).mkdir()
        (packages / name / "__init__.py").write_text("raise RuntimeError('another package')\n")
    return folder / "bin"


def test_all_that_is_installed_is_one_package_with_its_resources(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"rtc_inspector", "rtc_inspector-0.1.0.dist-info"}
    listed = subprocess.run(["git", "ls-files", "resources"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {f"rtc_inspector/{name}" for name in listed.stdout.split()} <= set(names)
    assert "rtc_inspector/py.typed" in names
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "core/types.py", "resources/demo/pyproject.toml", "rtc_inspector/py.typed"} <= inside


def test_a_folder_called_core_on_the_path_does_no_harm(outside: Path, tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("raise RuntimeError('of the folder')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [outside / "rtc-inspector", "--help"], env=environment, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0 and "which of two or more" not in done.stderr, done.stderr
    assert "commands:" in done.stdout


def test_the_example_of_the_library_runs_as_printed(outside: Path, tmp_path: Path) -> None:
    example, served = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "library.md").read_text(), re.DOTALL)
    project = write_shop(tmp_path / "path" / "to" / "project")
    write_small_model(project / "small.gguf")
    (project / "other.gguf").hardlink_to(project / "small.gguf")
    (project / "rtc-inspector.toml").write_text(
        'model = "small.gguf"\nbackward-model = "other.gguf"\nbackward-max-tokens = 16\n'
    )
    (tmp_path / "example.py").write_text(example)
    done = subprocess.run([outside / "python", "example.py"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    verdict, made, *rest = done.stdout.splitlines()
    assert verdict.startswith("fail ") and made.startswith("finished 0.")
    assert sum(line.startswith("shop.py ") for line in rest) >= 2 and "By file" in done.stdout
    with open_store(tmp_path / "runs.sqlite") as store:
        settings = RunSettings.from_json(json.loads(store.runs()[0].config_json))
    named = settings.model, settings.backward_model, settings.backward_max_tokens, settings.regions
    assert named == (str(project / "small.gguf"), str(project / "other.gguf"), 16, 4), "the project's file is heeded"
    typed = tmp_path / "typed.py"
    typed.write_text(example + served + "\nreveal_type(made.scores['rtc'].value)\n")
    check = [sys.executable, "-m", "mypy", typed]  # in the checkout, whose types are known by then
    checked = subprocess.run(check, capture_output=True, text=True, cwd=ROOT)
    assert "float | None" in checked.stdout and "error:" not in checked.stdout, checked.stdout
