"""Admission: a region is kept when deleting it changes a test result (RTC paper, Sec. 4.2)."""

import warnings
from dataclasses import replace

from rtc_inspector.core.errors import SandboxError
from rtc_inspector.core.languages import PYTHON, language_for
from rtc_inspector.core.types import Candidate, Item, Oracle, Outcome, Region, SourceFile, Verdict

NO_EFFECT = "deleting it changes no test result"
NO_COMPILE = "the file does not compile without it"
ADMISSION = "admission"
"""In `Item.origin` of a language other than Python: what was tried in the region's place, and noticed."""
UNTRUSTED = "its own text does not pass its tests"


def deletion(file: SourceFile, region: Region) -> str:
    """Return what stands for the deleted region: `pass` where a block of Python would be empty, else nothing."""
    if language_for(file.path) is not PYTHON:
        return ""
    from rtc_inspector.core.regions.candidates import parse_blocks  # takes half a second to load

    for block in parse_blocks(file):
        if block.indented and block.statements[0].start == region.span.start:
            return "pass" if block.statements[-1].end == region.span.end else ""
    return ""


def admit(region: Region, file: SourceFile, oracle: Oracle) -> Item:
    """Judge the file without the region: admitted when that fails, and the untouched file passes the same tests.

    Where a file of another language than Python does not build without it, a statement that fails is tried in its
    place: a program that does not build proves nothing.
    Raises SandboxError when not even the untouched file can be judged: a region dropped for that would be lost.
    """
    item = _judged(region, file, oracle)
    return replace(item, facets={"copy": "also elsewhere in the file"}) if copied(region, file) else item


def copied(region: Region, file: SourceFile) -> bool:
    """Return whether the region's lines stand once more in its file, indentation aside: then a model may copy them."""
    wanted = [line.strip() for line in region.text.splitlines() if line.strip()]
    around = (file.text[: region.span.start], file.text[region.span.end :])
    for text in around:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if any(lines[at : at + len(wanted)] == wanted for at in range(len(lines) - len(wanted) + 1)):
            return True
    return False


def _judged(region: Region, file: SourceFile, oracle: Oracle) -> Item:
    if not region.tests:
        return as_item(region, "no test covers it")
    language, how = language_for(file.path), "deleted"
    candidate = Candidate(file, region.span, deletion(file, region))
    if language is PYTHON:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(candidate.new_text, "<source>", "exec", dont_inherit=True)
        except SyntaxError:
            return as_item(region, NO_COMPILE)
    # Deleted first: most regions that are dropped are dropped for that, without a second run of tests.
    verdict = _judge(candidate, region, oracle)
    if verdict.outcome is Outcome.SYNTAX_ERROR and language.stand_in:
        how = f"replaced by `{language.stand_in}`"
        verdict = _judge(Candidate(file, region.span, language.stand_in), region, oracle)
    objection = _objection(verdict)
    if objection and verdict.outcome.judged:
        return as_item(region, objection)
    ran = tuple(result.node_id for result in verdict.tests if result.outcome != "missing")
    mistrust = _mistrust(replace(region, tests=ran or region.tests), file, oracle)
    item = as_item(region, objection or mistrust)
    return item if language is PYTHON else replace(item, origin={ADMISSION: how})


def as_item(region: Region, reason: str = "") -> Item:
    """Return the region as an item of a run; a reason means that it was dropped."""
    return Item(
        key=f"{region.path}:{region.span.start}-{region.span.end}",
        kind="region",
        path=region.path,
        span=region.span,
        start_line=region.start_line,
        end_line=region.end_line,
        text=region.text,
        tests=region.tests,
        admitted=not reason,
        reason=reason,
    )


def _objection(deleted: Verdict) -> str:
    """Return why the verdict without the region speaks against it; empty when the tests plainly failed."""
    match deleted.outcome:
        case Outcome.PASS:
            return NO_EFFECT
        case Outcome.SYNTAX_ERROR:
            return NO_COMPILE
        case Outcome.NOT_EXECUTED:
            return f"no test ran without it: {deleted.detail}"
        case Outcome.INFRASTRUCTURE:
            return f"its deletion could not be judged: {deleted.detail}"
    return ""


def _mistrust(region: Region, file: SourceFile, oracle: Oracle) -> str:
    """Say why a failure without the region proves nothing: the same tests do not pass with it. Raises SandboxError.

    They may need others to run before them, and what they do may look like tampering to the oracle. That the whole
    suite passes is known.
    """
    verdict = _judge(Candidate(file, region.span, region.text), region, oracle)
    if verdict.outcome is Outcome.PASS:
        return ""
    if verdict.outcome is Outcome.INFRASTRUCTURE:
        raise SandboxError(
            f"The unchanged {region.path} could not be judged: {verdict.detail}",
            "Give the tests more time (--test-seconds) or memory (--memory), or try the sandbox with `rtc-inspector "
            "doctor`; a run that has begun can then be resumed.",
        )
    return f"{UNTRUSTED} ({verdict.outcome}): {verdict.detail}"


def _judge(candidate: Candidate, region: Region, oracle: Oracle) -> Verdict:
    verdict = oracle.judge(candidate, region.tests, confirm=False)
    return verdict if verdict.outcome.judged else oracle.judge(candidate, region.tests, confirm=False)
