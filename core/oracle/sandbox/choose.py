"""Choose a sandbox, and say what each would need."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from rtc_inspector.core import platform
from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox.protocol import Claim, Launch, Limits, Sandbox, SandboxStatus
from rtc_inspector.core.waiting import Poll, no_poll

if TYPE_CHECKING:
    from rtc_inspector.core.oracle.environment import Install

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
        launch = Launch((program, str(folder / "word")), "/", (folder,), {}, limits)
        with closing(sandbox.start(launch)) as process:
            answer = process.stdout.read(len(word) + 1).decode(errors="replace")
            status = process.wait(PATIENCE)
            errors = process.stderr_tail().strip().splitlines()
    if answer != word or status != 0:
        last = errors[-1] if errors else f"exit status {status}"
        raise SandboxError(
            f"The sandbox {sandbox.name} starts, but cannot show files of this machine: {last}.",
            "Is the engine on another machine, or in a virtual one? Use one that runs here, or `--sandbox bubblewrap`."
            if sandbox.name == "docker"
            else "Use another one: `rtc-inspector doctor` says which work here.",
        )


NAMES = ("docker", "bubblewrap", "landlock", "none")

_BARE = (
    "Nothing isolates the code under test: candidates written by the model run with all your rights. "
    "Use Docker, bubblewrap or Landlock to isolate them."
)


def choose_sandbox(
    name: str, image: str | None, notice: Callable[[str], None], install: Install | None = None, poll: Poll = no_poll
) -> Sandbox:
    """Return the sandbox called `name`, tried out; `auto` takes Docker, else bubblewrap, else Landlock: what works.

    `image`: a Docker image or a tar of a file system; None shows the host's own system folders. `install`: what is put
    on top of that image, which `poll` can stop. `notice` hears what the user should know. Raises SandboxError, and what
    `poll` raises.
    """
    if name in ("auto", "docker"):
        image = image or platform.image_to_show()
    if name != "auto" or image is not None:
        return _opened("docker" if name == "auto" else name, image, notice, install, poll)
    reasons = []
    for candidate in NAMES[:-1]:
        try:
            return _opened(candidate, image, notice, install, poll)
        except SandboxError as error:
            reasons.append(error)
    raise SandboxError(
        " ".join(reason.problem for reason in reasons),
        f"{reasons[-1].remedy} If you trust the code and the model, use `--sandbox none`.",
    )


def available_sandboxes() -> list[SandboxStatus]:
    """Try each sandbox: return whether it works here, and what to do where not."""
    found = []
    for name in NAMES:
        try:
            sandbox = _opened(name, platform.image_to_show() if name == "docker" else None, lambda text: None)
        except SandboxError as error:
            found.append(SandboxStatus(name, False, error.problem, error.remedy))
            continue
        others = f"; DOCKER_HOST could name {'; '.join(sandbox.others)}" if sandbox.others else ""
        found.append(SandboxStatus(name, True, sandbox.detail + others, ""))
    return found


def _opened(
    name: str, image: str | None, notice: Callable[[str], None], install: Install | None = None, poll: Poll = no_poll
) -> Sandbox:
    if name not in NAMES:
        raise SandboxError(f"There is no sandbox called {name}.", f"Choose one of auto, {', '.join(NAMES)}.")
    if image is not None and name != "docker":
        raise SandboxError(f"The sandbox {name} cannot use an image.", "Use `--sandbox docker`, or give no image.")
    sandbox: Sandbox
    # Imported one at a time: docker-py takes a while to import, and not every user has it at hand.
    if name == "docker":
        from rtc_inspector.core.oracle.sandbox.docker_sandbox import DockerSandbox

        sandbox = DockerSandbox(image, install, notice, poll)
    elif name == "bubblewrap":
        from rtc_inspector.core.oracle.sandbox.bubblewrap import BubblewrapSandbox

        sandbox = BubblewrapSandbox()
    else:
        from rtc_inspector.core.oracle.sandbox.guarded import LandlockSandbox, Unconfined

        sandbox = LandlockSandbox() if name == "landlock" else Unconfined()
    if image is None and name != "none":
        self_check(sandbox)
    if name == "none":
        notice(_BARE)
    elif Claim.BOUNDED_MEMORY not in sandbox.claims:
        notice(f"Sandbox {name}: {sandbox.detail}.")
    return sandbox
