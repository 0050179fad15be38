"""Fetch a GGUF file from the Hugging Face hub into its own cache, on request only: resumed, checked, told of.

The hub's library knows addresses, rights and the cache's layout. It begins anew after a break, so the bytes are taken
here: into a file beside the cached ones that grows over breaks and gets its name only once its checksum is right.
"""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rtc_inspector.core.errors import InspectorError, ModelError
from rtc_inspector.core.models.devices import gib
from rtc_inspector.core.models.gguf import part_names, read_header
from rtc_inspector.core.types import Report

if TYPE_CHECKING:
    from huggingface_hub import HfFileMetadata

PARTIAL = ".rtc-inspector.incomplete"
BLOCK = 1 << 18
PARTIAL_CONTENT = 206
TIMEOUT = 20.0
"""Seconds of silence after which a connection counts as broken."""
BREAKS, PAUSE = 5, 1.0
"""Broken connections in a row that brought nothing, and seconds between two."""
SHA256 = 64
CHECKSUM = re.compile(r"[0-9a-f]{64}|[0-9a-f]{40}")
"""Of a large file its own SHA-256, of a small one the SHA-1 of git's object."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file of a repository on the hub."""

    repo: str
    file: str


@dataclass(frozen=True, slots=True)
class _Part:
    """A file of the model: where it will lie, what the hub tells of it, and the hub's own address."""

    file: str
    blob: Path
    found: HfFileMetadata
    hub: str


def parse_wanted(text: str) -> Wanted:
    """Read `OWNER/NAME:FILE`; without a file the model's files are listed when it is downloaded. Raises ModelError."""
    repo, _, file = text.strip().partition(":")
    owner, _, name = repo.partition("/")
    if not owner or not name or "/" in name or repo.startswith("http") or (file and not file.endswith(".gguf")):
        raise ModelError(
            f"{text!r} names no GGUF file on the hub.", "Write it as OWNER/NAME:FILE, e.g. me/tiny-gguf:tiny-q4.gguf."
        )
    return Wanted(repo, file)


def download(wanted: Wanted, report: Report, endpoint: str | None = None, cache: Path | None = None) -> Path:
    """Fetch every part that is not there yet; the path of the first, which lies in the hub's cache.

    `endpoint` and `cache` are the hub's own unless named. Raises ModelError, and what `report` raises.
    """
    with _said(wanted):
        from huggingface_hub import constants

        constants.HF_HUB_DISABLE_TELEMETRY = True  # the library would ask and tell more than the download needs
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
        folder = cache or Path(constants.HF_HUB_CACHE)
        if not wanted.file:
            raise _choices(wanted, endpoint)
        report("asking the hub", 0, 1)
        parts = [_look_up(wanted, file, folder, endpoint) for file in part_names(wanted.file)]
        _check_disk(parts, folder)
        for number, part in enumerate(parts, start=1):
            stage = f"part {number} of {len(parts)}" if len(parts) > 1 else "downloading"
            if not part.blob.exists():
                _fetch(part, stage, report)
        paths = [_name(wanted, part, folder, endpoint) for part in parts]
    read_header(paths[0])
    return paths[0]


def _look_up(wanted: Wanted, file: str, folder: Path, endpoint: str | None) -> _Part:
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import repo_folder_name

    found = get_hf_file_metadata(hf_hub_url(wanted.repo, file, endpoint=endpoint), endpoint=endpoint)
    if not (found.etag and CHECKSUM.fullmatch(found.etag) and found.size and found.commit_hash):
        raise ModelError(
            f"The hub gives no checksum for {file}, so it could not be checked.", "Download it from its page by hand."
        )
    blobs = folder / repo_folder_name(repo_id=wanted.repo, repo_type="model") / "blobs"
    return _Part(file, blobs / found.etag, found, endpoint or constants.ENDPOINT)


def _check_disk(parts: list[_Part], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    need = sum((part.found.size or 0) - _have(part) for part in parts if not part.blob.exists())
    free = shutil.disk_usage(folder).free
    if need > free:
        raise ModelError(
            f"{gib(need)} are missing and {gib(free)} of the disk of {folder} are free.",
            "Make room there, or name another folder with HF_HOME.",
        )


def _fetch(part: _Part, stage: str, report: Report) -> None:
    """Go on where an earlier attempt ended, then check."""
    size, partial = part.found.size or 0, _partial(part)
    partial.parent.mkdir(parents=True, exist_ok=True)
    with partial.open("ab") as file:
        _stream(part, file, size, lambda done: report(stage, done, size))
    digest = _digest(partial, part.blob.name, lambda done: report("checking", done, size))
    if digest != part.blob.name:
        partial.unlink()
        raise ModelError(
            f"{part.file} arrived damaged: its checksum is {digest[:12]}…, not {part.blob.name[:12]}….",
            "Download it again; what had arrived was deleted.",
        )
    partial.replace(part.blob)


def _stream(part: _Part, file: BinaryIO, size: int, report: Callable[[int], None]) -> None:
    """Write what is missing of `size` bytes; a connection that breaks is taken up again."""
    breaks = 0
    while (have := file.tell()) < size:
        report(have)
        try:
            _take(part, file, have, report)
        except (OSError, InspectorError):  # a refusal of the hub is an OSError too
            raise
        except Exception:
            # A slow line may break a hundred times in one download and still get there.
            breaks = 0 if file.tell() > have else breaks + 1
            if breaks > BREAKS:
                raise
            time.sleep(PAUSE * min(breaks, 1))
    report(size)


def _take(part: _Part, file: BinaryIO, have: int, report: Callable[[int], None]) -> None:
    from huggingface_hub import get_session
    from huggingface_hub.utils import hf_raise_for_status  # type: ignore[attr-defined]

    headers = _headers(part) | ({"Range": f"bytes={have}-"} if have else {})
    with get_session().stream("GET", part.found.location, headers=headers, timeout=TIMEOUT) as response:
        hf_raise_for_status(response)
        if response.status_code != PARTIAL_CONTENT:
            file.truncate(0)  # the server begins at the start whatever it was asked
        for block in response.iter_raw(BLOCK):
            file.write(block)
            report(file.tell())


def _headers(part: _Part) -> dict[str, str]:
    """A token is for the hub: it does not go along to a store elsewhere that holds the bytes."""
    from huggingface_hub import get_token

    token = get_token() if part.found.location.startswith(part.hub.rstrip("/") + "/") else None
    return {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {token}"} if token else {})


def _partial(part: _Part) -> Path:
    return part.blob.with_name(part.blob.name + PARTIAL)


def _have(part: _Part) -> int:
    """Bytes that an earlier attempt left."""
    partial = _partial(part)
    return partial.stat().st_size if partial.exists() else 0


def _name(wanted: Wanted, part: _Part, folder: Path, endpoint: str | None) -> Path:
    """Have the hub's library give the blob its name in the cache, where other programs find it too."""
    from huggingface_hub import hf_hub_download

    revision = part.found.commit_hash
    return Path(hf_hub_download(wanted.repo, part.file, revision=revision, cache_dir=folder, endpoint=endpoint))


def _digest(path: Path, wanted: str, report: Callable[[int], None]) -> str:
    """The checksum of the kind that is wanted."""
    size = path.stat().st_size
    digest = hashlib.sha256() if len(wanted) == SHA256 else hashlib.sha1(f"blob {size}\0".encode())
    done = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            done += len(block)
            report(done)
    return digest.hexdigest()


def _choices(wanted: Wanted, endpoint: str | None) -> ModelError:
    """Say which GGUF files a repository has."""
    from huggingface_hub import HfApi

    files = [file for file in HfApi(endpoint=endpoint).list_repo_files(wanted.repo) if file.endswith(".gguf")]
    if not files:
        return ModelError(f"{wanted.repo} has no GGUF file.", "Choose a repository that has one.")
    names = ", ".join(files[:20]) + (f", and {len(files) - 20} more" if len(files) > 20 else "")
    return ModelError(f"{wanted.repo} was named without a file.", f"Add one of these after a colon: {names}.")


@contextmanager
def _said(wanted: Wanted) -> Iterator[None]:
    """Turn the library's errors into a sentence."""
    try:
        yield
    except InspectorError:
        raise
    except ImportError:
        raise ModelError("The package huggingface-hub is not installed.", "Install it with pip.") from None
    except Exception as error:
        raise _problem(wanted, error) from None


def _problem(wanted: Wanted, error: Exception) -> ModelError:
    from huggingface_hub import constants, errors

    online = "Go online and try again: it goes on where it ended."
    match error:
        case errors.GatedRepoError():
            return ModelError(
                f"{wanted.repo} is for those who accepted its terms.",
                "Accept them on its page and log in with `hf auth login`, or set HF_TOKEN.",
            )
        case errors.RepositoryNotFoundError():
            return ModelError(f"The hub has no repository {wanted.repo}, or hides it.", "Check the name, or log in.")
        case errors.EntryNotFoundError():
            remedy = f"`rtc-inspector models download {wanted.repo}` lists those it has."
            return ModelError(f"{wanted.repo} has no file {wanted.file}.", remedy)
        case errors.OfflineModeIsEnabled():
            return ModelError("The hub's library is in offline mode.", "Unset HF_HUB_OFFLINE to download.")
        case errors.HfHubHTTPError():
            return ModelError(f"The hub refused: {_line(error)}", "Try again later.")
        case errors.HFValidationError():
            return ModelError(f"{wanted.repo} is no name of a repository.", "Write it as OWNER/NAME.")
        case OSError() if error.errno is not None:
            return ModelError(f"The model cannot be written: {error.strerror}.", "Check the disk; then try again.")
    return ModelError(f"{constants.ENDPOINT} cannot be reached, or went away: {_line(error)}", online)


def _line(error: Exception) -> str:
    first = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    return f"{first}."
