"""Commands that install what is missing: an extra's packages, or a system's, by the names they have there."""

import platform
import sys
from importlib.util import find_spec

BUBBLEWRAP = {"apt-get": "bubblewrap", "dnf": "bubblewrap", "pacman": "bubblewrap"}
QT = {
    "apt-get": "libegl1 libgl1 libxkbcommon-x11-0 libfontconfig1 libdbus-1-3 libxcb-cursor0 libxcb-icccm4 "
    "libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxcb-shape0 libxcb-xkb1",
    "dnf": "libglvnd-egl libglvnd-glx libxkbcommon-x11 fontconfig dbus-libs xcb-util-cursor xcb-util-wm xcb-util-image "
    "xcb-util-keysyms xcb-util-renderutil",
    "pacman": "libglvnd libxkbcommon-x11 fontconfig dbus xcb-util-cursor xcb-util-wm xcb-util-image xcb-util-keysyms "
    "xcb-util-renderutil",
}
"""What Qt needs of the system, by the program that installs it there."""
_INSTALLS = {"apt-get": "apt-get install -y", "dnf": "dnf install -y", "pacman": "pacman -S --needed"}
_FAMILIES = {"fedora": "dnf", "rhel": "dnf", "arch": "pacman"}


def system_install(packages: dict[str, str]) -> str:
    """Return the command that installs packages of the system, on Debian's relatives, Fedora's and Arch's."""
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        system = {}
    families = [system.get("ID", ""), *system.get("ID_LIKE", "").split()]
    program = next((_FAMILIES[each] for each in families if each in _FAMILIES), "apt-get")
    return f"sudo {_INSTALLS[program]} {packages[program]}"


def install_command(extra: str) -> str:
    """Return the command that installs what our `extra` needs, quoted for every shell.

    It names the packages themselves: neither a checkout nor a wheel of ours is on an index.
    """
    return " ".join([pip_install(), *(f'"{each}"' for each in needed_by(extra))])


def pip_install() -> str:
    """Return how packages are installed beside this program: environments that uv made have no pip of their own."""
    return f'"{sys.executable}" -m pip install' if find_spec("pip") else f'uv pip install --python "{sys.executable}"'


def needed_by(extra: str) -> list[str]:
    """Return the requirements of an extra as pip takes them; empty where this is not installed."""
    from importlib.metadata import PackageNotFoundError, requires  # needed where something is missing alone

    from packaging.requirements import Requirement

    try:
        listed = map(Requirement, requires("rtc-inspector") or ())
    except PackageNotFoundError:
        return []
    return [
        str(each).partition(";")[0].strip()
        for each in listed
        if "extra" in str(each.marker) and each.marker and each.marker.evaluate({"extra": extra})
    ]
