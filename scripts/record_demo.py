"""Makes resources/recorded/demo.zip: `python scripts/record_demo.py`.

The window shows this run until a demonstration's own model writes. It is the demo itself on this machine, as a bundle
that `rtc-inspector replay` draws and judges again. Its name says on which processor and when it was made.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from rtc_inspector.core.platform import usable_cores
from rtc_inspector.core.store.writer import Store

RECORDED = Path(__file__).parents[1] / "resources" / "recorded" / "demo.zip"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RECORDED)
    parser.add_argument("--db", type=Path, help="of a demo that has ended, instead of a new one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = options.db or Path(folder, "runs.sqlite")
        if options.db is None:
            call("demo", "--headless", "--db", str(database))
        with Store.open(database) as store:
            store.rename_run(1, f"recorded on {machine()}, {datetime.now(UTC):%-d %B %Y}")
        options.out.parent.mkdir(parents=True, exist_ok=True)
        call("bundle", "--db", str(database), "--run", "1", "--out", str(options.out), "--yes")
    print(f"bytes={options.out.stat().st_size}")


def call(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "rtc_inspector", *arguments], check=True)


def machine() -> str:
    """Return the processor's name and how many cores of it are used."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    name = next((line.partition(":")[2] for line in lines if line.startswith("model name")), "a processor")
    return f"{' '.join(name.replace('(R)', '').split())}, {usable_cores()} cores"


if __name__ == "__main__":
    main()
