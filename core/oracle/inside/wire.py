"""The zygote's line to the host: one JSON object a line, on descriptors that children do not get."""

from __future__ import annotations

import json
import os
from typing import Any


class Wire:
    """Requests in, replies out. Made once, before anything else runs."""

    def __init__(self) -> None:
        """Move standard input and output out of reach; what the target prints goes nowhere."""
        self._input = os.dup(0)
        self._output = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.close(nothing)
        self._rest = b""

    def receive(self) -> dict[str, Any] | None:
        """The next request; None when the host has gone."""
        while b"\n" not in self._rest:
            data = os.read(self._input, 1 << 20)
            if not data:
                return None
            self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        request: dict[str, Any] = json.loads(line.decode())
        return request

    def send(self, reply: dict[str, Any]) -> None:
        """Write one reply, whole."""
        data = json.dumps(reply).encode() + b"\n"
        while data:
            data = data[os.write(self._output, data) :]

    def close(self) -> None:
        """In a child: let go of the host."""
        os.close(self._input)
        os.close(self._output)
