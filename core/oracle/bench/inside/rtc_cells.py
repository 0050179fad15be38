"""Tests of a notebook cell: it does what the original does. Copied into each generated project.

The cells before it and the original run first, then the same cells and the candidate; the values that either shows, the
names that later cells read, and what is printed are compared.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib.util
import io
import random
import signal
import sys
from typing import Any

from rtc_recording import canon, near, shortened  # type: ignore[import-not-found]  # stands beside it there

assert sys.platform != "win32"  # inside a sandbox

LIMIT = 30.0
"""Seconds that a cell may take together with those before it."""
NO_END = "not done after %d s" % LIMIT
ENDLESS: list[list[str]] = []
"""Beginnings of notebooks that did not end."""


class Ran:
    """What code came to in a namespace: `value` of a last expression, `names` it left, `printed` text."""

    def __init__(self, space: dict[str, Any], code: str, path: str) -> None:
        """Run it; what is drawn at random is the same each time."""
        random.seed(0)
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        self.value = None
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, path, "exec"), space)
            if isinstance(last, ast.Expr):
                self.value = eval(compile(ast.Expression(last.value), path, "eval"), space)
        self.names = space
        self.printed = printed.getvalue()


def behind(context: str, code: str, path: str) -> Ran:
    """The code run behind the cells before it."""
    return Ran(Ran({"__name__": "__main__"}, context, path).names, code, path)


def candidate_of(module: str, context: str) -> str:
    """The cell as it is to be judged: what stands behind the context in the module's file."""
    spec = importlib.util.find_spec(module)
    loader: Any = spec.loader if spec is not None else None
    text = str(loader.get_data(spec.origin).decode("utf-8") if spec is not None else "")
    if not text.startswith(context):
        exec(compile(text, module, "exec"), {})  # an error that was put there to see whether it is noticed
        raise AssertionError("the cells before this one were changed")
    return text[len(context) :]


@functools.lru_cache(maxsize=None)
def both(module: str, context: str, original: str) -> tuple[Ran, Ran]:
    """The original and the candidate, each behind cells of its own."""
    return original_of(module, context, original), behind(context, candidate_of(module, context), module)


def original_of(module: str, context: str, original: str) -> Ran:
    """The original behind its cells. Raises TimeoutError where they do not end, which would hold up all others.

    Nothing that comes after such a statement is tried again.
    """
    lines = statements(context + "\n" + original)
    if any(lines[: len(start)] == start for start in ENDLESS):
        raise TimeoutError(NO_END)
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, LIMIT, 1)
    try:
        return behind(context, original, module)
    except TimeoutError as error:
        if NO_END in error.args:
            ENDLESS.append(statements(what_had_run(error, context)))
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _ring(number: int, frame: object) -> None:
    raise TimeoutError(NO_END)


def what_had_run(error: BaseException, context: str) -> str:
    """The code up to the statement that was at work when the error came."""
    step: Any = error.__traceback__
    while step.tb_frame.f_code is not Ran.__init__.__code__:
        step = step.tb_next
    code = step.tb_frame.f_locals["code"]
    before = "" if code is context else context + "\n"
    return before + "\n".join(code.split("\n")[: step.tb_next.tb_lineno])


def statements(code: str) -> list[str]:
    """Its lines without comments and blank ones, by which a cell differs from the same cell in a context."""
    return [line for line in code.split("\n") if line.strip() and not line.lstrip().startswith("#")]


def text_of(value: Any) -> str:
    """For the record."""
    return str(canon(value))


def same(first: Any, second: Any) -> bool:
    """Equal as far as can be shown; numbers to a millionth, also in frames, whose columns may stand in any order."""
    if canon(first) == canon(second):
        return True
    first, second = plain(first), plain(second)
    return bool(canon(near(second, first, 1e-6)) == canon(first))


def plain(value: Any) -> Any:
    """Frames and arrays as lists."""
    if hasattr(type(value), "columns") and hasattr(value, "to_dict"):
        return [[str(name), list(value[name].tolist())] for name in sorted(value.columns, key=str)]
    return value.tolist() if hasattr(type(value), "dtype") and hasattr(value, "tolist") else value


def check_value(ran: tuple[Ran, Ran], record: Any) -> None:
    """The value that the last expression shows."""
    record("rtc_signature", "value " + text_of(ran[1].value))
    assert same(ran[0].value, ran[1].value), "the cell showed " + text_of(ran[1].value)


def check_name(ran: tuple[Ran, Ran], name: str, later: str, record: Any) -> None:
    """A name that later cells read. Functions and classes are known by what those cells make of them."""
    assert name in ran[1].names, "the cell did not bind " + name
    values = [each.names[name] for each in ran]
    if all(callable(value) for value in values):
        first, second = (Ran(dict(each.names), later, "later") for each in ran)
        values = [(each.value, each.printed) for each in (first, second)]
    record("rtc_signature", "value " + text_of(values[1]))
    assert same(values[0], values[1]), "the cell set " + name + " to " + text_of(values[1])


def check_printed(ran: tuple[Ran, Ran], record: Any) -> None:
    """Record what the cell printed; where the original prints, raise AssertionError unless both print the same."""
    record("rtc_signature", "value " + shortened(repr(ran[1].printed)))
    assert not ran[0].printed or ran[0].printed == ran[1].printed, "the cell printed " + repr(ran[1].printed[:500])
