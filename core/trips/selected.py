"""From lines a person selected to an item: whole statements, the tests that cover them, whether deleting is noticed."""

from __future__ import annotations

from dataclasses import replace

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.regions.admission import admit
from rtc_inspector.core.regions.candidates import snap
from rtc_inspector.core.regions.coverage import cover
from rtc_inspector.core.settings import RegionSettings
from rtc_inspector.core.trips.judged import Judged
from rtc_inspector.core.types import Item, Span


def selected_item(judged: Judged, path: str, span: Span) -> Item:
    """Return the statements around `span`, of whatever length, covered when some line of them runs; `extra` is set.

    Raises UserError when no statement of the project's own code is selected, ProjectError when they cannot be located.
    """
    source = judged.files.get(path)
    if source is None:
        raise UserError(
            f"The project has no file {path} that its tests judge.", "Read the files again, then select once more."
        )
    if source.is_test:
        raise UserError(f"{path} belongs to the tests, which are never sampled.", "Select lines of the code they test.")
    region = snap(source, span)
    if region is None:
        raise UserError("No statement is selected.", "Select lines that hold code.")
    # Any line, not all as for sampled regions: a person may well choose a branch that no test takes whole.
    covered = cover([region], judged.suite.coverage, RegionSettings(coverage="any"), source)
    return replace(admit(covered[0] if covered else region, source, judged.oracle), extra=True)
