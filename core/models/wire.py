"""Messages between the window's process and the model worker: JSON, one a line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from core.generation import Message, Prompt, Request

Wire = dict[str, Any]

BEFORE, AFTER = "before the gap", "after the gap"
HEARTBEAT = 2.0
"""Seconds between signs of life of a worker that has nothing to say."""


def encode(message: Mapping[str, Any]) -> bytes:
    """One line."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Wire:
    """The message of one line. Raises ValueError."""
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("not a message")
    return message


def pack_prompt(prompt: Prompt) -> Wire:
    """What rendering needs of a prompt; the two sides of a gap go as turns of their own kind."""
    turns = [[m.role, m.content] for m in prompt.messages]
    if prompt.infill is not None:
        turns += [[BEFORE, prompt.infill.before], [AFTER, prompt.infill.after]]
    return {"messages": turns, "prefill": prompt.prefill}


def unpack_messages(wire: Mapping[str, Any]) -> Sequence[Message]:
    """The turns of a packed prompt."""
    return [Message(role, content) for role, content in wire["messages"]]


def pack_request(request: Request) -> Wire:
    """One request of a `generate` message."""
    return pack_prompt(request.prompt) | {
        "id": request.id,
        "stop": list(request.prompt.stop),
        "temperature": request.temperature,
        "seed": request.seed,
        "max_tokens": request.max_tokens,
    }
