"""A published run of IdentityChain made again: its texts served as a model on 127.0.0.1, its programs judged by us.

    python benchmarks/published_chain.py RUN.jsonl.gz PROBLEMS.jsonl.gz [--db FILE] [--part K/N]

RUN is one of the authors' result files (`data/experiments` of their repository), PROBLEMS the reformatted benchmark it
was made on (`data`). Our chain asks the server as it asks any model, masks names, takes code from answers, judges and
compares. What the server was asked and did not know is counted: then our chain left the published one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
import textwrap
import threading
from collections import Counter
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from rtc_inspector.core.metrics.output_match import tom
from rtc_inspector.core.rewrites.names import mask_name
from rtc_inspector.core.run.events import Control
from rtc_inspector.core.run.pipeline import start
from rtc_inspector.core.run.results import open_reader, open_store
from rtc_inspector.core.settings import BenchmarkSettings, ChainSettings, EndpointSettings, RunSettings
from rtc_inspector.core.source.benchmark import read_benchmark
from rtc_inspector.core.trips.chain import signature
from rtc_inspector.core.types import Problem

TIME_OUT = "Time Out"
PASSED = "Passed"


def rows(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return [json.loads(line) for line in text.splitlines()]


def bare(text: str) -> str:
    """Without what a prompt may set otherwise: white space, quotes, backslashes."""
    return re.sub(r"[\s\"'\\]", "", text)


def words(docstring: str) -> str:
    return re.sub(r'^\s*"""|"""\s*$', "", docstring).strip()


def answers(problem: Problem, row: Mapping[str, Any]) -> dict[str, str]:
    """What the model said to each question of its chain."""
    program = problem.program[: problem.body.start].rstrip() + "\n"
    masked = mask_name(program, problem.entry)
    code = mask_name(program + row["PL_0"] + "\n", problem.entry)
    return {
        bare(f"{signature(problem)}{problem.words}"): f"```python\n{row['PL_0']}\n```",
        bare(code): words(textwrap.dedent(row["NL_1"])),
        bare(f"{masked}{words(row['NL_1'])}"): f"```python\n{row['PL_1']}\n```",
    }


class Replay(ThreadingHTTPServer):
    """Serves texts by the code in the question."""

    def __init__(self, known: Mapping[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.known = known
        self.unknown: list[str] = []


class Handler(BaseHTTPRequestHandler):
    server: Replay

    def do_GET(self) -> None:
        self.reply({"data": [{"id": "published"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        question = str(body["messages"][-1]["content"]).strip()
        code = question.removeprefix("```python\n").removesuffix("\n```")
        text = self.server.known.get(bare(code))
        if text is None:
            self.server.unknown.append(code)
        self.reply({"choices": [{"message": {"content": text or ""}, "finish_reason": "stop"}]})

    def reply(self, value: object) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def theirs(row: Mapping[str, Any]) -> dict[str, Any]:
    """The authors' figures of a chain, by the rules of their scripts."""
    before, after = row["PL_0_results"], row["PL_1_results"]
    pairs = [(a, b) for a, b in zip(before, after, strict=True) if TIME_OUT not in (a, b)]
    return {
        "pass": not any("Error" in said for said in before),
        "tom": sum(a == b for a, b in pairs) / len(pairs) if pairs else 0.0,
        "by our rule": tom(*({str(n): ours_of(t) for n, t in enumerate(side)} for side in (before, after))),
        "pass by our rule": all(said == PASSED for said in before),
    }


def ours_of(said: str) -> str:
    return {PASSED: "pass", TIME_OUT: "timeout"}.get(said, f"error {said}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("problems", type=Path)
    parser.add_argument("--db", type=Path, help="keep the run here")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="the problems of the K-th of N parts")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    published = {row["task_id"]: row for row in rows(options.run)[part - 1 :: parts]}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "published.jsonl"
        used = [row for row in rows(options.problems) if row["task_id"] in published]
        file.write_text("".join(json.dumps(row) + "\n" for row in used), encoding="utf-8")
        known: dict[str, str] = {}
        for problem in read_benchmark(file).problems:
            known |= answers(problem, published[problem.key])
        replay = Replay(known)
        threading.Thread(target=replay.serve_forever, daemon=True).start()
        settings = RunSettings(
            task="chain",
            regions=len(used),
            endpoint=EndpointSettings(f"http://127.0.0.1:{replay.server_port}/v1", concurrency=8),
            benchmark=BenchmarkSettings(str(file)),
            chain=ChainSettings(steps=1),
        )
        database = options.db or Path(folder) / "runs.sqlite"
        with open_store(database) as store:
            finished = start(settings, Path(folder), store, lambda event: None, Control())
        replay.shutdown()
        compare(database, finished.run_id, published, replay.unknown)


def compare(database: Path, run_id: int, published: Mapping[str, Mapping[str, Any]], unknown: list[str]) -> None:
    told: Counter[str] = Counter()
    with open_reader(database) as reader:
        items = {item.key: item for item in reader.items(run_id)}
        for key, row in published.items():
            item, said = items.get(key), theirs(row)
            if item is None or not item.admitted:
                print(f"{key}: left out: {item.reason if item else 'not drawn'}")
                continue
            told["problems"] += 1
            told["tests"] += len(item.tests)
            told["their pass@1"] += said["pass"]
            told["their pass@1, time-outs failed"] += said["pass by our rule"]
            told["their SC_1"] += said["tom"] == 1.0
            told["their SC_1, time-outs kept"] += said["by our rule"] == 1.0
            told["our pass@1"] += item.measures["pass@1"] == 1.0
            told["our SC_1"] += item.measures["sc"] == 1.0
            shared = item.measures["tom"]
            passes = bool(item.measures["pass@1"])
            if (passes, round(shared, 6)) != (said["pass"], round(said["tom"], 6)):
                print(
                    f"{key}: pass {said['pass']} -> {passes}, TOM {said['tom']:.3f} -> {shared:.3f}"
                    f" (theirs by our rule {said['by our rule']:.3f}); {_why(row)}"
                )
        near = reader.run(run_id).near_limit
    for name, count in told.items():
        print(f"{name}: {count}")
    print(f"verdicts near their time limit: {near}")
    print(f"questions that the published run does not answer: {len(unknown)}")
    for code in unknown[:5]:
        print(textwrap.indent(code, "    "))


def _why(row: Mapping[str, Any]) -> str:
    both = [*row["PL_0_results"], *row["PL_1_results"]]
    return ", ".join(
        name
        for name, found in (
            ("time-outs", TIME_OUT in both),
            ("errors that do not load", any(said.startswith(("SyntaxError", "IndentationError")) for said in both)),
            ("NameError", any(said.startswith("NameError") for said in both)),
        )
        if found
    )


if __name__ == "__main__":
    main()
