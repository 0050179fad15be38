"""What options take, what their help says, and which of them a resumed run does not heed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import pytest

from app.cli import build_parser
from app.options import sampling_settings
from app.running import unheeded_options
from core.errors import UserError


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
            if isinstance(action.default, int) and not isinstance(action.default, bool):
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
    assert parser.parse_args(["sample", ".", "--seed", "-7"]).seed == -7
    with pytest.raises(SystemExit, match="2"):
        parser.parse_args(["sample", ".", "--seed", "9" * 19])
    assert "up to 18 digits" in capsys.readouterr().err


def test_what_a_resumed_run_does_not_heed_is_named() -> None:
    parser = build_parser()
    given = ["run", "--resume", "1", "--db", "x.sqlite", "--json"]
    assert unheeded_options(parser.parse_args(given)) == []
    more = [*given, "--regions", "5", "--model", "m.gguf", "--ending", ".py", "--no-cache"]
    assert unheeded_options(parser.parse_args(more)) == ["--ending", "--model", "--no-cache", "--regions"]


def test_a_size_that_no_region_has_is_refused() -> None:
    options = build_parser().parse_args(["sample", ".", "--min-characters", "500"])
    with pytest.raises(UserError, match="at least 500 and at most 384 characters"):
        sampling_settings(options)
