"""From the settings of an endpoint to a model that answers: its key, its name, what it serves."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from core.errors import ModelError
from core.models.chat_http import HttpFailure
from core.models.remote import Endpoint, RemoteModel
from core.models.served import Served, choose, list_served
from core.settings import DEFAULT_CONTEXT, EndpointSettings, ModelSettings
from core.waiting import Beat, unheard

TICK = 0.1
NO_LIST = (404, 405, 501)
"""What a server without a list of models answers."""


def open_endpoint(settings: EndpointSettings, generation: ModelSettings, beat: Beat = unheard) -> RemoteModel:
    """Ask the server what it serves, and make a model of it; `beat` is called on the way, raising from it gives up.

    Raises ModelError: no address, a key that is not set, no answer, an unknown name, a prompt style it has not.
    """
    if generation.prompt_style not in ("auto", "chat", "completion", "code"):
        raise ModelError(
            f"A server cannot be asked in the prompt style {generation.prompt_style}.",
            "Choose `auto`, `chat`, `completion` or `code`.",
        )
    key = key_of(settings, os.environ)
    served = _described(settings, key, beat)
    window = generation.context_size or DEFAULT_CONTEXT
    return RemoteModel(
        Endpoint(
            address=settings.address,
            model=served.name,
            key=key,
            context_size=min(window, served.window or window),
            concurrency=settings.concurrency,
            attempts=settings.attempts,
            timeout=settings.timeout,
            style="chat" if generation.prompt_style == "auto" else generation.prompt_style,
            layout=generation.prompt_layout,
            top_k=generation.top_k,
            top_p=generation.top_p,
            served=served.said,
            parameters=served.parameters,
        )
    )


def models_at(settings: EndpointSettings, beat: Beat = unheard) -> list[Served]:
    """Every model of a server; `beat` is called meanwhile. Raises ModelError, and what `beat` raises."""
    check_address(settings.address)
    key = key_of(settings, os.environ)
    try:
        return _in_background(lambda: list_served(settings.address, key), beat)
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
    """The key out of the user's environment; empty when none is asked for. Raises ModelError."""
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


def _described(settings: EndpointSettings, key: str, beat: Beat) -> Served:
    """The model that is asked for, as the server describes it; one that has no list is taken at its word."""
    check_address(settings.address)
    try:
        served = _in_background(lambda: list_served(settings.address, key), beat)
    except HttpFailure as failure:
        if failure.status in NO_LIST and settings.model:
            return Served(settings.model)
        raise _unusable(settings, failure) from None
    return choose(served, settings.model, settings.address)


def _unusable(settings: EndpointSettings, failure: HttpFailure) -> ModelError:
    if failure.status in (401, 403):
        named = f"the key in {settings.key_variable}" if settings.key_variable else "a request without a key"
        return ModelError(
            f"The server at {settings.address} refuses {named} (status {failure.status}).",
            "Name the environment variable that holds the right key.",
        )
    return ModelError(failure.sentence, "Start the server, or check the address: it usually ends in /v1.")


def _in_background(work: Callable[[], list[Served]], beat: Beat) -> list[Served]:
    """Wait for `work` without being deaf to a stop. Raises HttpFailure, and what `beat` raises."""
    answer: queue.SimpleQueue[list[Served] | HttpFailure] = queue.SimpleQueue()

    def run() -> None:
        try:
            answer.put(work())
        except HttpFailure as failure:
            answer.put(failure)
        except Exception as error:
            answer.put(HttpFailure(f"The server's answer makes no sense: {error}.", passing=False))

    # A daemon: a thread that waits for a slow server must not keep the program from ending.
    threading.Thread(target=run, name="endpoint", daemon=True).start()
    while True:
        beat()
        with suppress(queue.Empty):
            found = answer.get(timeout=TICK)
            if isinstance(found, HttpFailure):
                raise found
            return found
