"""A small real HTTP server with an OpenAI-compatible interface, which answers as a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = tuple[int, bytes, dict[str, str]]
Script = Callable[[int, dict[str, object]], Answer]


@dataclass
class ChatServer:
    """A running server.

    `asked`: bodies of what was posted, with their path and key; `served`: its list of models, None for status 404.
    """

    address: str = ""
    asked: list[dict[str, object]] = field(default_factory=list)
    served: list[dict[str, object]] | None = field(default_factory=lambda: [{"id": "m", "owned_by": "test"}])
    stop: Callable[[], None] = lambda: None


@contextmanager
def chat_server(script: Script) -> Iterator[ChatServer]:
    """Answer each posted request by `script(its number, its body)`."""
    state, lock = ChatServer(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                seen = {"authorization": self.headers.get("Authorization"), "path": self.path}
                state.asked.append(body | seen)
                number = len(state.asked)
            self._send(*script(number, body))

        def do_GET(self) -> None:
            if self.path != "/v1/models" or state.served is None:
                self._send(404, b"", {})
            else:
                self._send(200, json.dumps({"data": state.served}).encode(), {})

        def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for key, value in headers.items():
                self.send_header(key, value)
            self.end_headers()
            with suppress(OSError):  # who asked may have left
                self.wfile.write(data)

        def log_message(self, *arguments: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, args=(0.02,))
    thread.start()

    def stop() -> None:
        http.shutdown()
        thread.join()
        http.server_close()

    state.address, state.stop = f"http://127.0.0.1:{http.server_port}/v1", stop
    try:
        yield state
    finally:
        if thread.is_alive():
            stop()


def completion(text: object, **more: object) -> bytes:
    """The body of a chat completion."""
    message = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    return json.dumps(message | {"usage": {"prompt_tokens": 7, "completion_tokens": 3}} | more).encode()
