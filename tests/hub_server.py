"""A small real HTTP server with the few routes of the Hugging Face hub that a download needs."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "c" * 40


@dataclass
class Hub:
    """A running hub.

    `files`: of the one repository `me/tiny`. `asked`: method, path, range and authorization of each request.
    `cut`: bytes after which the next answer breaks off. `forged`: sent instead of what the checksum is of.
    `elsewhere`: address of the store that has the bytes.
    """

    endpoint: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, str, str, str]] = field(default_factory=list)
    cut: int | None = None
    forged: bytes | None = None
    elsewhere: str = ""
    status: int = 0


@contextmanager
def hub_server() -> Iterator[Hub]:
    """Serve until left."""
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(send=False)

        def do_GET(self) -> None:
            if self.path.startswith("/api/models/me/tiny"):
                listed = [{"type": "file", "path": name, "size": 1, "oid": "0"} for name in hub.files]
                self._send(200, json.dumps(listed).encode(), {})
            else:
                self._answer(send=True)

        def _answer(self, send: bool) -> None:
            wanted = self.headers.get("Range", "")
            hub.asked.append((self.command, self.path, wanted, self.headers.get("Authorization", "")))
            place, _, name = self.path.partition("/resolve/")
            data = hub.files.get(name.partition("/")[2])
            if hub.status:
                self._send(hub.status, b"", {})
            elif place != "/me/tiny":
                self._send(404, b"", {"X-Error-Code": "RepoNotFound"})
            elif data is None:
                self._send(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})
            else:
                self._file(data, int(wanted.removeprefix("bytes=").partition("-")[0] or 0), send)

        def _file(self, data: bytes, start: int, send: bool) -> None:
            digest = hashlib.sha256(data).hexdigest()
            headers = {"X-Repo-Commit": COMMIT, "X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(len(data))}
            if hub.elsewhere:
                self._send(302, b"", headers | {"Location": hub.elsewhere + self.path})
                return
            sent = (hub.forged or data)[start:]
            headers |= {"ETag": f'"{digest}"', "Content-Length": str(len(sent)), "Accept-Ranges": "bytes"}
            if start:
                headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
            if send and hub.cut is not None:
                sent, hub.cut = sent[: hub.cut], None
            self._send(206 if start else 200, sent if send else b"", headers)

        def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for key, value in ({"Content-Length": str(len(data))} | headers).items():
                self.send_header(key, value)
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(data)

        def log_message(self, *arguments: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, args=(0.02,))
    thread.start()
    hub.endpoint = f"http://127.0.0.1:{http.server_port}"
    try:
        yield hub
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
