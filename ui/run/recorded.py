"""The recorded run of the demonstration: whole at once, until the run of this window has something to show."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from rtc_inspector import resources
from rtc_inspector.core.run.events import Event, SampleReady, TextStreamed
from rtc_inspector.ui.background.gateway import Gateway
from rtc_inspector.ui.reading.inspection import Inspection, LookedAt, Wanted
from rtc_inspector.ui.run.control import RunControl
from rtc_inspector.ui.shell.bars import Offer
from rtc_inspector.ui.window.browsing import Browsing
from rtc_inspector.ui.window.guide import highlights
from rtc_inspector.ui.window.window_parts import WindowParts

KEY = "recorded"
ABOUT = "A run of the demonstration, {}."
WAITS = " The same begins here now, and is shown once its model writes."
STAYS = " The same goes on here meanwhile."

Found = tuple[Path, int, str, tuple[int, int] | None]
"""Database, number and name of the recorded run, and the item and sample that tell most."""


class Recorded(QObject):
    """Opens the recorded run, and leaves it for this window's own."""

    left = Signal()  # another database is looked at again

    def __init__(
        self,
        folder: Path,
        gateway: Gateway,
        inspection: Inspection,
        browsing: Browsing,
        control: RunControl,
        parts: WindowParts,
    ) -> None:
        super().__init__(parts)
        self._folder, self._gateway, self._inspection, self._browsing = folder, gateway, inspection, browsing
        self._control, self._offers = control, parts.offers
        self._telling: tuple[int, int] | None = None
        self.before: Path | None = None  # the database that was open, where runs are stored; None while it is again
        self._name, self._stays, self._wrote = "", False, False
        control.batch.connect(self._take)
        inspection.moved.connect(self._move)
        inspection.run_chosen.connect(self._point)
        for touched in (
            parts.tree.clicked,
            parts.regions.table.clicked,
            parts.code.item_chosen,
            parts.tabs.tabBarClicked,
        ):
            touched.connect(self._stay)

    def show(self) -> None:
        self._wrote = False
        if self.before is None:
            self._gateway.submit(KEY, lambda: _unpacked(self._folder), self._open)

    def _open(self, found: Found) -> None:
        if self._wrote:
            return  # it came too late
        database, run_id, self._name, self._telling = found
        before = self._inspection.database
        self._inspection.open(database, Wanted(run_id))
        self.before, self._stays = before, False
        self._offer()

    def _offer(self) -> None:
        text, at_work = ABOUT.format(self._name), self._control.run_on is not None
        if at_work:
            text += STAYS if self._stays else WAITS
        self._offers.offer(Offer(KEY, text, (("Show the run at work" if at_work else "Close it", self.leave),)))

    def _point(self) -> None:
        if self.before is not None and self._telling is not None:
            item, sample = self._telling
            self._telling = None
            self._browsing.choose(item, sample)

    def leave(self) -> None:
        if self.before is not None:
            run_id = self._control.coordinator.run_id if self._control.database == self.before else None
            self._browsing.follow = run_id is not None
            self._inspection.open(self.before, Wanted(run_id, str(resources.path("demo").resolve())))

    def _take(self, events: Sequence[Event]) -> None:
        """Go on to the run at work when it writes, unless somebody has begun to look around."""
        if not any(isinstance(event, TextStreamed | SampleReady) for event in events):
            return
        self._wrote = True
        if self.before is not None and not self._stays and self._control.database == self.before:
            self.leave()

    def _move(self, before: LookedAt, now: LookedAt) -> None:
        if self.before is not None and before.database != now.database:
            self.before = None
            self._offers.withdraw(KEY)
            self.left.emit()

    def _stay(self) -> None:
        if self.before is not None and not self._stays:
            self._stays = True
            self._offer()


def _unpacked(folder: Path) -> Found:
    from rtc_inspector.core.run.bundle import unpack  # the engine, which the window loads later else
    from rtc_inspector.core.source.codebase import content_fingerprint, open_codebase
    from rtc_inspector.core.store.writer import Store

    found = unpack(resources.path("recorded", "demo.zip"), folder)
    demo = resources.path("demo").resolve()
    with Store.open(found.database) as store:
        run = store.reader.run(found.run_id)
        if Path(run.project_root) != demo and content_fingerprint(open_codebase(demo)) == run.fingerprint:
            store.move_run(run.id, demo, store.reader.settings(run.id))
        telling = [(each.item.id, each.sample.id) for each in highlights(run.id, store.reader)[1]]
    return found.database, found.run_id, run.name, next(iter(telling), None)
