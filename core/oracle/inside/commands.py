"""Runs a project's commands in a private copy of its tree; the first process in a sandbox.

Requests come as JSON lines on standard input, one at a time; each is answered by one line. What the commands print goes
to pipes of their own: they cannot answer in this process's place.
"""

from __future__ import annotations

import base64
import contextlib
import glob
import hashlib
import json
import os
import resource
import select
import shutil
import signal
import stat
import subprocess
import sys
import time
from typing import Any
from urllib.parse import unquote, urlparse

from .child import SET_CHILD_SUBREAPER, SET_DUMPABLE, control
from .scratch import names_in, remove

assert sys.platform != "win32"  # inside a sandbox

from .supervise import kill_everything  # noqa: E402
from .zygote import Wire  # noqa: E402

_SKIPPED = frozenset([".git", ".hg", ".svn", ".venv", "venv", "__pycache__", ".tox", "target"])
"""Folders that no command needs and that may be large; `target` is cargo's, beside a Cargo.toml."""
_LINKED = 1 << 20
"""Bytes from which a file is shown by a link to the user's own, which is read-only, instead of a copy."""
_MOST_REPORTED = 32 << 20


def main() -> None:
    """Copy the tree, then serve the host until it closes the line."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # a handler, since programs inherit what is ignored
    control(SET_DUMPABLE, 0)
    control(SET_CHILD_SUBREAPER, 1)
    wire = Wire()
    config = wire.receive()
    try:
        slot = Slot(config)
    except OSError as error:
        wire.send({"ready": False, "trouble": f"{error.strerror or error}: {error.filename or config['root']}"})
        return
    wire.send({"ready": True, "tree": slot.tree, "trouble": ""})
    while True:
        request = wire.receive()
        if request["do"] == "run":
            wire.send({"done": request["id"], **slot.run(request)})


class Slot:
    """A private copy of the tree, and folders for what builds keep."""

    def __init__(self, config: dict[str, Any]) -> None:
        """Copy the project. Raises OSError."""
        self._root = config["root"]
        scratch = config["wipe"][0]
        self._wiped = config["wipe"]
        base = os.path.join(scratch, "rtc")
        self.tree = os.path.join(base, "tree", os.path.basename(self._root))
        self._build, self._runs = os.path.join(base, "build"), os.path.join(base, "runs")
        self._kept = {folder: set(names_in(folder)) | {"rtc"} for folder in self._wiped}
        self._own: set[str] = set()
        for folder in (self.tree, self._build, self._runs):
            os.makedirs(folder)
        places = {"{tree}": self.tree, "{build}": self._build, "{scratch}": scratch}
        self._environment = {name: _filled(value, places) for name, value in config["environment"].items()}
        for path, to in config["links"]:
            place = _filled(path, places)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            os.symlink(to, place)
        for path, text in config["scripts"].items():
            with open(_filled(path, places), "x", opener=lambda name, flags: os.open(name, flags, 0o755)) as script:
                script.write(_filled(text, places))
        self._left = config["most_bytes"]
        self._copy("")
        self._state = dict(self._walk())

    # ---- the copy

    def _copy(self, inside: str) -> None:
        with os.scandir(os.path.join(self._root, inside)) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        names = {entry.name for entry in entries}
        for entry in entries:
            path = os.path.join(inside, entry.name)
            if entry.name in _SKIPPED and (entry.name != "target" or "Cargo.toml" in names):
                continue
            with contextlib.suppress(PermissionError):  # left out: the commands could not read it either
                if entry.is_dir(follow_symlinks=False):
                    os.mkdir(os.path.join(self.tree, path))
                    if entry.name == "node_modules":
                        self._link_packages(path)
                    else:
                        self._copy(path)
                else:
                    self._copy_file(path, entry)

    def _copy_file(self, path: str, entry: os.DirEntry[str]) -> None:
        about, place = entry.stat(follow_symlinks=False), os.path.join(self.tree, path)
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), place)
        elif stat.S_ISREG(about.st_mode) and about.st_size < _LINKED:
            self._left -= about.st_size
            if self._left < 0:
                raise OSError(28, "it is larger than the space for its copy", path)
            shutil.copy2(entry.path, place)
            os.chmod(place, stat.S_IMODE(about.st_mode) | stat.S_IWUSR)
        elif stat.S_ISREG(about.st_mode):
            os.symlink(entry.path, place)

    def _link_packages(self, inside: str) -> None:
        """Show installed packages by links, each of them: those that lead into the project lead into the copy."""
        source, target = os.path.join(self._root, inside), os.path.join(self.tree, inside)
        for entry in os.scandir(source):
            place = os.path.join(target, entry.name)
            if entry.is_symlink():
                os.symlink(os.readlink(entry.path), place)
            elif entry.name.startswith("@") or entry.name == ".bin":
                os.mkdir(place)
                self._link_packages(os.path.join(inside, entry.name))
            elif not entry.name.startswith((".cache", ".vite")):
                os.symlink(entry.path, place)

    # ---- what commands leave

    def _walk(self) -> Any:
        """Give each file and folder of the copy with its state, but for the build tools' own."""
        pending = [""]
        while pending:
            inside = pending.pop()
            for name in names_in(os.path.join(self.tree, inside)):
                path = os.path.join(inside, name)
                if path in self._own:
                    continue
                about = os.lstat(os.path.join(self.tree, path))
                if stat.S_ISDIR(about.st_mode):
                    pending.append(path)
                    yield path, (stat.S_IFDIR, 0, 0, 0)
                else:
                    yield path, (about.st_mode, about.st_size, about.st_mtime_ns, about.st_ino)

    def _restore(self) -> list[str]:
        """Make the copy what it was; return which files of the project were not."""
        now = dict(self._walk())
        altered = sorted(path for path, state in self._state.items() if now.get(path) != state)
        for path in sorted(set(now) - set(self._state)):
            remove(self.tree, path)
        for path in altered:
            self._put_back(path)
        return altered

    def _put_back(self, path: str, data: bytes | None = None) -> None:
        """Write a file with a time of its own: build tools compare times."""
        place, source = os.path.join(self.tree, path), os.path.join(self._root, path)
        if stat.S_ISDIR(self._state[path][0]):
            os.makedirs(place, exist_ok=True)
            return
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if os.path.islink(source) and data is None:
            remove(self.tree, path)
            os.symlink(os.readlink(source), place)
        else:
            if data is None:
                with open(source, "rb") as file:
                    data = file.read()
            mode = stat.S_IMODE(self._state[path][0])
            remove(self.tree, path)
            with open(place, "xb") as file:
                file.write(data)
            os.chmod(place, mode)
        about = os.lstat(place)
        self._state[path] = (about.st_mode, about.st_size, about.st_mtime_ns, about.st_ino)

    def _settle(self) -> None:
        """Take what this run of the untouched project left for its tools' own: it stays, and is not compared."""
        now = dict(self._walk())
        self._own |= {path for path, state in self._state.items() if now.get(path, state) != state}
        for path in sorted(set(now) - set(self._state)):
            if os.path.dirname(path) not in self._own:
                self._own.add(path)
        own = tuple(self._own)
        self._state = {
            path: state
            for path, state in self._state.items()
            if not any(path == o or path.startswith(o + "/") for o in own)
        }

    # ---- a run

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run commands one after another with some files changed, until one fails; what they said and left."""
        for path, digest, data in request["changes"]:
            with open(os.path.join(self.tree, path), "rb") as file:
                if hashlib.sha256(file.read()).hexdigest() != digest:
                    return {"differs": path}
            self._put_back(path, base64.b64decode(data))
        folder = os.path.join(self._runs, os.urandom(8).hex())
        os.makedirs(folder)
        home = self._environment["HOME"]
        os.makedirs(home, exist_ok=True)
        places = {"{run}": folder, "{tree}": self.tree, "{build}": self._build}
        environment = {**self._environment, "TMPDIR": folder}
        environment.update({name: _filled(value, places) for name, value in request["environment"].items()})
        if request["trace"]:
            hook = os.path.join(self._build, "trace.cjs")
            with open(hook, "w") as script:
                script.write(_HOOK)
            environment |= {"NODE_V8_COVERAGE": folder + "/v8", "NODE_OPTIONS": f"--require {hook}"}
        for path in request["reports"]:  # of an earlier run
            for found in self._found(path, places):
                remove(self.tree, found)
        end, steps = time.monotonic() + request["total"], []
        for command in request["commands"]:
            steps.append(self._step(_filled(command, places), environment, end, request["output_bytes"]))
            if steps[-1]["exit"] != 0 or steps[-1]["killed"]:
                break
        reply = {"steps": steps, "reports": self._reports(request["reports"], places), "altered": [], "folder": folder}
        if request["trace"]:
            maps = _maps(glob.glob(folder + "/v8/*.map"))
            reply["traced"] = [_trace(file, self.tree, maps) for file in sorted(glob.glob(folder + "/v8/*.json"))]
        if request.get("settle"):
            self._settle()
        changed = {path for path, _, _ in request["changes"]}
        reply["altered"] = [path for path in self._restore() if path not in changed]
        for path in changed:
            self._put_back(path)
        for wiped in self._wiped:
            for name in set(names_in(wiped)) - self._kept[wiped]:
                remove(wiped, name)
        remove(self._runs, folder)
        return reply

    def _step(self, command: str, environment: dict[str, str], end: float, most: int) -> dict[str, Any]:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=self.tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,
        )
        assert process.stdout is not None and process.stderr is not None
        ends = {process.stdout.fileno(): Output(most), process.stderr.fileno(): Output(most >> 3)}
        outputs, killed = list(ends.values()), ""
        handle = -1  # never used: other systems have none of our sandboxes, but their types are checked
        if sys.platform == "linux":
            handle = os.pidfd_open(process.pid)
        for each in ends:
            os.set_blocking(each, False)
        while process.poll() is None:
            left = end - time.monotonic()
            if left <= 0:
                killed = "timeout"
                break
            for ready in select.select([*ends, handle], [], [], left)[0]:
                if ready != handle and not _drain(ready, ends[ready]):
                    del ends[ready]
        os.close(handle)
        # What it left running is asked nothing more; a moment for what is about to end by itself.
        kill_everything()
        process.wait()
        for each, output in ends.items():
            while _drain(each, output, once=True):
                pass
        process.stdout.close()
        process.stderr.close()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        out, err = (output.text() for output in outputs)
        seconds = time.monotonic() - began
        return {"exit": process.returncode, "killed": killed, "seconds": seconds, "cpu": used, "out": out, "err": err}

    def _found(self, path: str, places: dict[str, str]) -> list[str]:
        return sorted(glob.glob(os.path.join(self.tree, _filled(path, places)), recursive=True))

    def _reports(self, paths: list[str], places: dict[str, str]) -> list[list[str]]:
        left, found = _MOST_REPORTED, []
        for path in paths:
            texts = []
            for file in self._found(path, places):
                with contextlib.suppress(OSError), open(file, "rb") as stream:
                    texts.append(stream.read(left).decode("utf-8", "replace"))
                    left -= len(texts[-1])
            found.append(texts)
        return found


class Output:
    """The head and the tail of what a command printed."""

    def __init__(self, most: int) -> None:
        self._head, self._tail, self._most, self._cut = bytearray(), bytearray(), most, 0

    def feed(self, data: bytes) -> None:
        """Take more."""
        room = self._most - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * self._most:
            self._cut += len(self._tail) - self._most
            del self._tail[: -self._most]

    def text(self) -> str:
        """Return what is kept, a cut said in it."""
        said = f"\n[{self._cut} bytes cut]\n" if self._cut else ""
        return self._head.decode("utf-8", "replace") + said + self._tail.decode("utf-8", "replace")


def _drain(descriptor: int, output: Output, once: bool = False) -> bool:
    """Take what there is to read; False at the end, and with `once` where there is nothing just now."""
    try:
        data = os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return not once
    output.feed(data)
    return bool(data)


def _filled(text: str, places: dict[str, str]) -> str:
    for name, value in places.items():
        text = text.replace(name, value)
    return text


# ---- which lines ran, as V8 wrote it down (NODE_V8_COVERAGE)


_HOOK = """
const vm = require("node:vm"), fs = require("node:fs"), { threadId } = require("node:worker_threads")
const out = `${process.env.NODE_V8_COVERAGE}/${process.pid}-${threadId}.map`
function keep(code, options) {
  const path = typeof options === "string" ? options : options?.filename
  const at = String(code).lastIndexOf("//# sourceMappingURL=data:application/json")
  if (!path || at < 0 || path.includes("/node_modules/")) return
  const [, head, data] = code.slice(at).match(/^(.*?),(.*)$/m)
  const text = head.endsWith("base64") ? Buffer.from(data, "base64").toString() : decodeURIComponent(data)
  const lineLengths = code.split("\\n").map((line) => line.length)
  fs.mkdirSync(process.env.NODE_V8_COVERAGE, { recursive: true })
  const first = Math.max(0, -(options.columnOffset ?? 0))
  fs.appendFileSync(out, JSON.stringify([path, { lineLengths, first, data: JSON.parse(text) }]) + "\\n")
}
const { Script, runInThisContext, compileFunction } = vm
vm.Script = class extends Script { constructor(code, options) { keep(code, options); super(code, options) } }
vm.runInThisContext = (code, options) => { keep(code, options); return runInThisContext(code, options) }
vm.compileFunction = (code, names, options) => { keep(code, options); return compileFunction(code, names, options) }
require("node:module").syncBuiltinESMExports()
const { takeCoverage, stopCoverage } = require("node:v8"), { reallyExit } = process
const write = () => { takeCoverage(); stopCoverage() }
process.on("SIGTERM", () => { write(); reallyExit.call(process, 143) })
if (process.send) process.on("exit", write)
const { prototype } = require("node:child_process").ChildProcess, { kill } = prototype
prototype.kill = function (signal) {
  if (signal !== "SIGKILL" || !this.killed) return kill.call(this, signal)
  setTimeout(() => kill.call(this, signal), 20_000).unref()
  return true
}
"""
"""For runners that translate code by themselves (Vitest, Jest), of which Node keeps no source maps; they end workers by
signals, the last half a second after the first: before Node has written down what ran."""


def _maps(files: list[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        with open(file, encoding="utf-8") as lines:
            found.update((_path_of(url), mapped) for url, mapped in map(json.loads, lines))
    return found


def _trace(file: str, tree: str, maps: dict[str, dict[str, Any]]) -> list[tuple[str, dict[int, int]]]:
    """Give each file of the project that one process loaded, in that order, and whether each of its lines ran."""
    with open(file, "rb") as stream:
        data = json.load(stream)
    found: dict[str, dict[int, int]] = {}
    for script in data["result"]:
        path = _path_of(script["url"])
        if path.startswith(tree + "/") and "/node_modules/" not in path[len(tree) :]:
            ran = _characters_run(script["functions"])
            mapped = data.get("source-map-cache", {}).get(script["url"]) or maps.get(path) or {}
            if mapped.get("data"):
                for name, lines in _by_source_map(ran, mapped, path).items():
                    if name.startswith(tree + "/"):
                        found[name[len(tree) + 1 :]] = lines
            else:
                found[path[len(tree) + 1 :]] = _lines_run(ran, path)
    return list(found.items())


def _path_of(url: str) -> str:
    return unquote(urlparse(url).path) if url.startswith("file://") else url


def _characters_run(functions: list[dict[str, Any]]) -> bytearray:
    """Return whether each character ran, as V8 counts them (in UTF-16); inner ranges overrule outer ones."""
    ranges = [
        (each["startOffset"], -each["endOffset"], each["count"] > 0) for made in functions for each in made["ranges"]
    ]
    ran = bytearray(max((-end for _, end, _ in ranges), default=0))
    for start, end, did in sorted(ranges):
        ran[start:-end] = (b"\1" if did else b"\0") * (-end - start)
    return ran


def _lines_run(ran: bytearray, path: str) -> dict[int, int]:
    """Return for each line whether its first character that is not blank ran; none where another text than this did."""
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        text = file.read()
    lines, offset = dict[int, int](), 0
    if abs(len(ran) - len(text.encode("utf-16-le")) // 2) > 1:
        return lines
    for number, line in enumerate(text.split("\n"), start=1):
        first = offset + len(line) - len(line.lstrip())
        lines[number] = ran[first] if first < len(ran) else 0
        offset += len(line.encode("utf-16-le")) // 2 + 1
    return lines


_DIGITS = {
    letter: value for value, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
}


def _by_source_map(ran: bytearray, mapped: dict[str, Any], path: str) -> dict[str, dict[int, int]]:
    """Carry what ran of a generated text to the first code of each line it was made from (source map, revision 3)."""
    starts, offset = [], 0
    for length in mapped["lineLengths"]:
        starts.append(offset)
        offset += length + 1
    starts[0] += mapped.get("first", 0)  # what the runner wrote before the code
    about = mapped["data"]
    sources = [
        os.path.normpath(os.path.join(os.path.dirname(path), about.get("sourceRoot") or "", _path_of(each)))
        for each in about["sources"]
    ]
    firsts: dict[tuple[int, int], tuple[int, int]] = {}
    source = line = from_column = 0
    for number, segments in enumerate(about["mappings"].split(";")[: len(starts)]):
        column = 0
        for segment in segments.split(","):
            values = _decoded(segment)
            if len(values) < 4:
                column += values[0] if values else 0
                continue
            column, source, line = column + values[0], source + values[1], line + values[2]
            from_column += values[3]
            place = starts[number] + column
            first = from_column, ran[place] if place < len(ran) else 0
            firsts[source, line] = min(firsts.get((source, line), first), first)
    found: dict[str, dict[int, int]] = {}
    for (source, line), (_, did) in firsts.items():
        found.setdefault(sources[source], {})[line + 1] = did
    return found


def _decoded(segment: str) -> list[int]:
    values, value, shift = [], 0, 0
    for letter in segment:
        digit = _DIGITS[letter]
        value |= (digit & 31) << shift
        shift += 5
        if not digit & 32:
            values.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    return values
