"""Take up a candidate's text before anything of it runs."""

from __future__ import annotations

import os
from typing import Any

from .channel import Send
from .child import describe
from .screening import screen
from .sources import CandidateFinder
from .subprocesses import serve

REFUSALS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


def path_of(request: dict[str, Any], config: dict[str, Any]) -> str:
    """Where the changed file lies; empty where none is changed."""
    return os.path.join(str(config["root"]), request["path"]) if request.get("path") is not None else ""


def text_of(request: dict[str, Any]) -> bytes:
    """The changed file's bytes."""
    text: str = request["text"]
    return text.encode(request["encoding"])


def take_up(send: Send, request: dict[str, Any], config: dict[str, Any], finder: CandidateFinder) -> bool:
    """Compile, screen and serve the candidate; False, and a report, when it does not compile."""
    path = path_of(request, config)
    try:
        text = text_of(request)
        compile(text, path, "exec", dont_inherit=True)
    except REFUSALS as error:
        send("syntax", describe(error), getattr(error, "lineno", None) or 0)
        return False
    send("screen", *screen(request["original"], request["text"]))
    finder.place(path, text)
    serve(path, text)
    return True
