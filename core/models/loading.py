"""Opening models, wherever they are: files on this machine, or servers that the settings name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.models import devices
from rtc_inspector.core.models.chat_http import HttpFailure, Line
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.models.gguf import read_header
from rtc_inspector.core.models.remote import LLAMA_SERVER, OLLAMA, RemoteModel, Served
from rtc_inspector.core.settings import EndpointSettings, ModelSettings, NamedModel, RunSettings
from rtc_inspector.core.types import Notify
from rtc_inspector.core.waiting import Poll, no_poll, patiently

if TYPE_CHECKING:
    from rtc_inspector.core.models.embedder import GgufEmbedder

PATIENCE = 10.0  # seconds for a list that no model has to be asked for
WINDOWS = ("n_ctx", "max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length")
"""Fields in which lists of models state it: llama-server; vLLM and SGLang; LM Studio; OpenRouter; Groq; Mistral."""
OLLAMA_WINDOW = 4096  # tokens that Ollama gives a model unless it is told otherwise
LOADING = 120.0  # seconds for a server to load a model, which the first sample would wait for else
LASTING = ("root", "owned_by", "max_model_len", "arch", "quantization", "meta")
"""What does not change as long as the same model is served; `created`, for one, is the time of the question."""
OWNERS = {"library": OLLAMA, "llamacpp": LLAMA_SERVER, "vllm": "vLLM", "organization_owner": "LM Studio"}
"""Who a server says owns its models, by which it is known."""
HANGING_UP = 1.0
"""Seconds in which a question ends that was given up; only a host that does not even refuse to talk takes longer."""
NO_LIST = (404, 405, 501)  # what a server without a list of models answers


def open_endpoint(
    settings: EndpointSettings, generation: ModelSettings, poll: Poll = no_poll, notify: Notify = lambda text: None
) -> RemoteModel:
    """Ask the server what it serves, and make a model of it; `poll` is called on the way, raising from it gives up.

    `notify` is told of what the server does not take, when that turns out.

    Raises ModelError: no address, a key that is not set, no answer, an unknown name, gaps that it does not fill.
    """
    check_address(settings.address)
    key = key_of(settings, os.environ)
    with closing(Line(key)) as line:
        try:
            served = _choose(_listed(settings, line, poll), settings.model, settings.address)
        except HttpFailure as failure:
            if failure.status not in NO_LIST or not settings.model:
                raise _unusable(settings, failure) from None
            served = Served(settings.model)  # a server without a list is taken at its word
        with suppress(HttpFailure):  # one that has gone away since will say so when it is asked for samples
            served = patiently(lambda: _looked_into(served, settings.address, line), poll, line.end, HANGING_UP)
    model = RemoteModel(settings, generation, served, key, notify=notify)
    try:
        if not (served.window or generation.context_size):
            patiently(model.find_window, poll, model.cancel, HANGING_UP)
        if text := model.on_window():
            notify(text)
        if generation.prompt_style == "fim":
            patiently(model.check_gap, poll, model.cancel, HANGING_UP)
    except BaseException:
        model.close()
        raise
    return model


def models_at(settings: EndpointSettings, poll: Poll = no_poll) -> list[Served]:
    """Return every model of a server; `poll` is called meanwhile. Raises ModelError, and what `poll` raises."""
    check_address(settings.address)
    try:
        with closing(Line(key_of(settings, os.environ))) as line:
            return _listed(settings, line, poll)
    except HttpFailure as failure:
        raise _unusable(settings, failure) from None


def check_address(address: str) -> None:
    """Raise ModelError when this is no address of a server, or one that holds a secret."""
    try:
        parts = urlsplit(address)
        host, secret = parts.hostname, parts.username or parts.password or parts.query or parts.fragment
        _ = parts.port
    except ValueError:
        host, secret = None, None
    if not address.startswith(("http://", "https://")) or not host or any(c.isspace() for c in address):
        raise ModelError(f"{address} is not an address of a server.", "Give one like http://127.0.0.1:8080/v1.")
    if secret:
        raise ModelError(
            "The address of a server holds more than the server.",
            "Leave out what follows `?` and stands before `@`; a key belongs in an environment variable.",
        )


def key_of(settings: EndpointSettings, environment: Mapping[str, str]) -> str:
    """Return the key out of the user's environment; empty when none is asked for. Raises ModelError."""
    name = settings.key_variable
    if not name:
        return ""
    key = environment.get(name, "").strip()
    if not key:
        raise ModelError(
            f"The environment variable {name}, which should hold the key for {settings.address}, is not set.",
            f"Set it (`export {name}=...`) and start again, or name another variable.",
        )
    if not (key.isascii() and key.isprintable()):
        raise ModelError(f"The key in {name} holds characters that no server takes.", "Copy the key once more.")
    return key


def _listed(settings: EndpointSettings, line: Line, poll: Poll) -> list[Served]:
    def ask() -> list[Served]:
        try:
            return _list_served(settings.address, line)
        except HttpFailure:
            raise
        except Exception as error:
            raise HttpFailure(f"The server's answer makes no sense: {error}.", passing=False) from error

    return patiently(ask, poll, line.end, HANGING_UP)


def _unusable(settings: EndpointSettings, failure: HttpFailure) -> ModelError:
    if failure.status in (401, 403):
        named = f"the key in {settings.key_variable}" if settings.key_variable else "a request without a key"
        return ModelError(
            f"The server at {settings.address} refuses {named} (status {failure.status}).",
            "Name the environment variable that holds the right key.",
        )
    return ModelError(failure.sentence, "Start the server, or check the address: it usually ends in /v1.")


def open_embedder(path: str | None, generation: ModelSettings, notify: Notify, poll: Poll) -> GgufEmbedder:
    """Load the embedding model at `path`, else MiniLM; raising from `poll` gives up. Raises ModelError."""
    from rtc_inspector.core.models.embedder import GgufEmbedder, packaged_minilm  # loads numpy

    file = Path(path) if path else packaged_minilm(notify)
    embedder = GgufEmbedder(file, replace(generation, context_size=None), poll=poll)
    if notice := devices.slowed(embedder.info.build):
        notify(notice)
    return embedder


def local_files(settings: RunSettings) -> list[Path]:
    """Return the model files that a run loads, each once. Raises ModelError when the bundled one is missing."""
    models = dict.fromkeys((settings.forward, settings.backward))
    return [model_file(model) for model in models if model.endpoint is None]


def check_machine(settings: RunSettings, notify: Notify) -> None:
    """Check that the models fit, and tell `notify` of an idle GPU or a window beyond the model's. Raises ModelError.

    Nothing is loaded for it.
    """
    headers = [read_header(path) for path in local_files(settings)]
    for header in headers:
        asked = settings.generation.context_size or 0
        if asked > header.context_length > 0:
            notify(f"{header.label} was made for windows of {header.context_length:,} tokens, not of {asked:,}.")
    gpus, backends = devices.found_gpus(), devices.build_backends()
    idle = devices.unused_gpu(gpus, backends) if headers else None
    if idle is not None:
        notify(f"{idle.problem} {idle.remedy}")
    if gpus and idle is None and settings.generation.gpu_layers:
        return  # weights go to the GPU's own memory
    memory = devices.memory_now()
    if devices.too_much(headers, settings.generation, memory):
        raise ModelError(
            devices.estimate(headers, settings.generation, memory),
            "Choose a smaller model or quantization, or a smaller context size, or close other programs.",
        )
    if devices.tight(headers, settings.generation, memory):
        notify(devices.estimate(headers, settings.generation, memory) + " Swapping will make it slow.")


def model_file(model: NamedModel) -> Path:
    """Return the GGUF file that is named, the bundled one where none is. Raises ModelError."""
    return Path(model.file) if model.file else bundled_model()


# --------------------------------------------------------------------------- what servers say of their models


def _list_served(address: str, line: Line) -> list[Served]:
    """Return every model of the server at `address`. Raises HttpFailure; status 404 where a server has no list."""
    whole = line.ask(address.rstrip("/") + "/models", None, PATIENCE)
    entries = whole.get("data") if isinstance(whole, dict) else None
    if not isinstance(entries, list):
        raise HttpFailure("The server's answer is not a list of models.", passing=True, status=200)
    named = [entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
    digests: dict[str, str] = {}
    if any(OWNERS.get(str(entry.get("owned_by"))) == OLLAMA for entry in named):
        # Ollama names the very file it serves, beside the address that is OpenAI's.
        with suppress(HttpFailure, LookupError, TypeError):
            base = address.rstrip("/").removesuffix("/v1")
            for entry in line.ask(base + "/api/tags", None, PATIENCE)["models"]:
                digests[str(entry["name"])] = str(entry["digest"])
    return [_served(entry, digests) for entry in named]


def _choose(served: list[Served], wanted: str, address: str) -> Served:
    """Return the model of that name, the only one when none is named. Raises ModelError naming those there are."""
    found = [each for each in served if each.name == wanted]
    if found or (len(served) == 1 and not wanted):
        return [*found, *served][0]
    names = ", ".join(each.name for each in served[:20]) + (", …" if len(served) > 20 else "")
    problem = f"The server at {address} serves no model {wanted!r}." if wanted else f"{address} serves several models."
    if not served:
        raise ModelError(f"The server at {address} serves no model.", "Load one there, then try again.")
    raise ModelError(problem, f"Name one of these: {names}.")


def _served(entry: dict[str, Any], digests: dict[str, str]) -> Served:
    meta = entry.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    parts = {name: entry[name] for name in LASTING if name != "meta" and isinstance(entry.get(name), str | int)}
    parts |= {name: value for name, value in sorted(meta.items()) if isinstance(value, int)}
    if entry["id"] in digests:
        parts["digest"] = digests[entry["id"]]
    window = next((held[name] for name in WINDOWS for held in (meta, entry) if _number(held.get(name))), 0)
    return Served(
        name=entry["id"],
        said=", ".join(f"{name} {value}" for name, value in parts.items()),
        window=_number(window),
        parameters=_number(meta.get("n_params")),
        kind=OWNERS.get(str(entry.get("owned_by")), ""),
        made_for=_number(meta.get("n_ctx_train")),
    )


def _looked_into(served: Served, address: str, line: Line) -> Served:
    """Return what the server says of a model beyond its list, at the addresses of its own interface.

    Raises HttpFailure only where the server cannot be reached.
    """
    base = address.rstrip("/").removesuffix("/v1")
    found = dict(_said_of_window(served, base, line))
    window = found.get("window") or served.window
    if served.kind == OLLAMA and not window:
        window = min(OLLAMA_WINDOW, found.get("made_for") or OLLAMA_WINDOW)
    return replace(
        served,
        window=window,
        kind=served.kind or (LLAMA_SERVER if "slots" in found else ""),
        slots=found.get("slots", 0),
        made_for=found.get("made_for") or served.made_for,
    )


def _said_of_window(served: Served, base: str, line: Line) -> Iterator[tuple[str, int]]:
    """Yield what the pages of the program say, by attribute of `Served`, the surest last."""
    if served.kind == OLLAMA:
        shown = _page(f"{base}/api/show", line, {"model": served.name})
        about = shown.get("model_info")
        for name, value in (about if isinstance(about, dict) else {}).items():
            if name.endswith(".context_length"):
                yield "made_for", _number(value)
        for each in str(shown.get("parameters") or "").splitlines():
            if each.split()[:1] == ["num_ctx"]:
                size = "".join(each.split()[1:2])
                yield "window", _number(int(size) if size.isdecimal() else 0)
        for again in (False, True):
            if again:  # only of a loaded model it says what it gives it; without a prompt this loads it
                _page(f"{base}/api/generate", line, {"model": served.name, "stream": False}, LOADING)
            listed = _page(f"{base}/api/ps", line).get("models")
            if loaded := list(_listed_window(listed, served.name, "name", "context_length")):
                yield from loaded
                break
    elif served.kind in (LLAMA_SERVER, "") and not (served.window and not served.kind):
        props = _page(f"{base}/props", line)
        given = props.get("default_generation_settings")
        if isinstance(given, dict) and _number(given.get("n_ctx")):
            yield "window", _number(given["n_ctx"])
            yield "slots", _number(props.get("total_slots")) or 1
    if served.kind in ("LM Studio", "") and not served.window:
        listed = _page(f"{base}/api/v0/models", line).get("data")
        yield from _listed_window(listed, served.name, "id", "loaded_context_length")
        for _, value in _listed_window(listed, served.name, "id", "max_context_length"):
            yield "made_for", value


def _listed_window(entries: Any, wanted: str, name: str, field: str) -> Iterator[tuple[str, int]]:
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get(name) == wanted and _number(entry.get(field)):
            yield "window", _number(entry[field])


def _page(url: str, line: Line, body: dict[str, object] | None = None, patience: float = PATIENCE) -> dict[str, Any]:
    """Return a page of a program's own interface, empty where it has none such. Raises HttpFailure if it is away."""
    try:
        found = line.ask(url, body, patience)
    except HttpFailure as failure:
        if not failure.status:
            raise
        return {}
    return found if isinstance(found, dict) else {}


def _number(value: Any) -> int:
    """Return a figure as far as it makes sense, else 0: unsaid."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 62 else 0
