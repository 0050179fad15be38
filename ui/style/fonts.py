"""Which fonts the window uses, and lengths that follow the size of the text."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QFontMetrics
from PySide6.QtWidgets import QApplication, QHeaderView, QTableView, QTreeView, QWidget

INTERFACE = ("Inter", "SF Pro Text", "Segoe UI Variable", "Segoe UI", "Ubuntu", "Cantarell", "Noto Sans", "DejaVu Sans")
FIXED = (
    "JetBrains Mono",
    "Cascadia Code",
    "SF Mono",
    "Menlo",
    "Consolas",
    "Ubuntu Mono",
    "Noto Sans Mono",
    "DejaVu Sans Mono",
)
INTERFACE_POINTS, CODE_POINTS = 9.0, 9.5
GROWTH, FIXED_POINTS = "growth", "fixed points"
"""Properties: of the application, how many times as large text is now; of a widget, its points before that."""


def _first(wanted: Sequence[str], fallback: QFontDatabase.SystemFont) -> QFont:
    installed = set(QFontDatabase.families())
    family = next((name for name in wanted if name in installed), None)
    return QFont(family) if family else QFontDatabase.systemFont(fallback)


def interface_font(points: float = INTERFACE_POINTS) -> QFont:
    """Return the font for labels, lists and buttons."""
    font = _first(INTERFACE, QFontDatabase.SystemFont.GeneralFont)
    font.setPointSizeF(points)
    return font


def fixed_font(points: float = CODE_POINTS) -> QFont:
    """Return the font for code, prompts and answers, so many times larger as all text is now."""
    font = _first(FIXED, QFontDatabase.SystemFont.FixedFont)
    app = QCoreApplication.instance()
    font.setPointSizeF(points * float((app.property(GROWTH) if app is not None else None) or 1.0))
    font.setFixedPitch(True)
    font.setStyleHint(QFont.StyleHint.Monospace)
    return font


def bold(font: QFont) -> QFont:
    """Return the same font in bold."""
    copy = QFont(font)
    copy.setBold(True)
    return copy


def write_fixed(widget: QWidget, points: float = CODE_POINTS) -> None:
    """Let a widget write in the fixed font, and follow the size of all text."""
    widget.setProperty(FIXED_POINTS, points)
    widget.setFont(fixed_font(points))


def grow_fixed(growth: float) -> None:
    """Write everything so many times as large as at the start: what was written in the fixed font, and what will be."""
    app = QCoreApplication.instance()
    if app is not None:
        app.setProperty(GROWTH, growth)
    # A font that a widget was given does not follow the application's.
    for widget in QApplication.allWidgets():
        points = widget.property(FIXED_POINTS)
        if points is not None:
            widget.setFont(fixed_font(points))


STRETCH = QHeaderView.ResizeMode.Stretch
USUAL = 12  # pixels of the text for which heights and widths in the code are meant: nine points on a usual screen
FRAME = 40  # pixels that are left to the frame that a window manager draws around a window


def growth(widget: QWidget) -> float:
    """Return how many times as large as usual the text of a widget is; 1 where it is smaller."""
    return max(QFontInfo(widget.font()).pixelSize() / USUAL, 1.0)


def grown(widget: QWidget, pixels: int) -> int:
    """Return a length that is `pixels` for text of the usual size."""
    return round(pixels * growth(widget))


def open_at(window: QWidget, width: int, height: int) -> None:
    """Give a window a size that is so many pixels for text of the usual size, as far as the screen has them."""
    wanted = QSize(grown(window, width), grown(window, height))
    window.resize(wanted.boundedTo(window.screen().availableSize() - QSize(0, FRAME)))


def keep_on_screen(window: QWidget) -> None:
    """Move a window that has grown, so that all of it is on the screen: its buttons stand at its lower end."""
    room, frame = window.screen().availableGeometry(), window.frameGeometry()
    x, y = min(frame.x(), room.right() - frame.width()), min(frame.y(), room.bottom() - frame.height())
    at = QPoint(max(x, room.x()), max(y, room.y()))
    if window.isVisible() and at != frame.topLeft():
        window.move(at)


def elided_path(metrics: QFontMetrics, path: str, room: int) -> str:
    """Return a path in so many pixels: the file's name whole where it fits, else its start and end."""
    if metrics.horizontalAdvance(path) <= room:
        return path
    folders, slash, name = path.rpartition("/")
    left = room - metrics.horizontalAdvance(slash + name)
    if folders and left >= metrics.horizontalAdvance("…"):
        return metrics.elidedText(folders, Qt.TextElideMode.ElideMiddle, left) + slash + name
    return metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, room)


def fit_columns(header: QHeaderView, room: int, name: int, widths: Mapping[int, int], least: int) -> None:
    """Show beside a name the whole columns that there is room for, in their order, and give the name the rest.

    `least`: what the name has before any of them.
    """
    full = False
    for section, width in widths.items():
        full = full or room - width < least
        header.setSectionHidden(section, full)
        header.resizeSection(section, width)
        room -= 0 if full else width
    header.resizeSection(name, room)


class TextSize(QObject):
    """Keeps a view's rows and columns in step with its text; widths that the user chose keep their proportion.

    `changed` when they have another size.
    """

    changed = Signal()

    def __init__(self, view: QTableView | QTreeView, row: int | None = None) -> None:
        super().__init__(view)
        self._view, self._row, self._growth = view, row, growth(view)
        self._set_rows()
        view.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() is not QEvent.Type.FontChange or (now := growth(self._view)) == self._growth:
            return False
        ratio, self._growth = now / self._growth, now
        header = self._view.horizontalHeader() if isinstance(self._view, QTableView) else self._view.header()
        sections = [each for each in range(header.count()) if header.sectionResizeMode(each) != STRETCH]
        # Read before the least size is changed, which makes sections wider by itself.
        sizes = {each: round(header.sectionSize(each) * ratio) for each in sections}
        header.setMinimumSectionSize(round(header.minimumSectionSize() * ratio))
        for section, size in sizes.items():
            header.resizeSection(section, size)
        self._set_rows()
        self.changed.emit()
        return False

    def _set_rows(self) -> None:
        if self._row is not None and isinstance(self._view, QTableView):
            self._view.verticalHeader().setDefaultSectionSize(round(self._row * self._growth))
