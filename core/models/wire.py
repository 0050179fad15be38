"""Messages between the window's process and the model worker: JSON, one a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rtc_inspector.core.generation import Block, Infill, Message, Prompt, Request

Wire = dict[str, Any]

HEARTBEAT = 2.0
"""Seconds between signs of life of a worker that has nothing to say."""


def encode(message: Mapping[str, Any]) -> bytes:
    """Return the message as one line of JSON, its end included."""
    return json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Wire:
    """The message of one line. Raises ValueError."""
    message: Wire = json.loads(line)
    return message


def unpack_prompt(wire: Wire) -> Prompt:
    """A prompt that was sent as `asdict` makes it, as far as the worker needs it."""
    return Prompt(
        tuple(Message(**turn) for turn in wire["messages"]),
        prefill=wire["prefill"],
        stop=tuple(wire["stop"]),
        infill=None if wire["infill"] is None else Infill(**wire["infill"]),
        block=None if wire["block"] is None else Block(**wire["block"]),
        most_characters=wire["most_characters"],
    )


def unpack_request(wire: Wire) -> Request:
    """A request that was sent so."""
    return Request(**wire | {"prompt": unpack_prompt(wire["prompt"])})
