"""What a test command says of its tests: read from a report file or from what it printed."""

import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from xml.etree import ElementTree

from rtc_inspector.core.types import TestResult

NAMED = ("junit", "json", "go-json", "tap", "cargo")
"""Forms that tell of each test by its name; of others only counts are known, as far as they are printed."""
_MOST = 4000  # characters of a message that are kept


def read_results(form: str, out: str, err: str, reports: Sequence[str]) -> tuple[TestResult, ...]:
    """Return each named test; none where nothing can be read. Raises ValueError for a report in another form."""
    found = _READERS[form](out, err, reports) if form in _READERS else iter(())
    return tuple(replace(each, message=each.message[:_MOST]) for each in found)


def _junit(out: str, err: str, reports: Sequence[str]) -> Iterator[TestResult]:
    for text in reports:
        try:
            root = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise ValueError(f"is not XML ({error})") from error
        if root.tag not in ("testsuites", "testsuite"):
            raise ValueError(f"is no JUnit XML: it begins with <{root.tag}>")
        for case in root.iter("testcase"):
            name = " > ".join(filter(None, (case.get("classname", ""), case.get("name", ""))))
            bad = next((case.find(kind) for kind in ("failure", "error") if case.find(kind) is not None), None)
            outcome = "passed" if case.find("skipped") is None else "skipped"
            message = ""
            if bad is not None:
                outcome = "failed" if bad.tag == "failure" else "error"
                message = "\n".join(filter(None, (bad.get("message", ""), (bad.text or "").strip())))
            yield TestResult(f"{case.get('file', '')}::{name}", outcome, message, _number(case.get("time", "0")))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def _jest(out: str, err: str, reports: Sequence[str]) -> Iterator[TestResult]:
    """Read the JSON of Jest and Vitest."""
    for text in reports:
        try:
            files = json.loads(text)["testResults"]
            for file in files:
                for case in file["assertionResults"]:
                    outcome = {"passed": "passed", "failed": "failed"}.get(case["status"], "skipped")
                    message = "\n".join(case.get("failureMessages") or ())
                    seconds = (case.get("duration") or 0) / 1000
                    yield TestResult(f"{file['name']}::{case['fullName']}", outcome, message, seconds)
                if file["status"] == "failed" and not file["assertionResults"]:
                    yield TestResult(f"{file['name']}::", "error", file.get("message") or "")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError("is not the JSON that Jest writes") from error


def _go(out: str, err: str, reports: Sequence[str]) -> Iterator[TestResult]:
    said: dict[tuple[str, str], list[str]] = {}
    for line in out.splitlines():
        try:
            event = json.loads(line) if line.startswith("{") else {}
        except ValueError:
            continue
        key = str(event.get("Package", "")), str(event.get("Test", ""))
        if event.get("Action") == "output":
            said.setdefault(key, []).append(str(event.get("Output", "")))
        elif event.get("Action") in ("pass", "fail", "skip") and key[1]:
            outcome = {"pass": "passed", "fail": "failed", "skip": "skipped"}[event["Action"]]
            message = "".join(said.pop(key, ())).strip() if outcome == "failed" else ""
            yield TestResult(f"{key[0]}::{key[1]}", outcome, message, float(event.get("Elapsed", 0)))


# ---- TAP, with the subtests of Node and of tap

_POINT = re.compile(r"(?P<indent> *)(?P<bad>not )?ok\b ?\d*(?: -)? ?(?P<name>.*?)(?P<opens> \{)?$")
_DIRECTIVE = re.compile(r"\s+# (?P<word>SKIP|TODO|time=\S+)(?P<why>.*)$", re.IGNORECASE)


def _tap(out: str, err: str, reports: Sequence[str]) -> Iterator[TestResult]:
    pending: dict[int, list[TestResult]] = {}
    opened: list[tuple[int, TestResult]] = []
    blocks: list[str] | None = None
    indent, single = 0, False
    for line in (*out.splitlines(), *(line for text in reports for line in text.splitlines())):
        stripped = line.strip()
        if blocks is not None:  # the details of the last point, in YAML
            if stripped == "...":
                if single:
                    pending[indent][-1] = _with_details(pending[indent][-1], blocks)
                blocks = None
            else:
                blocks.append(line)
            continue
        if stripped == "---" and pending:
            blocks = []
            continue
        if stripped.startswith("Bail out!"):
            pending.setdefault(0, []).append(TestResult("::", "error", stripped))
        if stripped == "}" and opened:
            indent, parent = opened.pop()
            single = _close(pending, indent, parent)
            continue
        found = _POINT.match(line)
        if found is None:
            continue
        indent = len(found["indent"]) // 4
        point = _point(found)
        if found["opens"]:
            opened.append((indent, point))
        else:
            single = _close(pending, indent, point)
    for depth in sorted(pending, reverse=True):
        yield from pending[depth]


def _close(pending: dict[int, list[TestResult]], depth: int, point: TestResult) -> bool:
    """Take a point, and return whether it is a test: else it holds those told of before it, one step further in."""
    inner = pending.pop(depth + 1, [])
    mine = pending.setdefault(depth, [])
    name = point.node_id[2:]
    if inner and name == "timeout!":  # tap's limit for a file, in the place of a name: what is inside has lost its own
        mine.append(point)
        return False
    if not inner:
        mine.append(point)
        return True
    mine += [replace(each, node_id=f"::{name} > {each.node_id[2:]}") for each in inner]
    if point.outcome == "failed" and all(each.outcome in ("passed", "skipped") for each in inner):
        mine.append(point)
    return False


def _point(found: re.Match[str]) -> TestResult:
    name, outcome, seconds = found["name"], "failed" if found["bad"] else "passed", 0.0
    while directive := _DIRECTIVE.search(name):
        name = name[: directive.start()]
        if directive["word"].upper() in ("SKIP", "TODO"):
            outcome = "skipped"
        else:
            seconds = _number(directive["word"].removeprefix("time=").removesuffix("ms")) / 1000
    return TestResult("::" + name.strip(), outcome, "", seconds)


_MILLISECONDS = re.compile(r"^\s*duration_ms: ([\d.]+)$", re.MULTILINE)


_ERROR = re.compile(
    r"^(?:error|message): *(?:\|-?\n(?P<block>(?:[ \t]+.*\n?|\n)+)|['\"]?(?P<line>.*?)['\"]?$)", re.MULTILINE
)
"""What went wrong, in the YAML of TAP."""


def _with_details(point: TestResult, block: Sequence[str]) -> TestResult:
    text = textwrap.dedent("\n".join(block))
    took, error = _MILLISECONDS.search(text), _ERROR.search(text)
    seconds = float(took[1]) / 1000 if took else point.seconds
    if point.outcome != "failed":
        return replace(point, seconds=seconds)
    # The error in one line, and all else further in: a message is known by the line that stands out.
    head = " ".join((error["block"] or error["line"]).split()) if error else "The test failed:"
    return replace(point, seconds=seconds, message=f"{head}\n{textwrap.indent(text.strip(), '  ')}")


# ---- cargo's lines

_CARGO = re.compile(r"^test (?P<name>.+?) \.\.\. (?P<outcome>ok|FAILED|ignored)\b", re.MULTILINE)
_CARGO_SAID = re.compile(
    r"^---- (?P<name>.+?) stdout ----\n(?P<text>.*?)(?=^---- |^failures:|\Z)", re.MULTILINE | re.DOTALL
)


def _cargo(out: str, err: str, reports: Sequence[str]) -> Iterator[TestResult]:
    said: Mapping[str, str] = {each["name"]: each["text"].strip() for each in _CARGO_SAID.finditer(out)}
    for each in _CARGO.finditer(out):
        outcome = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}[each["outcome"]]
        yield TestResult(f"::{each['name']}", outcome, said.get(each["name"], "") if outcome == "failed" else "")


_READERS: Mapping[str, Callable[[str, str, Sequence[str]], Iterator[TestResult]]] = {
    "junit": _junit,
    "json": _jest,
    "go-json": _go,
    "tap": _tap,
    "cargo": _cargo,
}


# ---- what runners print in the end

_PASSED = re.compile(
    r"^[#\s]*pass(?:ed|ing)?:?\s+(\d+)\b|\b(\d+) (?:tests? )?pass(?:ed|ing)?\b"
    r"|^OK \((\d+) tests?|\b(\d+) (?:examples|runs), ",
    re.MULTILINE | re.IGNORECASE,
)
_COLOURS = re.compile(r"\x1b\[[\d;]*m")


def passed_count(out: str, err: str) -> int | None:
    """Return how many tests passed, by what the runner printed; None where it prints no such number.

    Runners may print one for each part, as cargo does, and tests beside files: all of them are added up.
    """
    found = [next(filter(None, each)) for each in _PASSED.findall(_COLOURS.sub("", f"{out}\n{err}"))]
    return sum(map(int, found)) if found else None
