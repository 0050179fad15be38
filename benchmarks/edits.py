"""How fast, and in how much memory, the first edits of a long history are sampled.

usage: python benchmarks/edits.py REPOSITORY [EDITS]
Prints one `name=value` a line. Pack files that git maps count as memory here, as they do for the system.
"""

from __future__ import annotations

import resource
import sys
import time
from itertools import islice
from pathlib import Path

from rtc_inspector.core.settings import EditSettings
from rtc_inspector.core.source.edits import EditHistory


def main(root: Path, wanted: int) -> None:
    listed = 0

    def note(stage: str, done: int, total: int) -> None:
        nonlocal listed
        listed = max(listed, total)

    started, worked = time.perf_counter(), time.process_time()
    history = EditHistory.of(root, EditSettings())
    edits = list(islice(history.draw(0, note), wanted))
    print(f"commits={listed}")
    print(f"edits={len(edits)}")
    print(f"edit_seconds={time.perf_counter() - started:.2f}")
    print(f"edit_processor_seconds={time.process_time() - worked:.2f}")
    print(f"edit_peak_mib={resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100)
