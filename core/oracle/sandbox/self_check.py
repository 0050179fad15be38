"""Try a sandbox once before it is trusted with a run."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from pathlib import Path

from core.errors import SandboxError
from core.oracle.sandbox.protocol import Launch, Limits, Process, Sandbox

# Starting a first container on a busy machine is the slowest case.
PATIENCE = 30.0


def self_check(sandbox: Sandbox) -> None:
    """Read a host file from inside, as a run will: an engine on another machine could not show it. Raises SandboxError.

    Only for sandboxes that show the host's system folders: another image need not have `cat`.
    """
    program = shutil.which("cat") or "/bin/cat"
    with tempfile.TemporaryDirectory(prefix="rtc-inspector-check-") as name:
        folder, word = Path(name).resolve(), uuid.uuid4().hex
        (folder / "word").write_text(word)
        (folder / "word").chmod(0o444)
        folder.chmod(0o755)
        limits = Limits(memory_mib=256, processes=16, scratch_mib=16)
        process = sandbox.start(Launch((program, str(folder / "word")), "/", (folder,), {}, limits))
        try:
            _expect(process, word, sandbox.name)
        finally:
            process.close()


def _expect(process: Process, word: str, name: str) -> None:
    said = process.stdout.read(len(word) + 1).decode(errors="replace")
    status = process.wait(PATIENCE)
    if said != word or status != 0:
        last = process.stderr_tail().strip().splitlines()[-1:] or [f"exit status {status}"]
        raise SandboxError(
            f"The sandbox {name} starts, but cannot show files of this machine: {last[0]}.",
            "Is the engine on another machine, or in a virtual one? Use one that runs here, or `--sandbox bubblewrap`.",
        )
