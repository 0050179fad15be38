"""Scoring pairs of programs by every metric of the audit that needs no model: how long 10,000 of them take.

Pairs are made as the tests' recorded ones: functions of this repository, each beside another or a changed copy. Every
candidate differs, so that nothing is remembered but references, as in an audit of many samples of few problems.

    python benchmarks/audit.py [--pairs 10000] [--processes 2]

Prints the share of each metric, and last `seconds_10k_pairs=`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import time
from pathlib import Path

from rtc_inspector.core.metrics.codebleu import NAMES, PARTS, all_scores, scores, shared_ngrams
from rtc_inspector.core.platform import usable_cores

RECORDED = Path(__file__).resolve().parents[1] / "tests" / "stored" / "metric-values.json.gz"
SINGLE = 300
"""Pairs by which the metrics are timed one by one."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=usable_cores())
    options = parser.parse_args()
    rows = json.loads(gzip.decompress(RECORDED.read_bytes()))["pairs"]
    texts = [(row["candidate"], row["reference"]) for row in rows]
    shared = shared_ngrams(sorted({reference for _, reference in texts}))
    whole = frozenset(NAMES)
    wanted = []
    while len(wanted) < options.pairs:
        number = len(wanted)
        candidate, reference = texts[number % len(texts)]
        wanted.append((f"{candidate}\nlast_{number} = {number}", reference, whole))
    mean = sum(len(candidate) for candidate, *_ in wanted) / len(wanted)
    print(f"{len(wanted)} pairs, candidates of {mean:.0f} characters, {options.processes} processes")
    for name in [*(name for name in NAMES if name not in PARTS), PARTS[0]]:
        start = time.perf_counter()
        for candidate, reference, _ in wanted[:SINGLE]:
            scores((candidate, reference, frozenset([name])), shared)
        print(f"{name}: {(time.perf_counter() - start) / SINGLE * 1000:.2f} ms a pair")
    start, before = time.perf_counter(), processor_seconds()
    done = sum(len(found) for _, found in all_scores(wanted, shared, options.processes))
    took = time.perf_counter() - start
    print(f"{done} pairs in {took:.1f} s, {processor_seconds() - before:.1f} s of processor time")
    print(f"seconds_10k_pairs={took * 10_000 / done:.1f}")


def processor_seconds() -> float:
    """Of this process and of those that have ended: what a busy machine does not change much."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


if __name__ == "__main__":
    main()
