"""Messages between the window's process and the model worker: JSON, one a line."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from core.generation import Block, Message, Prompt, Request
from core.models.textstream import Ending

Wire = dict[str, Any]

BEFORE, AFTER = "before the gap", "after the gap"
HEARTBEAT = 2.0
"""Seconds between signs of life of a worker that has nothing to say."""


def encode(message: Mapping[str, Any]) -> bytes:
    """One line."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Wire:
    """The message of one line. Raises ValueError."""
    message: Wire = json.loads(line)
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


def unpack_ending(wire: Mapping[str, Any]) -> Ending:
    """What ends the answer to a packed request."""
    block = None if wire["block"] is None else Block(*wire["block"])
    return Ending(tuple(wire["stop"]), block, int(wire["most_characters"]))


def pack_request(request: Request) -> Wire:
    """One request of a `generate` message."""
    block = request.prompt.block
    return pack_prompt(request.prompt) | {
        "id": request.id,
        "stop": list(request.prompt.stop),
        "block": None if block is None else [block.indentation, block.comment],
        "most_characters": request.prompt.most_characters,
        "temperature": request.temperature,
        "seed": request.seed,
        "max_tokens": request.max_tokens,
    }
