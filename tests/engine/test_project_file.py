"""Settings in a project's own file: read as the command line reads them, and refused where they may do harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.settings.project_file import ProjectFile, read_project_file


def written(folder: Path, text: str, name: str = "rtc-inspector.toml") -> ProjectFile:
    (folder / name).write_text(text)
    return read_project_file(folder)


def test_keys_are_the_options_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").touch()
    file = written(
        tmp_path,
        "regions = 7\nforward_samples = 2\nforward-temperature = 1\nno-whole-suite = true\ncache = false\n"
        'python = ".venv/bin/python"\nbenchmark = "humaneval"\nmodel = ["m.gguf", "bundled"]\n'
        'task = "chain"\nending = ["*.py"]\nendpoint = "http://127.0.0.1:1/v1"\nextra-body = { num_ctx = 4 }\n',
    )
    assert file.path == tmp_path / "rtc-inspector.toml"
    assert file.settings == {
        "regions": 7,
        "forward_samples": 2,
        "forward_temperature": 1.0,
        "oracle.confirm_whole_suite": False,
        "oracle.cache": False,
        "oracle.python": str(tmp_path / ".venv/bin/python"),
        "benchmark.file": "humaneval",
        "edit.endings": (".py",),
        "endpoint.extra_body": '{"num_ctx": 4}',
    }
    assert file.options == {
        "model": [str(tmp_path / "m.gguf"), "bundled"],
        "task": "chain",
        "endpoint": ["http://127.0.0.1:1/v1"],
    }


def test_a_table_of_pyproject_holds_where_there_is_no_file_of_its_own(tmp_path: Path) -> None:
    assert read_project_file(tmp_path) == ProjectFile()
    table = "[tool.rtc-inspector]\nseed = 3\n"
    assert written(tmp_path, table, "pyproject.toml").settings == {"seed": 3}
    assert written(tmp_path, "seed = 4\n").settings == {"seed": 4}
    (tmp_path / "rtc-inspector.toml").unlink()
    assert written(tmp_path, "[tool.other]\n", "pyproject.toml") == ProjectFile()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("regoins = 3", "regoins is no setting"),
        ("regions = 0", "regions: '0' is not a whole number"),
        ('regions = "3"', "regions is a number, not '3'"),
        ("install = 1", "install is true or false"),
        ("seed = ", "cannot be read"),
        ('sandbox = "none"', "sandbox = none is for the command line alone"),
        ('endpoint = "http://models.example/v1"', "not on this machine"),
        ('backward-endpoint = "http://localhost.example/v1"', "not on this machine"),
        ("install = true", "install is for the command line alone"),
        ('cluster = "ray://lab:1"', "cluster is for the command line alone"),
        ('db = "x.sqlite"', "db is no setting"),
        ('key-variable = "TOKEN"', "key-variable is no setting"),
    ],
)
def test_what_cannot_hold_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError, match="rtc-inspector") as refused:
        written(tmp_path, text)
    assert said in refused.value.problem
