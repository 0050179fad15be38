"""GGUF headers: real, broken, and many."""

from __future__ import annotations

import hashlib
import math
import random
import struct
import time
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFWriter, LlamaFileType
from models_gguf_writer import gguf_bytes, write_gguf

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.models.gguf import check_generative, fingerprint, read_header, special_tokens


def test_header_of_the_bundled_model() -> None:
    header = read_header(bundled_model())
    assert (header.architecture, header.quantization, header.context_length) == ("llama", "Q4_1", 8192)
    assert header.parameters == 134_515_008
    assert header.kv_bytes == 30 * 3 * (64 + 64) * 2
    assert header.chat_template is not None and "<|im_start|>" in header.chat_template
    assert not header.is_embedding
    check_generative(header)


def test_header_of_a_written_file(tmp_path: Path) -> None:
    extra = {f"tokenizer.ggml.{k}_token_id": n for n, k in enumerate(("fim_pre", "fim_suf", "fim_mid"))}
    header = read_header(write_gguf(tmp_path / "tiny.gguf", extra, drop=["tokenizer.chat_template"]))
    assert (header.name, header.quantization, header.parameters) == ("Tiny", "F32", 128)
    assert header.chat_template is None
    assert header.fim_tokens == (0, 1, 2)


def test_a_file_cut_anywhere_is_refused_before_loading(tmp_path: Path) -> None:
    whole = gguf_bytes()
    path = tmp_path / "cut.gguf"
    cuts = [0, 1, 3, 4, 7, 15, 23, *random.Random(1).sample(range(24, len(whole)), 60), len(whole) - 1]
    for cut in cuts:
        path.write_bytes(whole[:cut])
        with pytest.raises(ModelError) as caught:
            read_header(path)
        assert "cut.gguf" in caught.value.problem and caught.value.remedy.endswith(".")
    path.write_bytes(whole)
    read_header(path)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"PK\x03\x04" + b"\0" * 100, "not a GGUF file"),
        (b"GGUF" + struct.pack(">I", 3) + b"\0" * 100, "big-endian"),
        (b"GGUF" + struct.pack("<IQQ", 99, 0, 0), "version 99"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 1), "more entries"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1, 1 << 60), "more entries"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 62) + b"key", "ends inside its header"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<IIQ", 9, 8, 1 << 61), "ends inside"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<IQ", 77, 1), "unknown kind 77"),
    ],
)
def test_nonsense_is_one_clear_sentence(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=words):
        read_header(path)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.gguf", tmp_path):
        with pytest.raises(ModelError, match="cannot be read"):
            read_header(path)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ({"general.architecture": "bert"}, "embedding model"),
        ({"llama.pooling_type": 1}, "embedding model"),
        ({"general.architecture": "clip"}, "image encoder"),
    ],
)
def test_models_that_write_no_text(tmp_path: Path, extra: dict[str, str | int], words: str) -> None:
    header = read_header(write_gguf(tmp_path / "m.gguf", extra))
    with pytest.raises(ModelError, match=words):
        check_generative(header)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, -1.5, 0.25, [-3, -3], 1e30])
def test_figures_that_make_no_sense_are_unsaid(tmp_path: Path, odd: float | list[int]) -> None:
    names = ("context_length", "block_count", "embedding_length", "attention.head_count", "attention.key_length")
    for name in names:
        header = read_header(write_gguf(tmp_path / "odd.gguf", {f"llama.{name}": odd}))
        assert header.context_length >= 0 and header.kv_bytes >= 0


def test_a_damaged_vocabulary_is_one_clear_sentence(tmp_path: Path) -> None:
    whole = gguf_bytes()
    at = whole.index(struct.pack("<Q", 2) + b"t7")
    path = tmp_path / "bad.gguf"
    for length in (1 << 20, 1 << 40, (1 << 64) - 1):
        path.write_bytes(whole[:at] + struct.pack("<Q", length) + whole[at + 8 :])
        with pytest.raises(ModelError) as caught:
            special_tokens(read_header(path))
        assert "bad.gguf" in caught.value.problem


def test_a_header_with_a_large_vocabulary_is_read_at_once(tmp_path: Path) -> None:
    """`gguf.GGUFReader` takes 9 s for it, which is why it is not used."""
    path = tmp_path / "large.gguf"
    writer = GGUFWriter(path, "qwen2")
    writer.add_file_type(LlamaFileType.MOSTLY_Q4_K_M)
    writer.add_token_list([f"token{number}" for number in range(150_000)])
    writer.add_token_types([1] * 149_999 + [3])
    writer.add_token_merges([f"a{number} b{number}" for number in range(150_000)])
    writer.add_tensor("weight", np.zeros((4, 4), dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    read_header(path)  # loads the package
    start = time.process_time()
    header = read_header(path)
    assert time.process_time() - start < 0.3
    assert (header.quantization, header.parameters) == ("Q4_K_M", 16)
    assert special_tokens(header).control == ("token149999",)


def test_parts_are_one_model(tmp_path: Path) -> None:
    first = write_gguf(tmp_path / "big-00001-of-00002.gguf", {"split.count": 2})
    with pytest.raises(ModelError, match="parts of this model are missing"):
        read_header(first)
    second = write_gguf(tmp_path / "big-00002-of-00002.gguf", {"split.count": 2})
    header = read_header(second)
    assert header.files == (first, second)
    assert (header.parameters, header.file_bytes) == (256, first.stat().st_size + second.stat().st_size)


def test_fingerprint_is_the_sha256_and_follows_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, cache = tmp_path / "m.gguf", tmp_path / "rtc-inspector" / "fingerprints"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path.write_bytes(b"one")
    assert fingerprint([path]) == hashlib.sha256(b"one").hexdigest()
    path.write_bytes(b"two!")
    assert fingerprint([path]) == hashlib.sha256(b"two!").hexdigest()
    for kept in cache.iterdir():
        kept.write_text("not json")
    assert fingerprint([path]) == hashlib.sha256(b"two!").hexdigest()
    with pytest.raises(ModelError):
        fingerprint([tmp_path / "none"])


def test_a_cache_that_cannot_be_written_costs_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/cache")
    path = tmp_path / "m.gguf"
    path.write_bytes(b"one")
    assert fingerprint([path]) == hashlib.sha256(b"one").hexdigest()
