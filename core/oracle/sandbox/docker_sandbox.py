"""Docker: find an engine, or Podman's service that speaks its language, and run one hardened container a process."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import socket
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import IO, Any, BinaryIO, TypeVar, cast

import requests
from docker import APIClient
from docker.context import ContextAPI
from docker.errors import APIError, DockerException, ImageNotFound
from docker.types import LogConfig, Mount, Ulimit
from docker.utils import kwargs_from_env
from docker.utils.socket import STDOUT, frames_iter_no_tty

from rtc_inspector.core import platform
from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.environment import Install
from rtc_inspector.core.oracle.sandbox.host_system import (
    NOBODY,
    SCRATCH,
    HostSystem,
    User,
    account_files,
    entries,
    host_system,
    inside_user,
    readable,
    shared_memory_mib,
    visible,
)
from rtc_inspector.core.oracle.sandbox.protocol import ALL, Claim, Launch, Process
from rtc_inspector.core.waiting import Poll, in_thread, no_poll, result_of

Step = TypeVar("Step")
FAILURES = (DockerException, requests.RequestException, OSError)  # what a call to an engine may raise

# How long an engine may take for one call; importing an image is the slowest.
CALL_TIMEOUT = 120


@dataclass(frozen=True, slots=True)
class Engine:
    """An engine that answered: how `APIClient` reaches it, what it is, and what its control groups bound."""

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
    places = {_place(chosen.options)}
    for options in _addresses():
        if _place(options) not in places:
            places.add(_place(options))
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
    with closing(_connect(options, 10, "auto")) as client:
        version, info = client.version(), client.info()
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
    """An image the engine has; `digest`: `sha256:` of the tar it came from, or the engine's own digest."""

    name: str
    digest: str


def given_image(client: APIClient, image: str) -> Image:
    """Return the image a user names: of the engine's, or a tar of a whole file system. Raises SandboxError."""
    tar = Path(image).expanduser()
    if tar.is_file():
        if not tarfile.is_tarfile(tar):
            remedy = "Make one with `docker export` or `tar -C ROOTFS -cf FILE .`."
            raise SandboxError(f"{tar} is not a tar file.", remedy)
        with tar.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return _imported(client, "rtc-inspector/rootfs", digest, tar)
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
    """Return a tar of empty folders, links and one account: the same, byte for byte, for the same machine and user."""
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
        raise _not_built(base, str(error)) from error


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

    errors = []
    for step in each_step(steps, poll):
        plain = _COLOUR.sub("", str(step.get("stream", "")))
        errors += [line for line in plain.splitlines() if line.startswith("ERROR")]
        if "error" in step:
            raise _not_built(None, (errors or [str(step["error"])])[0])


def _not_built(base: Image | None, reason: str) -> SandboxError:
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


LABEL = "rtc-inspector"  # key of the label on every container of ours; its value says whose it is


def create_container(
    client: APIClient, engine: Engine, image: str, launch: Launch, shown: Sequence[Path], user: User
) -> str:
    """Make a container that is not started yet, and return its id. Raises what docker-py raises."""
    size = launch.limits.scratch_mib << 20
    mounts = [
        Mount(target=str(folder), source=None, type="tmpfs", tmpfs_size=size, tmpfs_mode=0o1777)
        for folder in launch.writable
    ]
    # What a writable folder holds comes in its place, a mount each, for a mount stays where it is. Each is of that path
    # alone: what is mounted below it would stay writable on older engines.
    paths = dict.fromkeys([*shown, *(path for folder in launch.writable for path in entries(folder))])
    for path in _with_submounts([path for path in paths if path not in launch.writable]):
        mounts.append(Mount(target=str(path), source=str(path), type="bind", read_only=True))
        mounts[-1]["BindOptions"] = {"NonRecursive": True}
    # A label would have to be written on the user's own files; without one they could not be read.
    labels = ["label=disable"] if Path("/sys/fs/selinux/enforce").exists() else []
    host_config = client.create_host_config(
        network_mode="none",
        read_only=True,
        mounts=mounts,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges:true", *labels],
        auto_remove=not engine.podman,  # which forgets how such a container ended
        init=False,
        # Else the host's own name servers would stand in resolv.conf.
        dns=["127.0.0.1"],
        dns_search=["."],
        # What candidates print is read over the pipes; the engine must not keep it on disk as well.
        log_config=LogConfig(type="none"),
        ulimits=list(_ulimits(engine)),
        **_bounds(engine, launch),
    )
    if engine.podman and engine.rootless:
        host_config["UsernsMode"] = "keep-id"
    container = client.create_container(
        image,
        list(launch.argv),
        hostname="sandbox",
        user=f"{user.uid}:{user.gid}",
        stdin_open=True,
        environment=dict(launch.environment),
        working_dir=launch.cwd,
        labels={LABEL: owner_mark()},
        entrypoint=[],
        # An image's own check would run beside the program. Podman would ask systemd to remove its timer.
        healthcheck=None if engine.podman else {"test": ["NONE"]},
        use_config_proxy=False,
        host_config=host_config,
    )
    return str(container["Id"])


def _bounds(engine: Engine, launch: Launch) -> dict[str, Any]:
    """Return sizes and counts; swap is none, so that memory is bounded by what was asked."""
    limits = launch.limits
    tmpfs = {SCRATCH: f"rw,exec,nosuid,nodev,mode=1777,size={limits.scratch_mib}m"}
    if engine.podman:
        # Podman puts unbounded ones over these folders of a read-only container unless there are some already.
        tmpfs |= {"/run": "ro,size=64k", "/var/tmp": "ro,size=64k"}
    bounds: dict[str, Any] = {"tmpfs": tmpfs, "shm_size": shared_memory_mib(limits.scratch_mib) << 20}
    if engine.bounds_memory:
        bounds |= {"mem_limit": f"{limits.memory_mib}m", "memswap_limit": f"{limits.memory_mib}m"}
    if engine.bounds_processes:
        bounds["pids_limit"] = limits.processes
    return bounds


def _ulimits(engine: Engine) -> Iterator[Ulimit]:
    """Yield limits of each process, never above our own: an engine run by a bounded user may not raise them."""
    yield Ulimit(name="core", soft=0, hard=0)
    files, processes = (4096 if bound < 0 else min(4096, bound) for bound in platform.bounds_of_processes())
    yield Ulimit(name="nofile", soft=min(1024, files), hard=files)
    if engine.podman:
        # Podman asks for a million processes unless told otherwise, which not every machine grants.
        yield Ulimit(name="nproc", soft=processes, hard=processes)


def _with_submounts(shown: Sequence[Path]) -> Iterator[Path]:
    """Yield `shown`, each followed by the file systems mounted below it, but for those of single users (FUSE)."""
    points = []
    for line in platform.mounts().splitlines():
        before, _, after = line.partition(" - ")
        if not after.startswith("fuse"):
            # The kernel writes blanks and the like as octal numbers.
            points.append(Path(before.split()[4].encode().decode("unicode_escape")))
    for path in shown:
        yield path
        yield from sorted({point for point in points if point != path and point.is_relative_to(path)})


# ------------------------------------------------------------------ whose a container is


def owner_mark() -> str:
    """Say which process made a container: machine start, pid namespace, pid and its start."""
    pid = str(os.getpid())
    return "/".join((*platform.host_mark(), pid, platform.start_of(pid)))


def remove_leftovers(client: APIClient) -> None:
    """Remove our containers whose maker was killed; those of makers we cannot see are left alone."""
    for container in client.containers(all=True, filters={"label": LABEL}):
        if _abandoned(container.get("Labels", {}).get(LABEL, "")):
            with suppress(APIError):
                client.remove_container(container["Id"], force=True, v=True)


def _abandoned(mark: str) -> bool:
    *where, pid, started = mark.split("/") if mark.count("/") == 3 else ("", "")
    return where == platform.host_mark() and pid.isdigit() and platform.start_of(pid) != started


GRACE = 5.0  # seconds a killed container may take to go

ENGINE_LOST = 255  # exit status when the engine went away, or could not say how the container ended


class StdinSocket(io.RawIOBase):
    """The writing half of an attached socket."""

    def __init__(self, connection: socket.socket) -> None:
        """Borrow `connection`; closing this ends only its writing half."""
        self._connection = connection

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._connection.fileno()

    def write(self, data: object) -> int:
        """Send all of `data`. Raises BrokenPipeError when the container or its engine is gone."""
        view = memoryview(data).cast("B")  # type: ignore[arg-type]
        self._connection.sendall(view)
        return len(view)

    def close(self) -> None:
        """Let the program inside see the end of its input."""
        if not self.closed:
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_WR)
        super().close()


class ContainerProcess(Process):
    """A `Process` over a created container, which it starts, kills and sees removed."""

    def __init__(self, engine: Engine, client: APIClient, container: str) -> None:
        """Attach first, so that no output is missed, then start. Owns `client`. Raises one of `FAILURES`."""
        super().__init__(status=ENGINE_LOST)
        self._client, self._container = client, container
        self._attached = client.attach_socket(
            container, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1, "logs": 0}
        )
        self._connection: socket.socket = getattr(self._attached, "_sock", self._attached)
        self._connection.settimeout(None)
        reading, self._writing = os.pipe()
        self.stdin = cast(BinaryIO, StdinSocket(self._connection))
        self.stdout = cast(BinaryIO, io.FileIO(reading, "rb"))
        started = Event()
        self._threads = [
            Thread(target=self._copy, name="sandbox-output", daemon=True),
            Thread(target=self._watch, args=(engine, started), name="sandbox-watch", daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        try:
            client.start(container)
        except FAILURES:
            started.set()
            self.close()
            raise
        started.set()

    def _copy(self) -> None:
        """Copy to the pipe of `stdout` and to the tail of standard error, until either end closes."""
        frames = cast(Iterator[tuple[int, bytes]], frames_iter_no_tty(self._connection))
        with suppress(OSError, ValueError):  # the latter where the connection was closed meanwhile
            for kind, piece in frames:
                if kind != STDOUT:
                    self._tail.add(piece)
                    continue
                while piece:
                    piece = piece[os.write(self._writing, piece) :]
        # The engine may keep its end open and read no more: writing must fail then, not wait.
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        os.close(self._writing)

    def _watch(self, engine: Engine, started: Event) -> None:
        """Wait until the container is gone, on a connection of our own."""
        try:
            with closing(engine.client(timeout=None)) as client:
                if not engine.podman:
                    # Asked before the start: a container that is removed already could not be waited for.
                    self._status = int(client.wait(self._container, condition="removed")["StatusCode"])
                else:
                    started.wait()
                    self._status = int(client.wait(self._container)["StatusCode"])
                    client.remove_container(self._container, force=True)
        except FAILURES as error:
            self._tail.add(f"\nThe Docker engine lost the container: {error}\n".encode())
        self._ended.set()

    def kill(self) -> None:
        """End everything inside; returns once the container is gone."""
        if self._ended.is_set():
            return
        with suppress(*FAILURES):
            try:
                self._client.kill(self._container, "SIGKILL")
            except APIError:
                # Not running: never started, or on its way out.
                self._client.remove_container(self._container, force=True)
        self._ended.wait(GRACE)

    def _release(self) -> None:
        self.stdin.close()
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self.stdout.close()
        for thread in self._threads:
            thread.join(GRACE)
        # Closing the answer closes the stream read from it; the socket below counts its users and goes last.
        getattr(self._attached, "_response", self._attached).close()
        self._connection.close()
        self._client.close()


class DockerSandbox:
    """Implements `Sandbox` with an engine.

    Without `image` the host's own system folders are shown read-only, so that the target's interpreter works as it
    does outside; with it they come from the image, and only `Launch.readonly` from the host.
    """

    name = "docker"
    scratch = SCRATCH

    def __init__(
        self,
        image: str | None = None,
        install: Install | None = None,
        notice: Callable[[str], None] = lambda text: None,
        poll: Poll = no_poll,
    ) -> None:
        """Find an engine, remove what killed runs left, provide the image. Raises SandboxError, and what `poll` raises.

        `install`: what is put on top of `image`; `notice` hears of it, and `poll` can stop it.
        """
        self._engine: Engine = find_engine()
        self._given, self._install, self._notice = image, install, notice
        self._system = host_system() if image is None else HostSystem((), ())
        self._image = self._provide(image, poll)
        self.image_digest = self._image.digest
        self.claims = ALL
        if not self._engine.bounds_memory:
            self.claims -= {Claim.BOUNDED_MEMORY, Claim.BOUNDED_MEMORY_EACH}
        if not self._engine.bounds_processes:
            self.claims -= {Claim.BOUNDED_PROCESSES}
        if self._engine.podman:  # its filter of system calls lets user namespaces through, where Docker's does not
            self.claims -= {Claim.NO_NAMESPACES}

    @property
    def detail(self) -> str:
        words = [self._engine.title]
        for claim, what in ((Claim.BOUNDED_MEMORY, "memory"), (Claim.BOUNDED_PROCESSES, "the number of processes")):
            if claim not in self.claims:
                words.append(f"{what} is not bounded by this engine")
        return "; ".join(words)

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(engine.title for engine in other_engines(self._engine))

    def _provide(self, image: str | None, poll: Poll = no_poll) -> Image:
        patience = BUILD_TIMEOUT if self._install is not None else CALL_TIMEOUT
        try:
            with closing(self._engine.client(patience)) as client:
                remove_leftovers(client)
                if image is None:
                    data = _skeleton(self._system, self._user(Path("/")))
                    return _imported(client, "rtc-inspector/skeleton", hashlib.sha256(data).hexdigest(), data)
                given = given_image(client, image)
                if self._install is None:
                    return given
                return built_image(client, given, self._install, self._notice, poll)
        except FAILURES as error:
            raise _failed(self._engine, error) from error

    def _user(self, project: Path) -> User:
        """Return the user who runs the program. An engine without root maps all users but one to strangers."""
        if self._engine.rootless and not self._engine.podman:
            return User(NOBODY, NOBODY)
        return inside_user(project)

    def start(self, launch: Launch) -> Process:
        user = self._user(Path(launch.cwd))
        shown = (*self._system.mounts, *readable(visible(launch.readonly, self._system.covers), user))
        try:
            with closing(self._engine.client()) as client:
                try:
                    container = create_container(client, self._engine, self._image.name, launch, shown, user)
                except ImageNotFound:  # which the engine had before
                    self._image = self._provide(self._given)
                    container = create_container(client, self._engine, self._image.name, launch, shown, user)
                return self._attached(container)
        except FAILURES as error:
            raise _failed(self._engine, error) from error

    def _attached(self, container: str) -> ContainerProcess:
        client = self._engine.client()
        try:
            return ContainerProcess(self._engine, client, container)
        except FAILURES:
            with suppress(*FAILURES):
                client.remove_container(container, force=True)
            client.close()
            raise


def _failed(engine: Engine, error: Exception) -> SandboxError:
    if isinstance(error, ConnectionError | FileNotFoundError):
        return SandboxError(
            f"{engine.kind} no longer answers at {engine.address} ({error.strerror or error}).",
            "Start the engine again, or use `--sandbox bubblewrap`.",
        )
    reason = str(getattr(error, "explanation", None) or error).strip().splitlines() or ["no reason given"]
    return SandboxError(
        f"{engine.kind} cannot start a container: {reason[0].rstrip('.')}.",
        f"Check the engine at {engine.address}, or use `--sandbox bubblewrap`.",
    )
