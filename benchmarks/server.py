"""A run against a server of so many slots: how near it comes to a server whose slots never stand empty.

The server takes a fixed time for each answer, and works on so many at a time; the others wait in its queue. The run is
of edits, judged by exact match, so that hardly anything but asking takes time.

    python benchmarks/server.py [--slots 16] [--seconds 0.25] [--edits 40] [--concurrency N]

Prints how long the run took before the first question (opening) and after the last answer, and last
`span_vs_ideal=` (from the first question to the last answer, over what the slots would need at best) and
`span_vs_one_at_a_time=`.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from chat_server import PLAIN, Answer, chat_server, completion

from rtc_inspector.core.run.events import Control
from rtc_inspector.core.run.pipeline import start
from rtc_inspector.core.run.results import open_store
from rtc_inspector.core.settings import EditSettings, EndpointSettings, RunSettings


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=0.25, help="that the server takes for an answer")
    parser.add_argument("--edits", type=int, default=40)
    parser.add_argument("--concurrency", type=int, help="requests at a time (default: as the server takes them)")
    options = parser.parse_args()
    slots, times = threading.Semaphore(options.slots), list[float]()

    def script(number: int, body: dict[str, object]) -> Answer:
        times.append(time.perf_counter())
        with slots:
            time.sleep(options.seconds)
        times.append(time.perf_counter())
        return 200, completion("```\ndef area(side):\n    return side\n```", model="m"), {}

    with TemporaryDirectory() as folder, chat_server(script, PLAIN) as server:
        edits = Path(folder, "edits.jsonl")
        old, new = "def area_{n}(side):\n    return side\n", "def area_{n}(side):\n    return side * {n}\n"
        lines = [{"old": old.format(n=n), "new": new.format(n=n)} for n in range(options.edits)]
        edits.write_text("".join(json.dumps(line) + "\n" for line in lines))
        settings = RunSettings(
            task="editing",
            regions=options.edits,
            edit=EditSettings(file=str(edits)),
            endpoint=EndpointSettings(server.address, concurrency=options.concurrency),
        )
        began = time.perf_counter()
        with open_store(Path(folder, "runs.sqlite")) as store:
            finished = start(settings, Path(folder), store, lambda event: None, Control())
        ended = time.perf_counter()
    asked, span = len(times) // 2, max(times) - min(times)
    ideal = -(-asked // options.slots) * options.seconds
    print(f"{finished.status}: {asked} questions, {options.slots} slots, {options.seconds:g} s each")
    print(f"seconds of opening {min(times) - began:.2f}, asking {span:.2f} (ideal {ideal:.2f}), ", end="")
    print(f"closing {ended - max(times):.2f}")
    print(f"span_vs_ideal={span / ideal:.2f}")
    print(f"span_vs_one_at_a_time={span / (asked * options.seconds):.3f}")


if __name__ == "__main__":
    main()
