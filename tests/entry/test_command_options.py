"""What options take, what their help says, and which of them a resumed run does not heed."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rtc_inspector.app.cli import build_parser, main
from rtc_inspector.app.options import SETTINGS, given_settings, sampling_settings, unused_options
from rtc_inspector.app.running import resumed_with, unheeded_options
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.settings import EndpointSettings, ModelSettings, OracleSettings, RunSettings


def every_command(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from every_command(command)


def test_every_option_says_what_it_is_and_its_default() -> None:
    for command in every_command(build_parser()):
        for action in command._actions:
            if action.help == argparse.SUPPRESS or isinstance(action, argparse._SubParsersAction):
                continue
            name = f"{command.prog} {action.dest}"
            assert action.help and action.help.split("(")[0].strip(), name
            setting = SETTINGS.get(action.dest)
            if setting is not None and setting.kind is not bool and command.prog != "rtc-inspector models":
                assert "(default: " in action.help, name
            elif isinstance(action.default, int) and not isinstance(action.default, bool):
                assert f"(default: {action.default})" in action.help, name


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "one", "", "1000000001", "9" * 5000])
def test_numbers_that_make_no_sense_are_refused_before_anything_is_loaded(
    number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        build_parser().parse_args(["sample", ".", f"--regions={number}"])
    assert "argument --regions" in capsys.readouterr().err


def test_a_seed_is_any_whole_number_that_a_database_holds(capsys: pytest.CaptureFixture[str]) -> None:
    parser = build_parser()
    assert given_settings(parser.parse_args(["sample", ".", "--seed", "-7"])) == {"seed": -7}
    with pytest.raises(SystemExit, match="2"):
        parser.parse_args(["sample", ".", "--seed", "9" * 19])
    assert "from -999,999,999,999,999,999 to" in capsys.readouterr().err


def test_what_a_resumed_run_does_not_heed_is_named() -> None:
    parser = build_parser()
    given = ["run", "--resume", "1", "--db", "x.sqlite", "--json"]
    assert unheeded_options(parser.parse_args(given)) == []
    more = [*given, "--regions", "5", "--model", "m.gguf", "--ending", ".py", "--no-whole-suite"]
    faster = ["--threads", "2", "--workers", "1", "--concurrency", "9", "--no-cache"]
    options = parser.parse_args([*more, *faster])
    assert unheeded_options(options) == ["--ending", "--model", "--no-whole-suite", "--regions"]
    changed = resumed_with(options)
    assert changed == {
        "generation.threads": 2, "oracle.workers": 1, "endpoint.concurrency": 9, "oracle.cache": False
    }  # fmt: skip
    server = EndpointSettings("http://127.0.0.1:1/v1")
    before = RunSettings(seed=3, endpoint=server)
    wanted = replace(
        before,
        endpoint=replace(server, concurrency=9),
        generation=ModelSettings(threads=2),
        oracle=OracleSettings(workers=1, cache=False),
    )
    assert before.resumed(changed) == wanted


def test_what_a_task_has_no_use_for_is_named() -> None:
    options = build_parser().parse_args(["run", ".", "--steps", "3", "--seed", "4", "--min-characters", "5"])
    assert unused_options(options, "synthesis") == ["--steps"]
    assert unused_options(options, "chain") == ["--min-characters"]


def test_a_size_that_no_region_has_is_refused() -> None:
    options = build_parser().parse_args(["sample", ".", "--min-characters", "500"])
    with pytest.raises(UserError, match=r"500 .* is more than 384"):
        sampling_settings(options)


def test_help_shows_the_usual_options_and_all_of_them_when_asked(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {}
    for words in (["run", "--help"], ["run", "--help-all"], ["judge", "--help"]):
        with pytest.raises(SystemExit, match="0"):
            main(words)
        shown[" ".join(words)] = capsys.readouterr().out
    options = re.findall(r"^  (--[a-z-]+)", shown["run --help"], re.MULTILINE)
    assert len(options) == 11 and {"--model", "--regions", "--help-all"} <= set(options)
    assert shown["run --help"].count("\n") < 45
    for option in ("--fail-below", "--thinking", "--steps"):
        assert option not in shown["run --help"] and option in shown["run --help-all"]
    assert "chains (--task chain):" in shown["run --help-all"]
    assert "--replacement" in shown["judge --help"], "what a command cannot do without is never left out"


def test_a_projects_file_goes_before_defaults_and_the_command_line_before_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rtc-inspector.toml").write_text(
        'task = "chain"\nregions = 4\nseed = 5\nno-cache = true\nmodel = "m.gguf"\nmin-characters = 7\n'
    )

    def settings(*words: str) -> dict[str, tuple[object, str]]:
        assert main(["run", str(tmp_path), "--show-settings", "--json", *words]) == 0
        rows = map(json.loads, capsys.readouterr().out.splitlines())
        return {row["option"]: (row["value"], row["from"]) for row in rows}

    found = settings("--seed", "6", "--cache")
    assert found["--task"] == ("chain", "rtc-inspector.toml")
    assert found["--model"] == ("m.gguf", "rtc-inspector.toml")
    assert found["--regions"] == (4, "rtc-inspector.toml")
    assert found["--seed"] == (6, "command line")
    assert found["--no-cache"] == (True, "command line")
    assert found["--steps"][1] == "default"
    assert "--min-characters" not in found, "a chain has no use for it"
    assert settings("--endpoint", "http://127.0.0.1:9/v1")["--model"][1] == "command line"
    (tmp_path / "rtc-inspector.toml").write_text("regoins = 4\n")
    assert main(["run", str(tmp_path), "--show-settings"]) == 2
    assert "regoins is no setting" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--print-completion", shell])
    script = tmp_path / "completion"
    script.write_text(capsys.readouterr().out)
    assert "thought-tokens" in script.read_text()
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    assert subprocess.run([shell, "-n", script], check=False).returncode == 0
    if shell == "bash":
        ask = (
            f"source {script}; COMP_WORDS=(rtc-inspector run --task ch); COMP_CWORD=3; "
            "_shtab_rtc_inspector rtc-inspector ch --task; echo ${COMPREPLY[@]}"
        )
        assert subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=False).stdout == "chain\n"
