"""Fetch a GGUF file from the Hugging Face hub into its own cache, on request only, by the hub's library."""

import logging
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from rtc_inspector.core.errors import InspectorError, ModelError
from rtc_inspector.core.models.devices import gib
from rtc_inspector.core.models.gguf import fingerprint, part_names, read_header
from rtc_inspector.core.types import Report


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file of a repository on the hub."""

    repo: str
    file: str


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
    """Fetch every part that is not there yet; return the path of the first, which lies in the hub's cache.

    `endpoint` and `cache` are the hub's own unless named. Raises ModelError, and what `report` raises.
    """
    with _refusals_in_words(wanted):
        from huggingface_hub import constants, hf_hub_download

        constants.HF_HUB_DISABLE_TELEMETRY = True  # the library would ask and tell more than the download needs
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
        if not wanted.file:
            raise _choices(wanted, endpoint)
        report("asking the hub", 0, 1)
        folder = cache or Path(constants.HF_HUB_CACHE)
        names = part_names(wanted.file)
        parts = [hf_hub_download(wanted.repo, n, endpoint=endpoint, cache_dir=folder, dry_run=True) for n in names]
        folder.mkdir(parents=True, exist_ok=True)
        need, free = sum(part.file_size or 0 for part in parts if part.will_download), shutil.disk_usage(folder).free
        if need > free:
            raise ModelError(
                f"{gib(need)} are missing and {gib(free)} of the disk of {folder} are free.",
                "Make room there, or name another folder with HF_HOME.",
            )
        # A download by Xet heeds no stop and no proxy. The library takes larger files by nothing else.
        sizes = [part.file_size or 0 for part in parts]
        constants.HF_HUB_DISABLE_XET = max(sizes) <= constants.MAX_HTTP_DOWNLOAD_SIZE
        paths = []
        for number, part in enumerate(parts, start=1):
            stage = f"part {number} of {len(parts)}" if len(parts) > 1 else "downloading"
            path = hf_hub_download(
                wanted.repo,
                part.filename,
                revision=part.commit_hash,
                endpoint=endpoint,
                cache_dir=folder,
                tqdm_class=_bar(report, stage),
            )
            paths.append(Path(path))
            if part.will_download:
                _check_whole(paths[-1], report, part.file_size or 0)
    read_header(paths[0])
    return paths[0]


def _bar(report: Report, stage: str) -> Any:
    """Return what the library takes for its progress bar: it hands every step on to `report`."""

    class Bar:
        def __init__(self, *_: object, total: int | None = None, initial: int = 0, **__: object) -> None:
            self.n, self.total = initial, total or 0

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None: ...

        def update(self, n: float = 1) -> None:
            self.n += int(n)
            report(stage, self.n, self.total)

        def close(self) -> None: ...

    return Bar


def _check_whole(path: Path, report: Report, size: int) -> None:
    """Hold the file against its checksum, which the cache calls it by: the library looks at its size alone."""
    blob = path.resolve()
    if re.fullmatch("[0-9a-f]{64}", blob.name):
        digest = fingerprint([path], poll=lambda: report("checking", 0, size))
        report("checking", size, size)
        if digest != blob.name:
            blob.unlink()
            path.unlink(missing_ok=True)
            raise ModelError(
                f"{path.name} arrived damaged: its checksum is {digest[:12]}…, not {blob.name[:12]}….",
                "Download it again; what had arrived was deleted.",
            )


def _choices(wanted: Wanted, endpoint: str | None) -> ModelError:
    from huggingface_hub import HfApi

    files = [file for file in HfApi(endpoint=endpoint).list_repo_files(wanted.repo) if file.endswith(".gguf")]
    if not files:
        return ModelError(f"{wanted.repo} has no GGUF file.", "Choose a repository that has one.")
    names = ", ".join(files[:20]) + (f", and {len(files) - 20} more" if len(files) > 20 else "")
    return ModelError(f"{wanted.repo} was named without a file.", f"Add one of these after a colon: {names}.")


@contextmanager
def _refusals_in_words(wanted: Wanted) -> Iterator[None]:
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

    line = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".") + "."
    while isinstance(error, errors.LocalEntryNotFoundError) and isinstance(error.__cause__, Exception):
        error = error.__cause__  # what kept the library from asking
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
            return ModelError(f"The hub refused: {line}", "Try again later.")
        case errors.HFValidationError():
            return ModelError(f"{wanted.repo} is no name of a repository.", "Write it as OWNER/NAME.")
        case OSError() if error.errno is not None:
            return ModelError(f"The model cannot be written: {error.strerror}.", "Check the disk; then try again.")
    return ModelError(
        f"{constants.ENDPOINT} cannot be reached, or went away: {line}", "Go online and try again: it goes on."
    )
