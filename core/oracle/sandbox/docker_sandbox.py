"""The Docker sandbox: one hardened container for each process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

from docker import APIClient
from docker.errors import ImageNotFound

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.requirements import Install
from rtc_inspector.core.oracle.sandbox.docker_build import BUILD_TIMEOUT, built_image
from rtc_inspector.core.oracle.sandbox.docker_container import create_container, remove_leftovers
from rtc_inspector.core.oracle.sandbox.docker_engine import CALL_TIMEOUT, FAILURES, Engine, find_engine, other_engines
from rtc_inspector.core.oracle.sandbox.docker_image import Image, given_image, skeleton_image
from rtc_inspector.core.oracle.sandbox.docker_process import ContainerProcess
from rtc_inspector.core.oracle.sandbox.host_system import SCRATCH, HostSystem, host_system, visible
from rtc_inspector.core.oracle.sandbox.inside_user import NOBODY, User, inside_user, readable
from rtc_inspector.core.oracle.sandbox.process import Process
from rtc_inspector.core.oracle.sandbox.protocol import ALL, Claim, Launch
from rtc_inspector.core.waiting import Beat, unheard


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
        beat: Beat = unheard,
    ) -> None:
        """Find an engine, remove what killed runs left, provide the image. Raises SandboxError, and what `beat` raises.

        `install`: what is put on top of `image`; `notice` hears of it, and `beat` can stop it.
        """
        self._engine: Engine = find_engine()
        self._given, self._install, self._notice = image, install, notice
        self._system = host_system() if image is None else HostSystem((), ())
        self._image = self._provide(image, beat)
        self.image_digest = self._image.digest
        self.claims = ALL - frozenset(self._lacking())

    @property
    def detail(self) -> str:
        """Return which engine it is and what it cannot bound, for a person to read."""
        words = [self._engine.title]
        for claim, what in ((Claim.BOUNDED_MEMORY, "memory"), (Claim.BOUNDED_PROCESSES, "the number of processes")):
            if claim not in self.claims:
                words.append(f"{what} is not bounded by this engine")
        return "; ".join(words)

    @property
    def others(self) -> tuple[str, ...]:
        """Engines that could be used instead, for a person."""
        return tuple(engine.title for engine in other_engines(self._engine))

    def _lacking(self) -> Iterator[Claim]:
        """Yield the claims that this engine cannot keep."""
        if not self._engine.bounds_memory:
            yield from (Claim.BOUNDED_MEMORY, Claim.BOUNDED_MEMORY_EACH)
        if not self._engine.bounds_processes:
            yield Claim.BOUNDED_PROCESSES
        if self._engine.podman:
            # Its filter of system calls lets user namespaces through, where Docker's does not.
            yield Claim.NO_NAMESPACES

    def _provide(self, image: str | None, beat: Beat = unheard) -> Image:
        """The image to use. Raises SandboxError, and what `beat` raises."""
        patience = BUILD_TIMEOUT if self._install is not None else CALL_TIMEOUT
        try:
            with closing(self._engine.client(patience)) as client:
                remove_leftovers(client)
                if image is None:
                    return skeleton_image(client, self._system, self._user(Path("/")))
                given = given_image(client, image)
                if self._install is None:
                    return given
                return built_image(client, given, self._install, self._notice, beat)
        except FAILURES as error:
            raise _failed(self._engine, error) from error

    def _user(self, project: Path) -> User:
        """Return the user who runs the program. An engine without root maps all users but one to strangers."""
        if self._engine.rootless and not self._engine.podman:
            return User(NOBODY, NOBODY)
        return inside_user(project)

    def start(self, launch: Launch) -> Process:
        """Start the program as PID 1 of a container of its own. Raises SandboxError."""
        user = self._user(Path(launch.cwd))
        shown = (*self._system.mounts, *readable(visible(launch.readonly, self._system.covers), user))
        try:
            with closing(self._engine.client()) as client:
                return self._attached(self._created(client, launch, shown, user))
        except FAILURES as error:
            raise _failed(self._engine, error) from error

    def _created(self, client: APIClient, launch: Launch, shown: Sequence[Path], user: User) -> str:
        """A container; of an image made anew when an engine has lost it meanwhile. Raises one of `FAILURES`."""
        try:
            return create_container(client, self._engine, self._image.name, launch, shown, user)
        except ImageNotFound:
            self._image = self._provide(self._given)
            return create_container(client, self._engine, self._image.name, launch, shown, user)

    def _attached(self, container: str) -> ContainerProcess:
        """Start the container; remove it when that fails. Raises one of `FAILURES`."""
        client = self._engine.client()
        try:
            return ContainerProcess(self._engine, client, container)
        except FAILURES:
            with suppress(*FAILURES):
                client.remove_container(container, force=True)
            client.close()
            raise


def _failed(engine: Engine, error: Exception) -> SandboxError:
    """Return the error to raise when the engine did not do as asked."""
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
