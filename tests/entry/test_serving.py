"""Options that name models: files, servers, keys, and what two of them together mean."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from chat_server import chat_server, completion

from rtc_inspector.app.cli import build_parser, main
from rtc_inspector.app.running import run_settings
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.settings import EndpointSettings, NamedModel, RunSettings

URL, OTHER = "http://127.0.0.1:8080/v1", "http://127.0.0.1:9090/v1"


def settings(*arguments: str) -> RunSettings:
    return run_settings(build_parser().parse_args(["run", ".", *arguments]))


def test_nothing_is_asked_unless_it_is_named() -> None:
    plain = settings()
    assert (plain.model, plain.backward_model, plain.endpoint, plain.backward_endpoint) == ("", None, None, None)
    assert plain.one_model and plain.generation.prompt_style == "auto"
    assert settings("--prompt-style", "fim").generation.prompt_style == "fim"


def test_a_server_for_both_passes() -> None:
    how = ("--concurrency", "9", "--attempts", "2", "--timeout", "30")
    found = settings("--endpoint", URL, "--endpoint-model", "m", "--key-variable", "K", *how)
    assert found.endpoint == EndpointSettings(URL, "m", "K", 9, 2, 30.0) and found.one_model


def test_another_model_of_the_same_server_takes_its_key_another_server_does_not() -> None:
    same = settings("--endpoint", URL, "--key-variable", "K", "--backward-endpoint-model", "n")
    assert same.backward_endpoint == EndpointSettings(URL, "n", "K") and not same.one_model
    other = settings("--endpoint", URL, "--key-variable", "K", "--backward-endpoint", OTHER)
    assert other.backward_endpoint == EndpointSettings(OTHER)
    own = settings("--endpoint", URL, "--backward-endpoint", OTHER, "--backward-key-variable", "L")
    assert own.endpoint == EndpointSettings(URL) and own.backward_endpoint == EndpointSettings(OTHER, key_variable="L")


def test_one_pass_on_a_file_and_one_on_a_server() -> None:
    found = settings("--model", "a.gguf", "--backward-endpoint", URL)
    assert (found.model, found.backward_endpoint) == (str(Path("a.gguf").resolve()), EndpointSettings(URL))
    found = settings("--endpoint", URL, "--backward-model", "bundled")
    assert (found.endpoint, found.backward_model, found.one_model) == (EndpointSettings(URL), "", False)
    assert settings("--model", "bundled").model == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--backward-endpoint", URL, "--backward-model", "a.gguf"), "Two backward models"),
        (("--endpoint-model", "m"), "no server"),
        (("--key-variable", "K"), "no server"),
        (("--endpoint", URL, "--endpoint", OTHER, "--key-variable", "K"), "1 times --key-variable for 2 servers"),
        (("--endpoint", URL, "--endpoint", OTHER, "--backward-endpoint-model", "m"), "not clear which server"),
        (("--model", "a.gguf", "--model", "./a.gguf"), "named more than once"),
        (("--model", "a.gguf", "--cross"), "two models or more"),
        (("--model", "a.gguf", "--model", "b.gguf", "--cross", "--backward-model", "c.gguf"), "Leave out --cross"),
    ],
)
def test_what_cannot_be_meant_is_said(arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(UserError, match=words):
        settings(*arguments)


def test_several_models_make_a_series_in_the_order_named() -> None:
    found = settings("--model", "a.gguf", "--model", "bundled", "--endpoint", URL, "--endpoint", OTHER)
    series = found.series
    assert series is not None and not series.cross and series.runs == 4
    a = str(Path("a.gguf").resolve())
    servers = [NamedModel("", EndpointSettings(URL)), NamedModel("", EndpointSettings(OTHER))]
    assert series.models == (NamedModel(a), NamedModel(""), *servers)
    assert (found.model, found.endpoint) == (a, None)
    assert RunSettings.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert settings("--model", "a.gguf").series is None
    assert settings("--model", "a.gguf").to_json()["series"] is None


def test_each_server_has_its_own_model_and_key() -> None:
    names = ("--endpoint-model", "m", "--endpoint-model", "n")
    found = settings("--endpoint", URL, "--endpoint", OTHER, *names, "--key-variable", "", "--key-variable", "K")
    assert found.series is not None
    assert [each.endpoint for each in found.series.models] == [
        EndpointSettings(URL, "m"),
        EndpointSettings(OTHER, "n", "K"),
    ]
    one = settings("--endpoint", URL, *names, "--key-variable", "K")
    assert one.series is not None
    assert [each.endpoint for each in one.series.models] == [EndpointSettings(URL, name, "K") for name in "mn"]


def test_models_and_doctor_ask_a_server_that_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with chat_server(lambda n, body: (200, completion("x"), {})) as server:
        server.served = [{"id": "tiny", "owned_by": "me"}]
        assert main(["models", "--endpoint", server.address]) == 0
        assert capsys.readouterr().out == "tiny  owned_by me\n"
        assert main(["models", "--endpoint", server.address, "--json"]) == 0
        assert '"name": "tiny"' in capsys.readouterr().out
    assert main(["models", "--endpoint", server.address]) == 2
    assert "cannot be reached" in capsys.readouterr().err


def test_a_run_whose_output_nobody_reads_is_not_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    edits = tmp_path / "edits.jsonl"
    edits.write_text('{"old": "alpha = compute(beta)", "new": "alpha = compute(gamma)"}\n')
    reading, writing = os.pipe()
    os.close(reading)
    named = ["--edits", str(edits), "--db", str(tmp_path / "runs.sqlite")]
    with chat_server(lambda n, body: (200, completion("x"), {})) as server, os.fdopen(writing, "w") as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        assert main(["run", *named, "--endpoint", server.address, "--json"]) == 130
    assert "Go on with: rtc-inspector run --resume 1" in capsys.readouterr().err


def test_downloading_needs_one_name() -> None:
    assert main(["models", "download"]) == 2
    assert main(["models", "download", "a/b:c.gguf", "d/e:f.gguf"]) == 2


def test_a_server_is_tried(capsys: pytest.CaptureFixture[str]) -> None:
    with chat_server(lambda n, body: (200, completion("Checks the sides."), {})) as server:
        assert main(["models", "--endpoint", server.address, "--try"]) == 0
        shown = capsys.readouterr().out
        assert "a description, in turns: 7 tokens read, 3 written" in shown and "a window of 3,072 tokens" in shown
        assert main(["models", "--endpoint", server.address, "--try", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["tried"][0]["read"] == "Checks the sides."
    assert main(["models", "--try"]) == 2


def test_a_run_is_estimated_before_it_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edits = tmp_path / "edits.jsonl"
    edits.write_text(json.dumps({"old": "area = side * 1 + 0\n", "new": "area = side * side\n"}) + "\n")
    how = ["--edits", str(edits), "--regions", "1", "--db", str(tmp_path / "runs.sqlite")]
    with chat_server(lambda n, body: (200, completion("Set a to 2."), {})) as server:
        priced = ["--endpoint", server.address, "--price-read", "100", "--price-written", "1000"]
        assert main(["run", *how, *priced, "--estimate"]) == 0
        assert "was not measured yet" in capsys.readouterr().out and server.asked == []
        assert not (tmp_path / "runs.sqlite").exists()
        assert main(["run", *how, *priced]) == 0
        capsys.readouterr()
        assert main(["run", *how, *priced, "--estimate"]) == 0
    assert "tokens for 0." in capsys.readouterr().out
    assert main(["runs", "--db", str(tmp_path / "runs.sqlite"), "--json"]) == 0
    (spent,) = json.loads(capsys.readouterr().out)["spent"]
    assert (spent["model"], spent["prompt_tokens"], spent["answer_tokens"]) == ("m", 49, 21)
    assert spent["money"] == pytest.approx((49 * 100 + 21 * 1000) / 1e6)
