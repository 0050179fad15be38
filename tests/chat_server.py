"""A small real HTTP server with an OpenAI-compatible interface, which answers as a test tells it to.

`KINDS` says in what the programs differ that people have behind such an interface, as data.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, bytes, dict[str, str]]
Script = Callable[[int, dict[str, object]], Answer]
NONE: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Kind:
    """One program as it shows itself.

    Attributes:
        entry: of its list of models, besides the name.
        pages: further addresses and the JSON that they answer, whatever is posted.
        refuses: fields that it does not take, and the JSON with which it says so.
        more: of every entry, whatever the test says: what tests need not know of.
        streams: whether it sends events where they are asked for.
        thoughts: the field of an answer in which it puts what the model thinks.
    """

    entry: Mapping[str, Any] = field(default_factory=lambda: {"owned_by": "test"})
    pages: Mapping[str, Any] = field(default_factory=dict)
    refuses: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    streams: bool = True
    thoughts: str = "reasoning_content"


def unsupported(name: str, instead: str = "") -> dict[str, Any]:
    """OpenAI's words for a field that a model does not take."""
    words = f"Unsupported parameter: '{name}' is not supported with this model."
    words += f" Use '{instead}' instead." if instead else ""
    return {
        "error": {"message": words, "type": "invalid_request_error", "param": name, "code": "unsupported_parameter"}
    }


def unknown(name: str) -> dict[str, Any]:
    """OpenAI's words for a field that it has never heard of."""
    return {"error": {"message": f"Unrecognized request argument supplied: {name}", "param": None, "code": None}}


def forbidden(name: str) -> dict[str, Any]:
    """The words of servers that check what they are sent by a schema."""
    return {"detail": [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}]}


_ONE = {"error": {"message": "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default "
                  "(1) value is supported.", "param": "temperature", "code": "unsupported_value"}}  # fmt: skip
PLAIN = Kind(streams=False, more={"context_length": 3072})
"""States a window, so that none is looked for."""
KINDS = {
    "llama-server": Kind(
        entry={"owned_by": "llamacpp", "meta": {"n_ctx_train": 32768, "n_params": 134515008}},
        pages={
            "/props": {"default_generation_settings": {"n_ctx": 8192}, "total_slots": 3},
            "/infill": {
                "content": "gap",
                "stop": True,
                "stop_type": "eos",
                "tokens_evaluated": 9,
                "tokens_predicted": 2,
            },
        },
    ),
    "Ollama": Kind(
        entry={"owned_by": "library"},
        pages={
            "/api/tags": {"models": [{"name": "m", "digest": "abc"}]},
            "/api/show": {
                "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
                "parameters": 'num_ctx 6144\nstop "<|im_end|>"',
                "capabilities": ["completion", "thinking"],
            },
            "/api/generate": {"done": True},
            "/api/ps": {"models": []},
        },
        thoughts="reasoning",
    ),
    "LM Studio": Kind(
        entry={"owned_by": "organization_owner"},
        pages={
            "/api/v0/models": {
                "data": [
                    {"id": "m", "max_context_length": 32768, "loaded_context_length": 5120, "quantization": "Q4_K_M"}
                ]
            }
        },
    ),
    "vLLM": Kind(
        entry={"owned_by": "vllm", "max_model_len": 7168},
        refuses={"suffix": {"object": "error", "message": "suffix is not currently supported", "code": 400}},
    ),
    "OpenAI": Kind(
        entry={"owned_by": "openai"},
        refuses={
            "top_k": unknown("top_k"),
            "min_p": unknown("min_p"),
            "chat_template_kwargs": unknown("chat_template_kwargs"),
            "max_tokens": unsupported("max_tokens", "max_completion_tokens"),
            "temperature": _ONE,
        },
    ),
    "strict": Kind(
        more={"context_length": 3072},
        refuses={
            name: forbidden(name) for name in ("top_k", "min_p", "seed", "chat_template_kwargs", "stream_options")
        },
        streams=False,
    ),
}


@dataclass
class ChatServer:
    """A running server.

    `asked`: bodies of what was posted, with their path and key; `served`: its list of models, None for status 404;
    `connections`: how many were made; `endless`: what it writes again and again in place of an answer, until nobody
    reads, of which `left` is told.
    """

    address: str = ""
    asked: list[dict[str, object]] = field(default_factory=list)
    served: list[dict[str, object]] | None = None
    connections: int = 0
    endless: Callable[[], bytes] | None = None
    left: Callable[[], None] = lambda: None
    stop: Callable[[], None] = lambda: None


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # who asked may have left
            super().handle_error(request, client_address)

    request_queue_size = 128  # five at a time, as by default, are few for a client that asks much at once


@contextmanager
def chat_server(script: Script, kind: Kind = PLAIN) -> Iterator[ChatServer]:
    """Answer each posted request by `script(its number, its body)`, in the manner of the kind of server."""
    state, lock = ChatServer(served=[{"id": "m", **kind.entry}]), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if kind.streams else "HTTP/1.0"

        def setup(self) -> None:
            state.connections += 1
            super().setup()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.startswith("/api/"):
                self._page()
                return
            with lock:
                seen = {"authorization": self.headers.get("Authorization"), "path": self.path}
                state.asked.append(body | seen)
                number = len(state.asked)
            refused = next((kind.refuses[name] for name in body if name in kind.refuses), None)
            if refused is not None:
                self._send(400, json.dumps(refused).encode(), {})
            elif self.path in kind.pages:
                self._page()
            elif state.endless is not None:
                self._write_on(state.endless)
            else:
                self._answer(body, *script(number, body))

        def _answer(self, body: dict[str, Any], status: int, data: bytes, headers: dict[str, str]) -> None:
            if status == 200 and kind.streams and body.get("stream"):
                data, headers = events(data, kind.thoughts), headers | {"Content-Type": "text/event-stream"}
            self._send(status, data, headers)

        def _write_on(self, write: Callable[[], bytes]) -> None:
            self._send(200, b"", {"Content-Type": "text/event-stream"})
            try:
                while True:
                    self.wfile.write(write())
            except OSError:
                state.left()

        def _page(self) -> None:
            found = kind.pages.get(self.path)
            self._send(404 if found is None else 200, json.dumps(found).encode(), {})

        def do_GET(self) -> None:
            if self.path != "/v1/models":
                self._page()
            elif state.served is None:
                self._send(404, b"", {})
            else:
                self._send(200, json.dumps({"data": [kind.more | entry for entry in state.served]}).encode(), {})

        def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for key, value in (headers | ({"Content-Length": str(len(data))} if kind.streams else {})).items():
                self.send_header(key, value)
            self.end_headers()
            with suppress(OSError):  # who asked may have left
                self.wfile.write(data)

        def log_message(self, *arguments: object) -> None:
            pass

    http = _Server(("127.0.0.1", 0), Handler)
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


def completion(text: object, thoughts: str = "", reason: str = "stop", **more: object) -> bytes:
    """The body of a chat completion, which serves as one of a text as well."""
    message = {"content": text} | ({"reasoning_content": thoughts} if thoughts else {})
    whole = {"choices": [{"message": message, "text": text, "finish_reason": reason}]}
    return json.dumps(whole | {"usage": {"prompt_tokens": 7, "completion_tokens": 3}} | more).encode()


def events(data: bytes, thoughts: str = "reasoning_content") -> bytes:
    """A whole answer in pieces of some letters, as server-sent events; its thoughts in the field of that name."""
    try:
        whole = json.loads(data)
        choice = whole["choices"][0]
        message = choice["message"]
    except (ValueError, LookupError, TypeError):
        return data
    text, thought = message["content"], message.get("reasoning_content", "")
    pieces = [{"delta": {"role": "assistant", "content": ""}}]
    pieces += [{"delta": {thoughts: thought[at : at + 5]}} for at in range(0, len(thought), 5)]
    if isinstance(text, str):
        pieces += [
            {"delta": {"content": text[at : at + 5]}, "text": text[at : at + 5]} for at in range(0, len(text), 5)
        ]
    else:
        pieces += [{"delta": {"content": text}}]
    pieces += [{"delta": {}, "finish_reason": choice["finish_reason"]}]
    model = {"model": whole["model"]} if "model" in whole else {}
    lines = [{"choices": [piece], **model} for piece in pieces]
    lines += [{"choices": [], "usage": whole.get("usage")}]
    said = [f"data: {json.dumps(line)}\n\n".encode() for line in lines]
    return b": that was a comment\n\n" + b"".join(said) + b"data: [DONE]\n\n"
