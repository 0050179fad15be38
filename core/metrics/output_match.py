"""Whether two programs behave alike under the same tests (IdentityChain, Sec. 4: TOM, P/FM and the classes).

A test's output is its signature: `pass`, `value ...`, `error ...`, or why there is none. Two programs match on a test
when both pass it, or when they fail it in the same way; what took too long, used too much memory or never ran matches
nothing.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum

UNSTABLE = "unstable"
"""Output of a test under which the same program behaved differently twice: it says nothing of two programs."""
MATCHLESS = frozenset({"timeout", "memory", "crash", "missing"})


class Class(StrEnum):
    """The fate of passing all tests from one program of a chain to the next."""

    PASS_PASS = "pass-pass"
    PASS_FAIL = "pass-fail"
    FAIL_FAIL = "fail-fail"
    FAIL_PASS = "fail-pass"


class Lost(StrEnum):
    """The pass that lost the meaning at the first break of a chain, as two models that were crossed there tell."""

    WORDS = "the description"
    CODE = "the program written from it"
    BETWEEN = "between the two"
    BOTH = "in neither alone"


def lost_in(read_by_second: float, described_by_second: float) -> Lost:
    """Return which pass erred, by TOM with the program before the break.

    `read_by_second`: of the program that the second model wrote from the first one's words: 1 shows that nothing was
    missing in them. `described_by_second`: of the program that the first model wrote from the second one's words: 1
    shows that it can write it. Where both are 1, each pass works with another partner; where none is, nothing is shown.
    """
    names = {(True, False): Lost.CODE, (False, True): Lost.WORDS, (True, True): Lost.BETWEEN}
    return names.get((read_by_second == 1.0, described_by_second == 1.0), Lost.BOTH)


def match(one: str, other: str) -> bool:
    """Return whether two outputs of one test are alike; `one` and `other` are signatures."""
    return one == other and one not in MATCHLESS


def matches(one: Mapping[str, str], other: Mapping[str, str]) -> dict[str, bool]:
    """Return whether two programs match, by each test that says something about them, in the order of `one`."""
    outputs = {test: (output, other.get(test, "missing")) for test, output in one.items()}
    return {test: match(*both) for test, both in outputs.items() if UNSTABLE not in both}


def tom(one: Mapping[str, str], other: Mapping[str, str]) -> float | None:
    """Return test output match: the share of tests under which two programs behave alike; None without a test."""
    found = matches(one, other)
    return sum(found.values()) / len(found) if found else None


def class_of(before: bool, after: bool) -> Class:
    """Return the class of a step by whether the programs before and after it pass every test."""
    names = {True: "pass", False: "fail"}
    return Class(f"{names[before]}-{names[after]}")


def kept(toms: Iterable[float | None], steps: int, fixed_after: int | None) -> list[bool | None]:
    """Return sc_1 .. sc_steps of one chain: whether the meaning was kept up to each step; None where not known yet.

    `toms` are TOM_0, TOM_1 ... as far as they are known. `fixed_after`: the step at which the chain began to repeat
    itself, after which every further step keeps the meaning.
    """
    values = list(toms)
    found: list[bool | None] = []
    so_far: bool | None = True
    for step in range(1, steps + 1):
        if so_far and not (fixed_after is not None and step > fixed_after):
            value = values[step - 1] if step <= len(values) else None
            so_far = None if value is None else value == 1.0
        found.append(so_far)
    return found
