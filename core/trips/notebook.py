"""Round trips on the code cells of notebooks (RTC paper, Sec. 5.1, on ARCADE).

x is a cell, its context the cells before it. What a person wrote about the cell, in markdown or in its first comments,
is hidden from both passes. There is no baseline: without a word nobody knows which cell comes next, and the paper
leaves the lift open too.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from rtc_inspector.core.errors import ProjectError, UserError
from rtc_inspector.core.models.prompts import wording
from rtc_inspector.core.oracle.bench.project import VERSION, CellFiles, Origin, cell_files, project_folder, write_files
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.source.notebook import Cell, Notebooks, read_notebooks
from rtc_inspector.core.trips.judged import Judged, open_written, writing
from rtc_inspector.core.trips.pool import DrawnTrip
from rtc_inspector.core.trips.protocol import FixedText, Opened
from rtc_inspector.core.trips.roundtrip import InFile
from rtc_inspector.core.types import Item, Notify, Outcome, Report

NOTHING = "pass"  # a cell that does nothing
OFFLINE = ("Name or service not known", "Network is unreachable", "Temporary failure in name resolution")
"""What the system says to a cell that asks the network."""


@dataclass(frozen=True)
class WrittenNotebooks:
    """Notebooks and the generated project they were written as; a cell that can be judged has its files."""

    fingerprint: str
    cells: tuple[tuple[Cell, CellFiles | None], ...]
    root: Path


def _read(path: Path) -> Notebooks:
    """Read the notebooks. Raises ProjectError for bad ones, and where no cell could be judged."""
    read = read_notebooks(path)
    if all(cell.reason for cell in read.cells):
        first = read.cells[0]
        raise ProjectError(
            f"No cell of {path.name} can be judged: {first.key}: {first.reason}.", "Name another notebook."
        )
    return read


def written_notebook(file: str) -> WrittenNotebooks:
    """Read a notebook, or a folder of them, and write its project. Raises ProjectError."""
    path = Path(file)
    read = _read(path)
    cells = tuple(
        (cell, None if cell.reason else cell_files(number, cell.context, cell.code, cell.names))
        for number, cell in enumerate(read.cells, start=1)
    )
    texts: dict[str, str] = {}
    for _, each in cells:
        if each is not None:
            texts |= {each.path: each.text, each.tests_path: each.tests_text}
    with writing(f"The tests of {path.name}"):
        origin = Origin(file, {files.path: cell.key for cell, files in cells if files is not None})
        return WrittenNotebooks(read.fingerprint, cells, write_files(texts, path.stem, project_folder(), origin))


class NotebookTrip(DrawnTrip[tuple[Cell, CellFiles | None]], InFile):
    """x is a cell, y its description, sim is that it shows, leaves and prints what the original does.

    Its file holds the cells before it, which models see and which run before it.
    """

    uninformative = ""
    stage = "admitting cells"
    none, remedy, holder = "No cell can be used", "Name another notebook.", "The notebook"

    def __init__(self, written: WrittenNotebooks, judged: Judged, settings: RunSettings) -> None:
        super().__init__(judged, settings)
        self.sources = {cell.key: (cell, files) for cell, files in written.cells}
        self.workers = settings.oracle.workers

    def made(self, written: tuple[Cell, CellFiles | None]) -> Item:
        cell, files = written
        place = files or cell_files(0, cell.context, cell.code, ())
        item = Item(
            key=cell.key,
            kind="cell",
            path=place.path,
            span=place.span,
            start_line=place.text.count("\n", 0, place.span.start) + 1,
            end_line=place.text.count("\n") + 1,
            text=cell.code,
            tests=place.tests if files is not None else (),
            facets={"file": cell.key.rpartition(":")[0]},
            directive=cell.words or None,
        )
        reason = cell.reason or self._reason(item)
        return replace(item, admitted=not reason, reason=reason)

    def _reason(self, item: Item) -> str:
        """Return why a cell is dropped: it fails, it is not the same twice, or nothing that it does is looked at."""
        for test in item.tests:
            if test not in self.judged.trusted:
                reason = self.judged.suite.excluded.get(test, "its tests are missing")
                differs = reason.removeprefix("fails: AssertionError: ")
                # As `rtc_cells` says what differs.
                if not reason.startswith("fails") or differs.startswith("the cell "):
                    return f"its original is not the same twice: {differs}"
                offline = " (there is no network in the sandbox)" if any(sign in reason for sign in OFFLINE) else ""
                return f"it, or a cell before it, {reason}{offline}"
        unseen = self.judged.judge(item, NOTHING).outcome is Outcome.PASS
        return "it shows and prints nothing, and no later cell reads what it binds" if unseen else ""

    def references(self, item: Item) -> Sequence[FixedText]:
        return [FixedText(item.directive, "markdown")] if item.directive else []


def check_notebook(settings: RunSettings) -> None:
    """Read the notebooks and nothing more. Raises UserError."""
    if settings.benchmark.file is None:
        raise UserError("No notebook was named.", "Name its file: `rtc-inspector run NOTEBOOK.ipynb`.")
    _read(Path(settings.benchmark.file))


def open_notebook(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report) -> Opened:
    """Read the notebooks, write them as a project and run their cells. Raises UserError.

    `project` is passed over: the settings name the file, and the project is written from it.
    """
    report("reading cells", 0, 1)
    check_notebook(settings)
    written = written_notebook(settings.benchmark.file or "")
    problem = f"The cells of {Path(settings.benchmark.file or '').name} cannot be judged"
    remedy = "Name a notebook that runs without the network and without files of its own."
    judged = open_written(stack, written.root, settings.oracle, notify, report, problem, remedy)
    settings = replace(settings, prompt_version=wording().version)
    fingerprint = f"{written.fingerprint}-{VERSION}"
    return judged.opened(lambda settings: NotebookTrip(written, judged, settings), settings, fingerprint)
