"""Model files wherever people have them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from models_gguf_writer import gguf_bytes, write_gguf

from rtc_inspector.core.models.discovery import bundled_model, discover, usual_places


@pytest.fixture(autouse=True)
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "LLAMA_CACHE", "OLLAMA_MODELS"):
        monkeypatch.delenv(name, raising=False)
    return home


def bytes_read() -> int:
    """By this process so far, from the file system or its cache."""
    return int(Path("/proc/self/io").read_text().split()[1])


def names(source: str, *extra: Path) -> list[str]:
    return [e.name for e in discover(extra) if e.source == source]


def test_the_bundled_model_is_always_listed() -> None:
    entries = discover()
    assert [(e.source, e.path) for e in entries] == [("bundled", bundled_model())]
    assert entries[0].header is not None and entries[0].problem == ""


def test_a_folder_at_any_depth(tmp_path: Path) -> None:
    write_gguf(tmp_path / "m" / "a.gguf")
    write_gguf(tmp_path / "m" / "1" / "2" / "3" / "4" / "deep.GGUF")
    (tmp_path / "m" / "notes.txt").write_text("no model")
    assert names("folder", tmp_path / "m") == ["a", "deep"]


def test_a_folder_that_is_away_is_not_forgotten(tmp_path: Path) -> None:
    entry = next(e for e in discover([tmp_path / "usb"]) if e.source == "folder")
    assert entry.header is None and "cannot be reached" in entry.problem


def test_hugging_face_cache_with_its_links(empty_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hub = empty_home / ".cache" / "huggingface" / "hub" / "models--x--y"
    blob = write_gguf(hub / "blobs" / "abc")
    link = hub / "snapshots" / "1" / "tiny.gguf"
    link.parent.mkdir(parents=True)
    link.symlink_to(blob)
    again = hub / "snapshots" / "2" / "tiny.gguf"
    again.parent.mkdir(parents=True)
    again.symlink_to(blob)
    assert names("Hugging Face") == ["tiny"]
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    write_gguf(tmp_path / "hf" / "hub" / "other.gguf")
    assert names("Hugging Face") == ["other", "tiny"]


def test_lm_studio_and_llama_cpp(empty_home: Path) -> None:
    write_gguf(empty_home / ".lmstudio" / "models" / "who" / "what" / "one.gguf")
    write_gguf(empty_home / ".cache" / "llama.cpp" / "two.gguf")
    assert names("LM Studio") == ["one"] and names("llama.cpp") == ["two"]


def test_ollama_blobs_get_their_names(empty_home: Path) -> None:
    store = empty_home / ".ollama" / "models"
    write_gguf(store / "blobs" / "sha256-aa")
    layers = [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:aa"}]
    manifest = store / "manifests" / "models.example" / "library" / "tiny" / "latest"
    manifest.parent.mkdir(parents=True)
    manifest.write_text(json.dumps({"layers": layers}))
    other = store / "manifests" / "other.example" / "me" / "big" / "Q4"
    other.parent.mkdir(parents=True)
    other.write_text(json.dumps({"layers": [layers[0] | {"digest": "sha256:gone"}]}))
    (store / "manifests" / "broken").write_text("{")
    entries = {e.name: e for e in discover() if e.source == "Ollama"}
    assert set(entries) == {"tiny:latest", "me/big:Q4"}
    assert entries["tiny:latest"].header is not None
    assert "cannot be read" in entries["me/big:Q4"].problem


def test_parts_are_listed_once_and_embedding_models_say_so(tmp_path: Path) -> None:
    for n in (1, 2):
        write_gguf(tmp_path / "m" / f"big-0000{n}-of-00002.gguf", {"split.count": 2})
    write_gguf(tmp_path / "m" / "vectors.gguf", {"general.architecture": "bert"})
    entries = [e for e in discover([tmp_path / "m"]) if e.source == "folder"]
    assert [e.name for e in entries] == ["big", "vectors"]
    assert entries[0].header is not None and entries[0].header.parameters == 256
    assert entries[1].header is not None and "embedding" in entries[1].problem


def test_a_model_without_its_first_part_is_not_hidden(tmp_path: Path) -> None:
    for number in (2, 3):
        write_gguf(tmp_path / f"big-0000{number}-of-00003.gguf", {"split.count": 3})
    (entry,) = [e for e in discover([tmp_path]) if e.source == "folder"]
    assert entry.name == "big" and entry.problem == "1 of 3 parts of this model are missing: big-00001-of-00003.gguf."


def test_two_hundred_headers_in_under_two_seconds(tmp_path: Path) -> None:
    """Half of them with the bundled model's real vocabulary, a quarter broken."""
    with bundled_model().open("rb") as file:
        real = file.read(3 << 20)
    tiny = gguf_bytes()
    size = bundled_model().stat().st_size
    for i in range(200):
        path = tmp_path / "m" / str(i % 7) / f"{i}.gguf"
        path.parent.mkdir(parents=True, exist_ok=True)
        if i % 2:
            path.write_bytes(real)
            os.truncate(path, size)  # sparse: the header is real, the weights are a hole
        else:
            path.write_bytes(tiny[: len(tiny) // 2] if i % 4 else tiny)
    before = bytes_read()
    entries = [e for e in discover([tmp_path / "m"]) if e.source == "folder"]
    assert bytes_read() - before < 200 * len(real), "more than headers was read"
    assert len(entries) == 200
    assert sum(e.header is not None and e.header.parameters == 134_515_008 for e in entries) == 100
    assert sum("ends inside its header" in e.problem or "truncated" in e.problem for e in entries) == 50


def test_places_follow_the_environment() -> None:
    places = usual_places({"OLLAMA_MODELS": "/o", "HF_HUB_CACHE": "/h", "LLAMA_CACHE": "/l"}, Path("/home/me"))
    assert {("Ollama", Path("/o")), ("Hugging Face", Path("/h")), ("llama.cpp", Path("/l"))} <= set(places)
