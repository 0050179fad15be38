"""How long a first user waits for the first verdict: the demo, from its start.

    python benchmarks/first_verdict.py [--threads 1] [--model FILE] [--cold]

`--cold` learns the demo project's tests anew, as on the very first start. Prints how long each part took, the tokens a
second that the model reads and writes when it is alone, and last `first_verdict_s=` and `first_pass_s=`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rtc_inspector.core.generation import PLAIN, Message, Prompt, Request
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.settings import ModelSettings

READ, WRITTEN = 600, 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--model", type=Path, default=None)
    parser.add_argument("--cold", action="store_true")
    options = parser.parse_args()
    reading, writing = plain_speed(options.model or bundled_model(), options.threads)
    parts = waits(options)
    for name, seconds in parts.items():
        print(f"{name}_s={seconds:.1f}")
    print(f"plain_read_tokens_per_second={reading:.0f}")
    print(f"plain_written_tokens_per_second={writing:.0f}")
    print(f"first_verdict_s={parts.get('verdict', float('nan')):.1f}")
    print(f"first_pass_s={parts.get('pass', float('nan')):.1f}")


def waits(options: argparse.Namespace) -> dict[str, float]:
    """Seconds from the start of the program to its first event of each kind."""
    model = ["--model", str(options.model)] if options.model else []
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "rtc_inspector", "demo", "--json", "--db", f"{folder}/runs.sqlite", *model]
        command += ["--threads", str(options.threads), *(["--no-cache"] if options.cold else [])]
        start, seen = time.monotonic(), dict[str, float]()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            event = json.loads(line)
            seen.setdefault(event["event"], time.monotonic() - start)
            if event.get("outcome") == "pass":
                seen["pass"] = time.monotonic() - start
                break
        process.terminate()
        process.communicate()
    return seen


def plain_speed(path: Path, threads: int) -> tuple[float, float]:
    """Tokens a second that the model alone reads and writes here, one sequence at a time."""
    model = LocalModel(path, ModelSettings(threads=threads))
    try:
        text = "def f(value):\n    return value + 1\n\n\n" * (READ // 12)
        # The first one only warms up. Drawn at a temperature, so that no loop ends the writing early.
        asked = [Request(str(n), Prompt((Message(PLAIN, f"# {n}\n{text}"),)), 1.0, 0, n) for n in (2, 1, WRITTEN)]
        times, answers = [], []
        for request in asked:
            start = time.monotonic()
            answers += list(model.generate([request]))
            times.append(time.monotonic() - start)
    finally:
        model.close()
    more = answers[2].completion_tokens - answers[1].completion_tokens
    return answers[1].prompt_tokens / times[1], more / max(1e-9, times[2] - times[1])


if __name__ == "__main__":
    main()
