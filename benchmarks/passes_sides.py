"""The sides of benchmarks/passes.py: our engine, the plain loop, llama.cpp's server."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Protocol, Self

from rtc_inspector.core.generation import PLAIN, Message, Prompt, Request
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.settings import ModelSettings

HELLO = Request("warm", Prompt((Message("user", "Hello"),)), 0.0, 0, 1)
SLOTS = 8
"""As many requests as a wave of two regions sends at a time."""
SERVER_WINDOW = 2048


@dataclass
class Tally:
    """What one side did. `evaluated`: prompt tokens really evaluated; `cpu`: processor seconds."""

    texts: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cpu: float = 0.0
    evaluated: int = 0
    generated: int = 0


class Side(Protocol):
    name: str
    tally: Tally

    def draw(self, requests: Sequence[Request]) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...


class Engine:
    """Our engine; the processor time of this process counts as well."""

    name = "ours"

    def __init__(self, model: Path, threads: int) -> None:
        self.tally = Tally()
        self._model = LocalModel(model, ModelSettings(threads=threads))

    def __enter__(self) -> Self:
        list(self._model.generate([HELLO]))
        return self

    def __exit__(self, *error: object) -> None:
        self._model.close()

    def draw(self, requests: Sequence[Request]) -> None:
        before, cpu, start = dict(self._model.counters), self._cpu(), time.perf_counter()
        self.tally.texts |= {g.id: g.text for g in self._model.generate(requests)}
        self.tally.seconds += time.perf_counter() - start
        self.tally.cpu += self._cpu() - cpu
        self.tally.evaluated += self._model.counters["evaluated"] - before["evaluated"]
        self.tally.generated += self._model.counters["generated"] - before["generated"]

    def _cpu(self) -> float:
        return time.process_time() + processor_seconds(self._model.worker_pid)


class Loop:
    """The plain loop, in a process of its own: see passes_loop.py."""

    name = "loop"

    def __init__(self, model: Path, threads: int) -> None:
        self.tally = Tally()
        command = [sys.executable, str(Path(__file__).with_name("passes_loop.py")), str(model), str(threads)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        self._ask({"requests": [asdict(HELLO)]})
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()

    def draw(self, requests: Sequence[Request]) -> None:
        add(self.tally, self._ask({"requests": [asdict(r) for r in requests]}))

    def compare(self, request: Request, text: str) -> dict[str, Any]:
        """Where the loop's text and `text` part, and what the loop writes when nothing is cached."""
        return self._ask({"compare": asdict(request), "loop": self.tally.texts[request.id], "ours": text})

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        print(json.dumps(message), file=self._process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


class Server:
    """llama.cpp's server: prompts cached, as many requests side by side as it has slots."""

    name = "server"

    def __init__(self, model: Path, threads: int, binary: Path, slots: int = SLOTS) -> None:
        self.tally = Tally()
        self._slots = slots
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        room = ["--parallel", str(slots), "--ctx-size", str(slots * SERVER_WINDOW)]
        place = ["--host", "127.0.0.1", "--port", str(self._port), "--threads", str(threads)]
        command = [str(binary), "--model", str(model), "--threads-batch", str(threads), *room, *place]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self) -> Self:
        while True:
            try:
                self._ask(HELLO)
            except (OSError, KeyError):
                time.sleep(0.2)
            else:
                return self

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.wait()

    def draw(self, requests: Sequence[Request]) -> None:
        cpu, start = processor_seconds(self._process.pid), time.perf_counter()
        with ThreadPoolExecutor(self._slots) as pool:
            answers = list(pool.map(self._ask, requests))
        self.tally.seconds += time.perf_counter() - start
        self.tally.cpu += processor_seconds(self._process.pid) - cpu
        for request, answer in zip(requests, answers, strict=True):
            choice = answer["choices"][0]
            self.tally.texts[request.id] = choice["text"] if "text" in choice else choice["message"]["content"]
            self.tally.evaluated += answer["timings"]["prompt_n"]
            self.tally.generated += answer["timings"]["predicted_n"]

    def _ask(self, request: Request) -> Any:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=600)
        messages = asdict(request)["prompt"]["messages"]
        plain = messages[0]["role"] == PLAIN
        asked = {"prompt": messages[0]["content"]} if plain else {"messages": messages}
        connection.request(
            "POST",
            f"/v1/{'' if plain else 'chat/'}completions",
            json.dumps(sampling(asdict(request)) | asked),
            {"Content-Type": "application/json"},
        )
        return json.loads(connection.getresponse().read())


def sampling(request: dict[str, Any]) -> dict[str, Any]:
    """What both other sides are told of a request besides its messages: the chain our engine uses."""
    asked = {name: request[name] for name in ("temperature", "seed", "max_tokens")}
    return asked | {
        "stop": list(request["prompt"]["stop"]),
        "top_k": 0,
        "top_p": 1.0,
        "min_p": 0.0,
        "repeat_penalty": 1.0,
    }


def add(tally: Tally, done: dict[str, Any]) -> None:
    """Count what one round did."""
    tally.texts |= done["texts"]
    tally.seconds += done["seconds"]
    tally.cpu += done["cpu"]
    tally.evaluated += done["evaluated"]
    tally.generated += done["generated"]


def processor_seconds(pid: int | None) -> float:
    """Processor seconds of a process, children not counted."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100
