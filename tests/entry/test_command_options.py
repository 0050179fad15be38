"""What options take, what their help says, and which of them a resumed run does not heed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

import pytest

from rtc_inspector.app.cli import build_parser
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
