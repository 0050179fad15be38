"""Images without a registry: a skeleton for the host's own system folders, a rootfs tar, or one already there."""

from __future__ import annotations

import hashlib
import io
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from docker import APIClient
from docker.errors import ImageNotFound

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.oracle.sandbox.docker_engine import FAILURES
from rtc_inspector.core.oracle.sandbox.host_system import SCRATCH, HostSystem, account_files
from rtc_inspector.core.oracle.sandbox.inside_user import User

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
    """An image of empty folders, links and one account, made once. Raises SandboxError."""
    data = _skeleton(system, user)
    return _imported(client, "rtc-inspector/skeleton", hashlib.sha256(data).hexdigest(), data)


def given_image(client: APIClient, image: str) -> Image:
    """The image a user names: of the engine's, or a tar of a whole file system. Raises SandboxError."""
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
    """Import `tar` unless an image of the same content is there. Raises SandboxError."""
    if not tarfile.is_tarfile(tar):
        raise SandboxError(f"{tar} is not a tar file.", "Make one with `docker export` or `tar -C ROOTFS -cf FILE .`.")
    with tar.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return _imported(client, "rtc-inspector/rootfs", digest, tar)


def _imported(client: APIClient, repository: str, digest: str, content: bytes | Path) -> Image:
    """The image tagged with the content's hash. Raises SandboxError."""
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
    """A tar that is the same, byte for byte, for the same machine and user."""
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
