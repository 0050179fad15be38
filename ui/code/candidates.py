"""Shows in the open file what the run could have drawn; worked out in the background, when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from PySide6.QtCore import QObject

from rtc_inspector.core.errors import ProjectError
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.run.considered import Considered
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.store.rows import ItemRow
from rtc_inspector.core.types import Codebase, CoverageMap, SourceFile
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.code.block_painter import lay_out
from rtc_inspector.ui.code.blocks import OpenFile
from rtc_inspector.ui.code.editor import CodeEditor
from rtc_inspector.ui.code.header import CodeHeader
from rtc_inspector.ui.code.source_text import SourceText

KEY = "candidates"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the run that is shown drew its regions. `fingerprint`: of the files it drew from."""

    settings: RegionSettings
    fingerprint: str


class Candidates(QObject):
    """Follows the header's switch, the open file and the run."""

    def __init__(self, editor: CodeEditor, header: CodeHeader, gateway: Gateway, shown: Callable[[], OpenFile]) -> None:
        super().__init__(editor)
        self._editor, self._header, self._gateway, self._shown = editor, header, gateway, shown
        self._sampling: Sampling | None = None
        self._codebase: Codebase | None = None
        header.offer_candidates(False)
        header.candidates.toggled.connect(self.refresh)

    def set_codebase(self, codebase: Codebase | None) -> None:
        """Take another project, or the same one as it is now."""
        self._codebase = codebase

    def set_sampling(self, sampling: Sampling | None) -> None:
        """Take another run; None where its task draws no regions."""
        if sampling != self._sampling:
            self._sampling = sampling
            self._header.offer_candidates(sampling is not None)
            self.refresh()

    def refresh(self) -> None:
        """Show candidates if they are wanted, else none."""
        file, text, items = self._shown()
        if file is None or self._sampling is None or self._codebase is None or not self._header.candidates.isChecked():
            self._gateway.cancel(KEY)
            self._editor.set_candidates(())
            self._header.say_candidates("")
            return
        work = partial(_consider, file, self._sampling, self._codebase, tuple(items))
        self._gateway.submit(KEY, work, partial(self._take, text))

    def _take(self, text: SourceText, found: Sequence[Considered] | str) -> None:
        # Words in place of candidates say why there are none.
        if isinstance(found, str):
            self._editor.set_candidates(())
            self._header.say_candidates(found)
            return
        self._editor.set_candidates(lay_out(found, text))
        self._header.say_candidates(counted(len(found), "candidate"))


def _consider(
    file: SourceFile, sampling: Sampling, codebase: Codebase, items: Sequence[ItemRow]
) -> Sequence[Considered] | str:
    """Return the candidates, or why there are none; runs in the background, where the parser is imported too."""
    from rtc_inspector.core.run.considered import considered

    if file.is_test:
        return "tests are never sampled"
    try:
        return considered(file, sampling.settings, _coverage(sampling.fingerprint, codebase), items)
    except ProjectError as error:
        return error.problem


@lru_cache(maxsize=2)
def _coverage(fingerprint: str, codebase: Codebase) -> CoverageMap | None:
    """Return the kept coverage of the run's own files, or None where they have changed since."""
    from rtc_inspector.core.regions.kept_coverage import kept
    from rtc_inspector.core.source.codebase import content_fingerprint

    return kept(fingerprint) if content_fingerprint(codebase) == fingerprint else None
