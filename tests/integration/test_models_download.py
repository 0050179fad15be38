"""Downloading models from a local hub: progress, broken lines, checksums, and every refusal as a sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hub_server import COMMIT, Hub, hub_server
from huggingface_hub import constants
from huggingface_hub.utils import _http
from models_gguf_writer import gguf_bytes

from rtc_inspector.core.errors import Cancelled, ModelError
from rtc_inspector.core.models.download import download, parse_wanted

TINY = gguf_bytes()
WANTED = parse_wanted("me/tiny:tiny-q4.gguf")


@pytest.fixture
def hub() -> Iterator[Hub]:
    with hub_server() as hub:
        hub.files = {"README.md": b"a card", "tiny-q4.gguf": TINY, "sub/other.gguf": TINY + b"x"}
        yield hub


@pytest.fixture
def fetch(hub: Hub, tmp_path: Path) -> Callable[..., Path]:
    def call(text: str = "me/tiny:tiny-q4.gguf", report: Callable[..., None] = lambda *step: None) -> Path:
        return download(parse_wanted(text), report, hub.endpoint, tmp_path / "hub")

    return call


def test_a_file_comes_with_progress_and_lies_where_others_look(
    hub: Hub, fetch: Callable[..., Path], tmp_path: Path
) -> None:
    steps: list[tuple[str, int, int]] = []
    path = fetch(report=lambda *step: steps.append(step))
    assert path == tmp_path / "hub" / "models--me--tiny" / "snapshots" / COMMIT / "tiny-q4.gguf"
    assert path.read_bytes() == TINY
    assert ("downloading", len(TINY), len(TINY)) in steps and ("checking", len(TINY), len(TINY)) in steps
    hub.asked.clear()
    assert fetch() == path
    assert {method for method, *_ in hub.asked} == {"HEAD"}, "what is there is not fetched again"
    assert fetch("me/tiny:sub/other.gguf").read_bytes() == TINY + b"x"


def test_a_stopped_download_leaves_nothing_behind(hub: Hub, fetch: Callable[..., Path], tmp_path: Path) -> None:
    def leave(stage: str, done: int, total: int) -> None:
        if stage == "downloading" and done:
            raise Cancelled

    hub.files["tiny-q4.gguf"] = data = TINY + bytes(2 << 20)
    with pytest.raises(Cancelled):
        fetch(report=leave)
    assert not [path for path in (tmp_path / "hub").rglob("*") if path.is_file() and path.stat().st_size > 1000]
    assert fetch().read_bytes() == data


def test_a_connection_that_breaks_is_taken_up_again(hub: Hub, fetch: Callable[..., Path]) -> None:
    hub.files["tiny-q4.gguf"] = data = TINY + bytes(12 << 20)
    hub.cut = 11 << 20
    assert fetch().read_bytes() == data
    first, second = [asked[2] for asked in hub.asked if asked[0] == "GET"]
    assert not first and second == f"bytes={constants.DOWNLOAD_CHUNK_SIZE}-"


def test_what_arrives_damaged_is_refused_and_not_kept(hub: Hub, fetch: Callable[..., Path], tmp_path: Path) -> None:
    hub.forged = TINY[:-1] + b"?"
    with pytest.raises(ModelError, match="arrived damaged"):
        fetch()
    assert not [path for path in (tmp_path / "hub").rglob("*") if path.is_file() and path.stat().st_size > 1000]
    hub.forged = None
    assert fetch().read_bytes() == TINY


def test_a_token_stays_with_the_hub_when_a_store_elsewhere_has_the_bytes(
    hub: Hub, fetch: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with hub_server() as store:
        store.files, hub.elsewhere = hub.files, store.endpoint
        assert fetch().read_bytes() == TINY
        assert [asked[0] for asked in store.asked] == ["GET"]
        assert {asked[3] for asked in store.asked} == {""} and {asked[3] for asked in hub.asked} == {"Bearer hf_secret"}


def test_every_part_is_fetched(hub: Hub, fetch: Callable[..., Path]) -> None:
    part = gguf_bytes({"split.count": 2})
    hub.files = {f"big-0000{n}-of-00002.gguf": part + bytes([n]) for n in (1, 2)}
    steps: list[str] = []
    path = fetch("me/tiny:big-00002-of-00002.gguf", lambda stage, done, total: steps.append(stage))
    assert path.name == "big-00001-of-00002.gguf" and path.with_name("big-00002-of-00002.gguf").exists()
    assert {"part 1 of 2", "part 2 of 2"} <= set(steps)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("me/tiny:gone.gguf", "no file gone.gguf"),
        ("me/other:tiny-q4.gguf", "no repository me/other"),
        ("me/tiny", "tiny-q4.gguf, sub/other.gguf"),
        ("tiny-q4.gguf", "names no GGUF file"),
        ("me/tiny:model.bin", "names no GGUF file"),
        ("https://host/me/tiny", "names no GGUF file"),
        ("me/ti ny:a.gguf", "no name of a repository"),
    ],
)
def test_what_is_not_there_is_said(fetch: Callable[..., Path], text: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        fetch(text)
    said = f"{caught.value.problem} {caught.value.remedy}"
    assert words in said and "\n" not in said


AT_ONCE = """
import sys, types
from huggingface_hub.utils import _http
_http.time = types.SimpleNamespace(sleep=lambda seconds: None)
from rtc_inspector.app.cli import main
sys.exit(main())
"""
"""The command line, which does not wait between its tries to reach a hub: 23 seconds in all."""


@pytest.mark.parametrize("status", [403, 503])
def test_a_hub_that_refuses_is_said(
    hub: Hub, fetch: Callable[..., Path], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_http, "time", SimpleNamespace(sleep=lambda seconds: None))
    hub.status = status
    with pytest.raises(ModelError, match="The hub refused"):
        fetch()


def test_the_command_downloads_and_offline_is_one_line(hub: Hub, tmp_path: Path) -> None:
    def call(*program: str, **environment: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *program, "models", "download", "me/tiny:tiny-q4.gguf", "--json"]
        own = {
            "HF_HOME": str(tmp_path),
            "PATH": "",
            "HOME": str(tmp_path),
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        return subprocess.run(command, env=own | environment, capture_output=True, text=True, timeout=60, check=False)

    done = call("-m", "rtc_inspector", HF_ENDPOINT=hub.endpoint, HF_TOKEN="hf_secret")
    assert done.returncode == 0, done.stderr
    path = Path(json.loads(done.stdout)["path"])
    assert path.read_bytes() == TINY and path.is_relative_to(tmp_path / "hub")
    assert {asked[3] for asked in hub.asked} == {"Bearer hf_secret"}, hub.asked
    away = call("-c", AT_ONCE, HF_ENDPOINT="http://127.0.0.1:9")
    assert away.returncode == 2 and "cannot be reached" in away.stderr.splitlines()[0], away.stderr
    assert len(away.stderr.strip().splitlines()) == 2


def test_offline_mode_is_said(fetch: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="offline mode"):
        fetch()
