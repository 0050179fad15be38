"""An image with what a project requires, built on one that the user names."""

from __future__ import annotations

import json
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, cast

from docker import APIClient
from docker.errors import ImageNotFound

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.requirements import Install
from rtc_inspector.core.oracle.sandbox.docker_engine import FAILURES
from rtc_inspector.core.oracle.sandbox.docker_image import Image, add_text, inspect
from rtc_inspector.core.oracle.stoppable import each_step
from rtc_inspector.core.waiting import Beat

BUILD_TIMEOUT = 1800.0
_REPOSITORY = "rtc-inspector/project"
_FOLDER = "/opt/rtc-inspector"
# The engine marks what a step writes to standard error.
_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def built_image(client: APIClient, base: Image, install: Install, notice: Callable[[str], None], beat: Beat) -> Image:
    """`base` with what is to be installed, by its own pip; built once for the same content.

    Raises SandboxError, and what `beat` raises: then the engine ends the build when it next has something to say.
    Nothing is pulled. The network is there only when no folder of wheels is given.
    """
    name = f"{_REPOSITORY}:{install.key(base.digest, install.python)}"
    try:
        try:
            return Image(name, inspect(client, name)["Id"])
        except ImageNotFound:
            notice(install.said)
            with tempfile.TemporaryFile() as context:
                _write(context, base, install)
                _build(client, context, name, beat, offline=install.wheels is not None)
            return Image(name, inspect(client, name)["Id"])
    except FAILURES as error:
        raise _failed(base, str(error)) from error


def _write(file: IO[bytes], base: Image, install: Install) -> None:
    """The build's context: what to do, what to install, and the wheels."""
    pip = [install.python, "-m", "pip", *install.pip_arguments(f"{_FOLDER}/wheels"), "--no-cache-dir"]
    lines = [f"FROM {base.name}", "USER 0:0", f"COPY . {_FOLDER}/"]
    lines.append(f"RUN {json.dumps([*pip, '-r', f'{_FOLDER}/requirements.txt'])}")
    with tarfile.open(fileobj=file, mode="w") as tar:
        add_text(tar, "Dockerfile", "\n".join(lines))
        add_text(tar, "requirements.txt", "\n".join(install.wanted.lines))
        for wheel in sorted(install.wheels.glob("*.whl")) if install.wheels is not None else ():
            tar.add(wheel, f"wheels/{wheel.name}")
    file.seek(0)


def _build(client: APIClient, context: IO[bytes], name: str, beat: Beat, *, offline: bool) -> None:
    """Raises SandboxError with what the build said, or one of `FAILURES`, and what `beat` raises."""

    def steps() -> Iterator[Mapping[str, Any]]:
        found = client.build(
            fileobj=context,
            custom_context=True,
            tag=name,
            rm=True,
            forcerm=True,
            pull=False,
            decode=True,
            network_mode="none" if offline else None,
        )
        return cast(Iterator[Mapping[str, Any]], found)

    said = []
    for step in each_step(steps, beat):
        plain = _COLOUR.sub("", str(step.get("stream", "")))
        said += [line for line in plain.splitlines() if line.startswith("ERROR")]
        if "error" in step:
            raise _failed(None, (said or [str(step["error"])])[0])


def _failed(base: Image | None, reason: str) -> SandboxError:
    on = f" on {base.name}" if base is not None else ""
    first = (reason.strip().splitlines() or ["no reason given"])[0].removeprefix("ERROR: ").rstrip(".")
    return SandboxError(
        f"No image with the project's requirements can be built{on}: {first}.",
        "The image needs Python with pip, and every requirement a wheel: give missing ones with --wheels.",
    )
