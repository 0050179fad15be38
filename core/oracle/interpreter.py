"""The target's interpreter: which one, and what it needs to be seen of the file system."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rtc_inspector import resources
from rtc_inspector.core.errors import SandboxError, TargetError
from rtc_inspector.core.oracle.bench.project import is_generated
from rtc_inspector.core.oracle.sandbox.protocol import Launch, Limits, Sandbox
from rtc_inspector.core.syntax import parse

VIRTUAL_ENVIRONMENTS = (".venv", "venv", "env")
OLDEST = (3, 8)
PATIENCE = 30.0

QUESTION = """
import json, sys, sysconfig
print(json.dumps({
    "version": list(sys.version_info[:3]), "implementation": sys.implementation.cache_tag,
    "prefixes": [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix],
    "platlib": sysconfig.get_path("platlib"), "purelib": sysconfig.get_path("purelib"),
    "path": sys.path, "stdlib": sysconfig.get_path("stdlib"), "executable": sys.executable,
}))
"""
"""Asked without `site`, so that no line of a .pth file runs outside the sandbox."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python that can run the target's tests."""

    executable: Path  # as the user or the virtual environment names it; links are not resolved
    version: tuple[int, int, int]
    tag: str  # the cache tag, e.g. `cpython-311`: extension modules fit when it is equal
    site_folders: tuple[Path, ...]
    editable: tuple[Path, ...]  # folders and files that .pth files and editable installs lead to
    readonly: tuple[Path, ...]  # everything a sandbox must show for it to start

    @property
    def version_text(self) -> str:
        return ".".join(map(str, self.version))


def find_interpreter(root: Path, chosen: str | None, notice: Callable[[str], None]) -> Interpreter:
    """Find the chosen one, else the project's own virtual environment's, else ours. Raises TargetError."""
    if chosen is not None:
        return describe(_resolve(chosen))
    for name in VIRTUAL_ENVIRONMENTS:
        executable = root / name / "bin" / "python"
        if executable.exists():
            return describe(executable)
    if is_generated(root):
        notice(f"Its code runs with {sys.executable}; --python names another interpreter.")
    elif root.resolve() != resources.path("demo").resolve():  # the bundled project needs nothing but pytest
        notice(f"The project has no virtual environment of its own: its tests run with {sys.executable}.")
    return describe(Path(sys.executable))


def _resolve(chosen: str) -> Path:
    path = Path(chosen).expanduser()
    if path.is_dir() and (path / "bin" / "python").exists():
        return (path / "bin" / "python").absolute()
    if path.is_file():
        return path.absolute()
    found = shutil.which(chosen)
    if found is None:
        raise TargetError(
            f"There is no Python interpreter at {chosen}.",
            "Give the path of a Python executable, or leave the option out to use the project's own.",
        )
    return Path(found)


def describe(executable: Path) -> Interpreter:
    """Ask the interpreter about itself. Raises TargetError: not runnable, not Python, too old."""
    answer = _ask(executable)
    major, minor, micro = map(int, answer["version"])
    if (major, minor) < OLDEST:
        raise TargetError(
            f"{executable} is Python {major}.{minor}, which is too old.",
            "Choose an interpreter of version 3.8 or later for the project's tests.",
        )
    folders = (executable.parent, executable.parent.parent)
    home = next((folder for folder in folders if (folder / "pyvenv.cfg").is_file()), None)  # of a virtual environment
    sites = tuple(dict.fromkeys(folder for folder in _site_folders(home, answer) if folder.is_dir()))
    editable = tuple(dict.fromkeys(path for folder in sites for path in _editable(folder)))
    wanted = [*_links(executable), *map(Path, answer["prefixes"]), Path(answer["stdlib"]), *sites, *editable]
    wanted += [home] if home is not None else []
    readonly = tuple(dict.fromkeys(path for path in wanted if path.exists() and path != Path("/")))
    return Interpreter(executable, (major, minor, micro), answer["implementation"], sites, editable, readonly)


def _ask(executable: Path) -> dict[str, Any]:
    command = [str(executable), "-I", "-S", "-B", "-c", QUESTION]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, text=True, check=True)
        answer: dict[str, Any] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise TargetError(
            f"{executable} does not answer as a Python interpreter does ({type(error).__name__}).",
            "Choose another interpreter for the project's tests.",
        ) from error
    return answer


def _links(executable: Path) -> Iterator[Path]:
    """Yield the executable, and the folder of each link on the way to the real one."""
    step = executable
    for _ in range(20):
        yield step
        if not step.is_symlink():
            return
        step = Path(os.path.normpath(step.parent / step.readlink()))


def _site_folders(home: Path | None, answer: dict[str, Any]) -> Iterator[Path]:
    version = f"python{answer['version'][0]}.{answer['version'][1]}"
    if home is not None:
        yield from (home / lib / version / "site-packages" for lib in ("lib", "lib64"))
        text = (home / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace")
        if re.search(r"(?im)^include-system-site-packages\s*=\s*true", text) is None:
            return
    yield from map(Path, (answer["platlib"], answer["purelib"]))
    for prefix in answer["prefixes"]:
        yield from (Path(prefix) / "lib" / name / "dist-packages" for name in (version, "python3"))
        yield Path(prefix) / "local" / "lib" / version / "dist-packages"
        yield Path(prefix) / "lib" / version / "site-packages"


def _editable(site: Path) -> Iterator[Path]:
    """Return the existing paths to which .pth files, egg links and generated finders of editable installs lead."""
    found: list[Path] = []
    for file in sorted(site.glob("*.pth")) + sorted(site.glob("*.egg-link")):
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        starts = ("#", "import ", "import\t")
        found += [site / line.strip() for line in lines if line.strip() and not line.startswith(starts)]
    for file in sorted(site.glob("__editable__*_finder.py")):
        found += map(Path, _mapping(file))
    return (path for path in found if path.is_absolute() and path.exists())


def _mapping(finder: Path) -> Iterator[str]:
    """Yield the folders in a setuptools finder's MAPPING, read without running it."""
    try:
        tree = parse(finder.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, OSError):
        return
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if value is not None and any(getattr(target, "id", "") == "MAPPING" for target in targets):
            yield from map(str, ast.literal_eval(value).values())


def interpreter_of_image(sandbox: Sandbox, chosen: str | None) -> Interpreter:
    """Ask inside for `chosen`, a path or name there, else for the first Python on the image's own path.

    Nothing of the host is shown for it. Raises TargetError, SandboxError.
    """
    remedy = "Name an image with Python 3.8 or later, or give the path of its interpreter inside with --python."
    for name in (chosen,) if chosen is not None else ("python3", "python"):
        answer = _ask_inside(sandbox, name)
        if answer is None:
            continue
        major, minor, micro = map(int, answer["version"])
        if (major, minor) < OLDEST:
            raise TargetError(f"The image's {name} is Python {major}.{minor}, which is too old.", remedy)
        return Interpreter(Path(answer["executable"]), (major, minor, micro), answer["implementation"], (), (), ())
    raise TargetError(f"The image has no Python interpreter called {chosen or 'python3'}.", remedy)


def _ask_inside(sandbox: Sandbox, name: str) -> dict[str, Any] | None:
    """Ask; None where there is no such program, or it does not answer as Python does. Variables are the image's own."""
    limits = Limits(memory_mib=512, processes=16, scratch_mib=16)
    launch = Launch((name, "-I", "-S", "-B", "-c", QUESTION), "/", (), {}, limits)
    try:
        with closing(sandbox.start(launch)) as process:
            answer: dict[str, Any] = json.loads(process.stdout.read())
    except (SandboxError, ValueError):
        return None
    return answer
