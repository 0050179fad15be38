"""Find a Docker engine, or Podman's service that speaks the same language; and the images that it runs."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import requests
from docker import APIClient
from docker.context import ContextAPI
from docker.errors import DockerException, ImageNotFound
from docker.utils import kwargs_from_env

from rtc_inspector.core import platform
from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.environment import Install
from rtc_inspector.core.oracle.sandbox.host_system import SCRATCH, HostSystem, User, account_files
from rtc_inspector.core.waiting import Poll, in_thread, result_of

Step = TypeVar("Step")
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
        return "Podman" if self.podman else "Docker"

    @property
    def address(self) -> str:
        return str(self.options["base_url"])

    @property
    def title(self) -> str:
        return f"{self.kind} {self.version}{', rootless' if self.rootless else ''} at {self.address}"

    @property
    def removes(self) -> bool:
        """Return whether it removes an ended container and can still tell how it ended; Podman forgets that."""
        return not self.podman

    def client(self, timeout: float | None = CALL_TIMEOUT) -> APIClient:
        """Open a connection; `timeout` None waits for ever. Raises one of `FAILURES`."""
        return _connect(self.options, timeout, self.api)


def find_engine() -> Engine:
    """Find the first engine that answers: DOCKER_HOST alone where set, else the usual sockets. Raises SandboxError."""
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
    return str(Path(str(options["base_url"]).removeprefix("unix://")).resolve())


def _addresses() -> Iterator[dict[str, Any]]:
    """Yield options to reach an engine by, best first. Raises SandboxError where DOCKER_HOST speaks TLS."""
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
    """Yield the socket chosen with `docker context use`, where it is one."""
    # A damaged file of another program's makes this raise anything.
    with suppress(Exception):
        host = ContextAPI.get_current_context().Host or ""
        if host.startswith("unix://"):
            yield host.removeprefix("unix://")


def _ask(options: dict[str, Any]) -> Engine:
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
    """Return the innermost reason, without the layers of the libraries around it."""
    inner: BaseException = error
    while inner.__cause__ or inner.__context__:
        inner = inner.__cause__ or inner.__context__ or inner
    if isinstance(inner, OSError) and inner.strerror:
        return inner.strerror
    return (str(inner).splitlines() or [inner.__class__.__name__])[0][:200]


_FOLDERS = ("dev", "etc", "proc", "run", "sys", "tmp", "usr", "var", "var/tmp")


@dataclass(frozen=True, slots=True)
class Image:
    """An image the engine has.

    Attributes:
        name: what containers are made from.
        digest: `sha256:` of the tar it came from, or the engine's own digest.
    """

    name: str
    digest: str


def skeleton_image(client: APIClient, system: HostSystem, user: User) -> Image:
    """Return an image of empty folders, links and one account, made once. Raises SandboxError."""
    data = _skeleton(system, user)
    return _imported(client, "rtc-inspector/skeleton", hashlib.sha256(data).hexdigest(), data)


def given_image(client: APIClient, image: str) -> Image:
    """Return the image a user names: of the engine's, or a tar of a whole file system. Raises SandboxError."""
    tar = Path(image).expanduser()
    if tar.is_file():
        return _from_tar(client, tar)
    try:
        found = inspect(client, image)
    except ImageNotFound as error:
        raise SandboxError(
            f"Docker has no image called {image}, and there is no such file.",
            f"Fetch it first with `docker pull {image}`, or give the path of a tar of its file system.",
        ) from error
    except FAILURES as error:
        raise SandboxError(f"Docker cannot look up the image {image}: {error}.", "Start Docker again.") from error
    return Image(image, (found.get("RepoDigests") or [found["Id"]])[0])


def _from_tar(client: APIClient, tar: Path) -> Image:
    if not tarfile.is_tarfile(tar):
        raise SandboxError(f"{tar} is not a tar file.", "Make one with `docker export` or `tar -C ROOTFS -cf FILE .`.")
    with tar.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return _imported(client, "rtc-inspector/rootfs", digest, tar)


def _imported(client: APIClient, repository: str, digest: str, content: bytes | Path) -> Image:
    """Return the image tagged with the content's hash. Raises SandboxError."""
    image = Image(f"{repository}:{digest[:16]}", f"sha256:{digest}")
    try:
        try:
            inspect(client, image.name)
        except ImageNotFound:
            if isinstance(content, Path):
                client.import_image_from_file(str(content), repository=image.name)
            else:
                client.import_image_from_data(content, repository=image.name)
            inspect(client, image.name)
    except FAILURES as error:
        raise SandboxError(
            f"Docker cannot import an image: {error}.", "Check its free disk space with `docker system df`."
        ) from error
    return image


def inspect(client: APIClient, name: str) -> dict[str, Any]:
    """Return what the engine knows of an image. Raises ImageNotFound, or another of `FAILURES`."""
    return cast(dict[str, Any], client.inspect_image(name))  # type: ignore[no-untyped-call]


def _skeleton(system: HostSystem, user: User) -> bytes:
    """Return a tar that is the same, byte for byte, for the same machine and user."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in _FOLDERS:
            tar.addfile(_entry(name, tarfile.DIRTYPE, 0o1777 if name.endswith("tmp") else 0o755))
        for path, target in system.links:
            link = _entry(path.lstrip("/"), tarfile.SYMTYPE, 0o777)
            link.linkname = target
            tar.addfile(link)
        for path, text in account_files(user.uid, user.gid, SCRATCH).items():
            add_text(tar, path.lstrip("/"), text)
    return out.getvalue()


def add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    """Add a file that everybody may read, without the time of day."""
    data = text.encode()
    entry = _entry(name, tarfile.REGTYPE, 0o644)
    entry.size = len(data)
    tar.addfile(entry, io.BytesIO(data))


def _entry(name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = kind, mode
    return entry


BUILD_TIMEOUT = 1800.0
_REPOSITORY = "rtc-inspector/project"
_FOLDER = "/opt/rtc-inspector"
# The engine marks what a step writes to standard error.
_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def built_image(client: APIClient, base: Image, install: Install, notice: Callable[[str], None], poll: Poll) -> Image:
    """Return `base` with what is to be installed, by its own pip; built once for the same content.

    Raises SandboxError, and what `poll` raises: then the engine ends the build when it next has something to say.
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
                _build(client, context, name, poll, offline=install.wheels is not None)
            return Image(name, inspect(client, name)["Id"])
    except FAILURES as error:
        raise _failed(base, str(error)) from error


def _write(file: IO[bytes], base: Image, install: Install) -> None:
    pip = [install.python, "-m", "pip", *install.pip_arguments(f"{_FOLDER}/wheels"), "--no-cache-dir"]
    lines = [f"FROM {base.name}", "USER 0:0", f"COPY . {_FOLDER}/"]
    lines.append(f"RUN {json.dumps([*pip, '-r', f'{_FOLDER}/requirements.txt'])}")
    with tarfile.open(fileobj=file, mode="w") as tar:
        add_text(tar, "Dockerfile", "\n".join(lines))
        add_text(tar, "requirements.txt", "\n".join(install.wanted.lines))
        for wheel in sorted(install.wheels.glob("*.whl")) if install.wheels is not None else ():
            tar.add(wheel, f"wheels/{wheel.name}")
    file.seek(0)


def _build(client: APIClient, context: IO[bytes], name: str, poll: Poll, *, offline: bool) -> None:
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
    for step in each_step(steps, poll):
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


def each_step(steps: Callable[[], Iterator[Step]], poll: Poll) -> Iterator[Step]:
    """Yield the steps, each taken in another thread; when they are given up, that is let go of at its next step.

    Raises what taking them raises, and what `poll` raises.
    """
    taken = result_of(in_thread(steps), poll)
    try:
        while (step := result_of(in_thread(partial(next, taken, None)), poll)) is not None:
            yield step
    finally:
        # A generator closes with the last who holds it; a traceback that is kept holds this frame.
        del taken
