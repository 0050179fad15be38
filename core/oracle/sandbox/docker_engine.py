"""Find a Docker engine, or Podman's service that speaks the same language."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from docker import APIClient
from docker.context import ContextAPI
from docker.errors import DockerException
from docker.utils import kwargs_from_env

from rtc_inspector.core import platform
from rtc_inspector.core.errors import SandboxError

FAILURES = (DockerException, requests.RequestException, OSError)
"""What a call to an engine may raise."""

# How long an engine may take for one call; importing an image is the slowest.
CALL_TIMEOUT = 120


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that answered.

    Attributes:
        options: how to reach it, for `APIClient`.
        version: of the engine, for people; `api` is the version of the language to speak with it.
        podman: whether it is Podman's service.
        rootless: whether it runs as an ordinary user.
        bounds_memory, bounds_processes: whether its control groups allow that.
    """

    options: Mapping[str, Any]
    version: str
    api: str
    podman: bool
    rootless: bool
    bounds_memory: bool
    bounds_processes: bool

    @property
    def kind(self) -> str:
        """For people."""
        return "Podman" if self.podman else "Docker"

    @property
    def address(self) -> str:
        """For people."""
        return str(self.options["base_url"])

    @property
    def title(self) -> str:
        """Kind, version and address, for people."""
        return f"{self.kind} {self.version}{', rootless' if self.rootless else ''} at {self.address}"

    @property
    def removes(self) -> bool:
        """Return whether it removes an ended container and can still tell how it ended; Podman forgets that."""
        return not self.podman

    def client(self, timeout: float | None = CALL_TIMEOUT) -> APIClient:
        """A connection of one's own; `timeout` None waits for ever. Raises one of `FAILURES`."""
        return _connect(self.options, timeout, self.api)


def find_engine() -> Engine:
    """The first engine that answers: DOCKER_HOST alone where it is set, else the usual sockets. Raises SandboxError."""
    tried = []
    for options in _addresses():
        try:
            return _ask(options)
        except FAILURES as error:
            tried.append(f"{options['base_url']} ({_short(error)})")
    where = "; ".join(tried) or "no socket found"
    raise SandboxError(
        f"No Docker engine answers: {where}.",
        "Start Docker, add yourself to its group, set DOCKER_HOST, or use `--sandbox bubblewrap`.",
    )


def other_engines(chosen: Engine) -> Iterator[Engine]:
    """Yield the engines that answer beside the chosen one, so that people can name them in DOCKER_HOST."""
    known = {_place(chosen.options)}
    for options in _addresses():
        if _place(options) not in known:
            known.add(_place(options))
            with suppress(*FAILURES):
                yield _ask(options)


def _place(options: Mapping[str, Any]) -> str:
    """The same for two names of one socket."""
    return str(Path(str(options["base_url"]).removeprefix("unix://")).resolve())


def _addresses() -> Iterator[dict[str, Any]]:
    """Yield the options by which an engine may be reached, best first.

    Raises SandboxError where DOCKER_HOST is to be spoken to by TLS.
    """
    if os.environ.get("DOCKER_HOST"):
        if os.environ.get("DOCKER_TLS_VERIFY") or os.environ.get("DOCKER_CERT_PATH"):
            # Tests are driven through a stream that docker-py hands over below the encryption.
            raise SandboxError(
                f"The Docker engine at {os.environ['DOCKER_HOST']} is spoken to by TLS, through which no tests can be "
                "driven.",
                "Reach it by ssh (DOCKER_HOST=ssh://USER@HOST), unset DOCKER_TLS_VERIFY and DOCKER_CERT_PATH, or use "
                "another sandbox.",
            )
        yield dict(kwargs_from_env())
        return
    runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{platform.user()[0]}")
    paths = [
        *_context_socket(),
        "/var/run/docker.sock",
        f"{runtime}/docker.sock",
        str(Path.home() / ".docker/run/docker.sock"),
        f"{runtime}/podman/podman.sock",
        "/run/podman/podman.sock",
    ]
    for path in dict.fromkeys(paths):
        with suppress(OSError):
            if Path(path).is_socket():
                yield {"base_url": f"unix://{path}"}


def _context_socket() -> Iterator[str]:
    """The socket chosen with `docker context use`, where it is one."""
    # A damaged file of another program's makes this raise anything.
    with suppress(Exception):
        host = ContextAPI.get_current_context().Host or ""
        if host.startswith("unix://"):
            yield host.removeprefix("unix://")


def _ask(options: dict[str, Any]) -> Engine:
    """Return the engine at `options` as it describes itself. Raises one of `FAILURES`."""
    client = _connect(options, 10, "auto")
    try:
        version, info = client.version(), client.info()
    finally:
        client.close()
    rootless = bool(info.get("Rootless")) or "rootless" in str(info.get("SecurityOptions"))
    # The first version of control groups gives ordinary users none, whatever the engine says.
    groups = not (rootless and str(info.get("CgroupVersion")) == "1")
    components = [part.get("Name", "") for part in version.get("Components") or ()]
    return Engine(
        options=options,
        version=str(version.get("Version", "")),
        api=client.api_version,
        podman=any("Podman" in name for name in components),
        rootless=rootless,
        bounds_memory=groups and bool(info.get("MemoryLimit")),
        bounds_processes=groups and bool(info.get("PidsLimit", True)),
    )


def _connect(options: Mapping[str, Any], timeout: float | None, api: str) -> APIClient:
    """Knock on a socket first: docker-py leaves its own open when nobody listens. Raises one of `FAILURES`."""
    address = str(options["base_url"])
    if address.startswith("unix://"):
        platform.call(address.removeprefix("unix://"), 10)
    return APIClient(**options, version=api, timeout=timeout)  # type: ignore[arg-type]


def _short(error: Exception) -> str:
    """The innermost reason, without the layers of the libraries around it."""
    inner: BaseException = error
    while inner.__cause__ or inner.__context__:
        inner = inner.__cause__ or inner.__context__ or inner
    if isinstance(inner, OSError) and inner.strerror:
        return inner.strerror
    return (str(inner).splitlines() or [inner.__class__.__name__])[0][:200]
