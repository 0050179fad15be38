"""The user's own error modes: one file in the settings folder, earlier versions beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.errors import UserError
from core.taxonomy import BUNDLED, Taxonomy, read_taxonomy


@dataclass(frozen=True, slots=True)
class TaxonomyFile:
    """Where a user's error modes are; the folder need not exist until they are saved."""

    folder: Path

    @property
    def path(self) -> Path:
        """The file itself."""
        return self.folder / BUNDLED

    def read(self) -> Taxonomy:
        """The user's own modes, or the bundled ones where there are none. Raises UserError."""
        return read_taxonomy(self.path) if self.path.exists() else read_taxonomy()

    def save(self, taxonomy: Taxonomy) -> None:
        """Put it in place of the file that is there, which is kept under another name. Raises UserError."""
        fresh = self.path.with_suffix(".new")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            fresh.write_text(taxonomy.to_toml(), encoding="utf-8", errors="backslashreplace")
            if self.path.exists():
                self.path.replace(self._place_of_old())
            fresh.replace(self.path)
        except OSError as error:
            problem = f"The error modes could not be saved in {self.folder}: {error.strerror or error}."
            raise UserError(problem, "Make that folder writable, then save again; nothing else was lost.") from error

    def _place_of_old(self) -> Path:
        """A free name that tells the version, or that it could not be read."""
        try:
            kind = f"v{self.read().version}"
        except UserError:
            kind = "unreadable"
        number, place = 1, self.path.with_suffix(f".{kind}.toml")
        while place.exists():
            number, place = number + 1, self.path.with_suffix(f".{kind}-{number + 1}.toml")
        return place
