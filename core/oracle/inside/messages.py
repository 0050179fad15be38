"""Tracebacks told the other way round: what went wrong, then where in the project; frames of others are left out.

Places in the project are named from its root, so that a message is the same on every machine.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import re
import sys
import traceback
from collections.abc import Iterable
from traceback import FrameSummary
from typing import List, Tuple

HEADER = "Traceback (most recent call last):"
FRAME = re.compile(r'  File "(?P<path>[^"\n]*)", line \d+')
CAUSES = {
    "The above exception was the direct cause of the following exception:": "caused by ",
    "During handling of the above exception, another exception occurred:": "while handling ",
}
MESSAGE_LIMIT = 4000
SIGNATURE = "rtc_signature"
"""Under this name a test leaves what the code it called gave: `record_property("rtc_signature", "value 3")`."""
SIGNATURE_LIMIT = 16_000
PLUGGY = re.compile(r"pluggy\.\w+").fullmatch
Part = Tuple[List[str], List[str]]  # frames, each with its lines of code; and the lines that name the exception


def read_framework() -> None:
    """Read the files of pytest that stand in every traceback, once for all forks. Those of tests are not for us."""
    for name in ("_pytest.runner", "_pytest.python", "_pytest.unittest", *filter(PLUGGY, list(sys.modules))):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file:
            linecache.getlines(file)


def signature_in(properties: Iterable[tuple[str, object]]) -> str:
    """Return what a test left under SIGNATURE, else an empty text; long ones are cut, but stay different."""
    found = [value for name, value in properties if name == SIGNATURE]
    text = found[-1] if found else ""
    if type(text) is not str:
        return ""
    if len(text) <= SIGNATURE_LIMIT:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return text[:SIGNATURE_LIMIT] + " sha256 " + digest


def shorten(text: str, limit: int) -> str:
    """Return the end of `text`, saying what was cut."""
    if len(text) <= limit:
        return text
    return "[%d characters cut]\n" % (len(text) - limit) + text[-limit:]


def relative(text: str, root: str) -> str:
    """Name the places in files below `root` from there; what an exception says stays as it is."""
    below = re.escape(root.rstrip(os.sep) + os.sep)
    return re.sub("(?m)(?:(?<=File \")|(?<=test module ')|^)" + below, "", text)


HARNESS = ("rtc_recording.py", "rtc_cells.py")
"""Files that stand in generated projects beside what people know of them: `core/oracle/bench/inside`."""


def arranged(text: str, root: str, limit: int) -> str:
    """Put the exception of a native traceback first, then the frames in files below `root`; any other text stays.

    The last exception leads and those behind it follow. What is beyond `limit` characters is cut, and said.
    """
    if not text.lstrip("\n").startswith(HEADER):
        return shorten(relative(text, root), limit)
    parts, links = _parts(text.strip("\n").split("\n"))
    texts = [_rearranged(part, root) for part in reversed(parts)]
    whole = relative(texts[0] + "".join("\n" + link + cause for link, cause in zip(reversed(links), texts[1:])), root)
    return whole if len(whole) <= limit else whole[:limit] + "\n[%d characters cut]" % (len(whole) - limit)


def message_of(error: BaseException, root: str) -> str:
    """Return what `arranged` makes of a whole traceback, without reading the code of frames that it leaves out."""
    whole = traceback.TracebackException(type(error), error, error.__traceback__, lookup_lines=False)
    parts: list[traceback.TracebackException | None] = [whole]
    for part in parts:
        if part is None or getattr(part, "exceptions", None):  # a group's text is not arranged
            continue
        own = [_is_own(frame.filename, root) for frame in part.stack]
        if any(own):
            part.stack[:] = [
                frame if kept else FrameSummary(frame.filename, frame.lineno, frame.name, lookup_line=False, line="")
                for frame, kept in zip(part.stack, own)
            ]
        parts += [part.__cause__, part.__context__]
    return arranged("".join(whole.format()), root, MESSAGE_LIMIT)


def _parts(lines: list[str]) -> tuple[list[Part], list[str]]:
    """Return the chained tracebacks in the order of the text, and how each leads to the next."""
    parts: list[Part] = []
    links = []
    for line in lines:
        if line == HEADER:
            parts.append(([], []))
        elif line in CAUSES:
            links.append(CAUSES[line])
        else:
            frames, named = parts[-1]
            if not named and FRAME.match(line):
                frames.append(line)
            elif not named and frames and line.startswith("  "):
                frames[-1] += "\n" + line
            else:
                named.append(line)
    return parts, links


def _rearranged(part: Part, root: str) -> str:
    frames, named = part
    paths = ((frame, FRAME.match(frame)) for frame in frames)
    own = [frame for frame, found in paths if found and _is_own(found.group("path"), root)] or frames
    left = len(frames) - len(own)
    note = ["[%d frame%s outside the project left out]" % (left, "" if left == 1 else "s")] if left else []
    return "\n".join(["\n".join(named).strip("\n"), *own, *note])


def _is_own(path: str, root: str) -> bool:
    harness = os.path.basename(path) in HARNESS
    return path.startswith(root + os.sep) and "site-packages" not in path and not harness
