"""What an OpenAI-compatible server says of the models it serves: their names, what tells them apart, their windows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.models.chat_http import HttpFailure, ask

PATIENCE = 10.0
"""Seconds for a list that no model has to be asked for."""
WINDOWS = ("n_ctx", "max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length")
"""Fields in which lists of models state it: llama-server; vLLM and SGLang; LM Studio; OpenRouter; Groq; Mistral."""
OLLAMA_WINDOW = 4096
"""Tokens that Ollama gives a model unless it is told otherwise."""
LOADING = 120.0
"""Seconds for a server to load a model, which the first sample would wait for else."""
LASTING = ("root", "owned_by", "max_model_len", "arch", "quantization", "meta")
"""What does not change as long as the same model is served; `created`, for one, is the time of the question."""
OLLAMA, LLAMA_SERVER = "Ollama", "llama-server"
OWNERS = {"library": OLLAMA, "llamacpp": LLAMA_SERVER, "vllm": "vLLM", "organization_owner": "LM Studio"}
"""Who a server says owns its models, by which it is known."""


@dataclass(frozen=True, slots=True)
class Served:
    """One model of a server.

    Attributes:
        said: what the server says of it, as text: another model under the same name reads otherwise, as far as the
            server tells.
        window: tokens it takes at most; 0 when unsaid.
        parameters: 0 when unsaid.
        kind: which program the server is, as far as it can be told.
        slots: requests that it works on at a time; 0 when unsaid.
        made_for: tokens that the model was made for, of which the server may give it fewer; 0 when unsaid.
    """

    name: str
    said: str = ""
    window: int = 0
    parameters: int = 0
    kind: str = ""
    slots: int = 0
    made_for: int = 0


def list_served(address: str, key: str) -> list[Served]:
    """Return every model of the server at `address`. Raises HttpFailure; status 404 where a server has no list."""
    whole = ask(address.rstrip("/") + "/models", key, None, PATIENCE)
    entries = whole.get("data") if isinstance(whole, dict) else None
    if not isinstance(entries, list):
        raise HttpFailure("The server's answer is not a list of models.", passing=True, status=200)
    named = [entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
    digests = _digests(address, key) if any(_kind(entry) == OLLAMA for entry in named) else {}
    return [_served(entry, digests) for entry in named]


def choose(served: list[Served], wanted: str, address: str) -> Served:
    """The model of that name; the only one when none is named. Raises ModelError naming those there are."""
    found = next((each for each in served if each.name == wanted), None)
    if found is None and len(served) == 1 and not wanted:
        found = served[0]
    if found is not None:
        return found
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
    parameters = meta.get("n_params")
    return Served(
        name=entry["id"],
        said=", ".join(f"{name} {value}" for name, value in parts.items()),
        window=_number(window),
        parameters=_number(parameters),
        kind=_kind(entry),
        made_for=_number(meta.get("n_ctx_train")),
    )


def looked_into(served: Served, address: str, key: str) -> Served:
    """Return what the server says of a model beyond its list, at the addresses of its own interface.

    Raises HttpFailure only where the server cannot be reached.
    """
    base = address.rstrip("/").removesuffix("/v1")
    found = dict(_said_of_window(served, base, key))
    window = found.get("window") or served.window
    if served.kind == OLLAMA and not window:
        window = min(OLLAMA_WINDOW, found.get("made_for") or OLLAMA_WINDOW)
    return replace(
        served,
        window=window,
        kind=served.kind or _told(found),
        slots=found.get("slots", 0),
        made_for=found.get("made_for") or served.made_for,
    )


def _told(found: dict[str, int]) -> str:
    """The program of a server that did not name itself, by what it answered."""
    return LLAMA_SERVER if "slots" in found else ""


def _said_of_window(served: Served, base: str, key: str) -> Iterator[tuple[str, int]]:
    """Yield what the pages of the program say, by attribute of `Served`, the surest last."""
    if served.kind == OLLAMA:
        shown = _page(f"{base}/api/show", key, {"model": served.name})
        about = shown.get("model_info")
        for name, value in (about if isinstance(about, dict) else {}).items():
            if name.endswith(".context_length"):
                yield "made_for", _number(value)
        for line in str(shown.get("parameters") or "").splitlines():
            if line.split()[:1] == ["num_ctx"]:
                yield (
                    "window",
                    _number(int(line.split()[1]) if line.split()[1:2] and line.split()[1].isdecimal() else 0),
                )
        loaded = list(_listed_window(_page(f"{base}/api/ps", key).get("models"), served.name, "name", "context_length"))
        if not loaded:  # only of a loaded model it says what it gives it; without a prompt this loads it
            _page(f"{base}/api/generate", key, {"model": served.name, "stream": False}, LOADING)
            listed = _page(f"{base}/api/ps", key).get("models")
            loaded = list(_listed_window(listed, served.name, "name", "context_length"))
        yield from loaded
    elif served.kind in (LLAMA_SERVER, "") and not (served.window and not served.kind):
        props = _page(f"{base}/props", key)
        given = props.get("default_generation_settings")
        if isinstance(given, dict) and _number(given.get("n_ctx")):
            yield "window", _number(given["n_ctx"])
            yield "slots", _number(props.get("total_slots")) or 1
    if served.kind in ("LM Studio", "") and not served.window:
        listed = _page(f"{base}/api/v0/models", key).get("data")
        yield from _listed_window(listed, served.name, "id", "loaded_context_length")
        for _, value in _listed_window(listed, served.name, "id", "max_context_length"):
            yield "made_for", value


def _listed_window(entries: Any, wanted: str, name: str, field: str) -> Iterator[tuple[str, int]]:
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get(name) == wanted and _number(entry.get(field)):
            yield "window", _number(entry[field])


def _page(url: str, key: str, body: dict[str, object] | None = None, patience: float = PATIENCE) -> dict[str, Any]:
    """A page of a program's own interface; empty where the server has none such. Raises HttpFailure if it is away."""
    try:
        found = ask(url, key, body, patience)
    except HttpFailure as failure:
        if not failure.status:
            raise
        return {}
    return found if isinstance(found, dict) else {}


def _kind(entry: dict[str, Any]) -> str:
    """The program that serves a model; empty where it does not say."""
    return OWNERS.get(str(entry.get("owned_by")), "")


def _number(value: Any) -> int:
    """A figure as far as it makes sense, else 0: unsaid."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 62 else 0


def _digests(address: str, key: str) -> dict[str, str]:
    """Ollama names the very file it serves, beside the address that is OpenAI's."""
    found: dict[str, str] = {}
    with suppress(HttpFailure, LookupError, TypeError):
        base = address.rstrip("/").removesuffix("/v1")
        for entry in ask(base + "/api/tags", key, None, PATIENCE)["models"]:
            found[str(entry["name"])] = str(entry["digest"])
    return found
