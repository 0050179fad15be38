"""What an OpenAI-compatible server says of the models it serves: their names, and what tells one from another."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from core.errors import ModelError
from core.models.chat_http import HttpFailure, ask

PATIENCE = 10.0
"""Seconds for a list that no model has to be asked for."""
LASTING = ("root", "owned_by", "max_model_len", "arch", "quantization", "meta")
"""What does not change as long as the same model is served; `created`, for one, is the time of the question."""
OLLAMA = "Ollama"
OWNERS = {"library": OLLAMA, "llamacpp": "llama-server", "vllm": "vLLM", "organization_owner": "LM Studio"}
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
    """

    name: str
    said: str = ""
    window: int = 0
    parameters: int = 0
    kind: str = ""
    slots: int = 0


def list_served(address: str, key: str) -> list[Served]:
    """Every model of the server at `address`. Raises HttpFailure; status 404 where a server has no list."""
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
    window = entry.get("max_model_len") or meta.get("n_ctx")
    parameters = meta.get("n_params")
    return Served(
        name=entry["id"],
        said=", ".join(f"{name} {value}" for name, value in parts.items()),
        window=_number(window),
        parameters=_number(parameters),
        kind=_kind(entry),
    )


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
