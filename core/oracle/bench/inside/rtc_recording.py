"""Tests of a benchmark that record what the function gave. Copied into each generated project.

A test is given `candidate`, which calls the function and keeps what it gave as text. Programs whose texts agree
behave alike under that test, also where both fail it. The text becomes the property `rtc_signature` of the test.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import inspect
import itertools
import random
import re
import sys
from typing import Any, Callable, Iterable, Iterator

PROPERTY = "rtc_signature"
LONGEST = 2000
KEPT = 1500
DEEPEST = 20
MOST_ITEMS = 1000
"""Of an iterator: it may be endless."""
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
ATOMS = (bool, int, float, complex, str, bytes, type(None))
GIVEN = inspect.Signature([inspect.Parameter("record_property", inspect.Parameter.POSITIONAL_OR_KEYWORD)])
"""What a test is given: pytest asks for the fixtures that a function names, and would look through functools.wraps."""


class UNWRITTEN:
    """Stands for the function where nobody gave a reference: the tests then have nothing to say."""


def checked(function: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a test of `function` record its signature; the test is called with a recording `candidate`."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(record_property: Callable[[str, object], None]) -> None:
            __tracebackhide__ = True
            if function is UNWRITTEN:
                return
            candidate = Recording(function)
            _seed(test.__module__ + "." + test.__name__)
            try:
                test(candidate)
            except BaseException as error:
                record_property(PROPERTY, candidate.signature(error))
                raise
            record_property(PROPERTY, "pass")

        run.__signature__ = GIVEN  # type: ignore[attr-defined]
        return run

    return decorate


def _seed(name: str) -> None:
    """Some tests draw their inputs unseeded (HumanEval/38, 50, 53): every program is to meet the same ones."""
    random.seed(name)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(int(hashlib.sha256(name.encode()).hexdigest()[:8], 16))


class Recording:
    """Calls a function and keeps what each call came to."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._given: list[tuple[str, Any]] = []

    def __call__(self, *values: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        before = _copied((values, named))
        try:
            result = self._function(*values, **named)
        except BaseException as error:
            self._given.append(("error", error_text(error)))
            raise
        if is_iterator(result):  # reading it would use it up: on a failure it is made once more
            self._given.append(("again", before))
        else:
            self._given.append(("value", canon(result) + _changed(result, before, (values, named))))
        return result

    def said(self) -> str:
        if not self._given:
            return "the function was not called"
        return "the function gave " + self._text(*self._given[-1])

    def signature(self, error: BaseException) -> str:
        """Return the signature of a test that ended with `error`.

        It is what the function raised, else what it gave, call by call; the error itself where it was not called.
        """
        if isinstance(error, MemoryError):
            return "memory"
        if self._given and self._given[-1][0] == "error":
            return "error %s" % self._given[-1][1]
        if not self._given:
            return "error " + error_text(error)
        return "value " + shortened("; ".join(self._text(*given) for given in self._given))

    def _text(self, kind: str, given: Any) -> str:
        if kind != "again":
            return str(given)
        values, named = given
        try:
            return canon(self._function(*values, **named))
        except BaseException as error:
            return error_text(error)


def _copied(value: Any) -> Any:
    """A copy that the function cannot change; what cannot be copied is kept as it is."""
    values, named = value
    if all(type(one) in ATOMS for one in itertools.chain(values, named.values())):
        return value
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


def _changed(result: Any, before: Any, after: Any) -> str:
    """A function that gives nothing may have changed its arguments: then they are what it gave."""
    if result is not None or before is after:
        return ""
    changed = canon(after[0])
    return "" if changed == canon(before[0]) else " changed " + changed


def error_text(error: BaseException) -> str:
    """Type and whole message; where objects lie in memory is left out."""
    try:
        said = str(error)
    except Exception:
        said = ""
    return shortened("%s: %s" % (type(error).__name__, ADDRESS.sub("0x..", said)))


def is_iterator(value: Any) -> bool:
    """Return whether reading it uses it up."""
    return hasattr(type(value), "__next__") and hasattr(type(value), "__iter__")


def shortened(text: str) -> str:
    """A long text keeps its beginning and a hash of all of it, so that equal stays equal and unequal unequal."""
    if len(text) <= LONGEST:
        return text
    return text[:KEPT] + "... sha256 " + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canon(value: Any) -> str:
    """A text that two values share when a test could not tell them apart; `'1'` and `1` are told apart."""
    try:
        return shortened(_canon(value, ()))
    except RecursionError:
        return type(value).__name__ + " nested too deeply"


def _canon(value: Any, around: tuple[int, ...]) -> str:
    """`around`: the identities of the containers that this one stands in."""
    kind = type(value)
    if kind in (type(None), bool, str, bytes):
        return repr(value)
    if kind is int:
        return hex(value) if value.bit_length() > 10000 else repr(value)  # repr refuses very long ones
    if kind is float:
        return repr(value + 0.0)  # -0.0 + 0.0 is 0.0
    if id(value) in around or len(around) >= DEEPEST:
        return "..."
    inner = (*around, id(value))
    fields = _fields(value)
    if fields is not None:
        return "%s(%s)" % (kind.__name__, ", ".join("%s=%s" % (name, _canon(one, inner)) for name, one in fields))
    if isinstance(value, list):
        return "[%s]" % ", ".join(_each(list.__iter__(value), inner))
    if isinstance(value, tuple):
        return "(%s)" % "".join(part + ", " for part in _each(tuple.__iter__(value), inner))
    if isinstance(value, (set, frozenset)):
        return "%s{%s}" % (
            "frozenset" if isinstance(value, frozenset) else "set",
            ", ".join(sorted(_each(value, inner))),
        )
    if isinstance(value, dict):
        pairs = sorted((_canon(key, inner), _canon(one, inner)) for key, one in dict.items(value))
        return "{%s}" % ", ".join("%s: %s" % pair for pair in pairs)
    if is_iterator(value):
        return _drawn(value, inner)
    if hasattr(kind, "dtype") and hasattr(kind, "shape"):
        return _array(value, inner)
    if hasattr(kind, "dtypes") and hasattr(kind, "columns"):
        return "%s %s" % (kind.__name__, _canon(value.to_dict("list"), inner))
    return "%s %s" % (kind.__name__, ADDRESS.sub("0x..", _repr(value)))


def _each(values: Iterable[Any], inner: tuple[int, ...]) -> Iterator[str]:
    return (_canon(value, inner) for value in values)


def _fields(value: Any) -> Any:
    """Names and values of a dataclass or named tuple; None for all else."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name, None)) for field in dataclasses.fields(value)]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(zip(value._fields, tuple.__iter__(value)))
    return None


def _drawn(value: Any, inner: tuple[int, ...]) -> str:
    """Return the text of what an iterator gives, up to a thousand of it; close it where it can be closed."""
    parts = list(_each(itertools.islice(value, MOST_ITEMS), inner))
    more = ", ..." if len(parts) == MOST_ITEMS else ""
    if hasattr(value, "close"):
        value.close()
    return "iterator [%s%s]" % (", ".join(parts), more)


def _array(value: Any, inner: tuple[int, ...]) -> str:
    """Return the text of an array of numpy or pandas; that of a single number is like Python's own."""
    if value.shape == () and hasattr(value, "item"):
        return _canon(value.item(), inner)
    content = _canon(value.tolist(), inner)
    return "%s %s %s %s" % (type(value).__name__, value.shape, value.dtype, content)


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception as error:
        return "without repr (%s)" % type(error).__name__


# --------------------------------------------------------------------------- expected values of a reference


def reference(source: str, entry: str) -> Callable[..., Any]:
    """The function of the reference, in a namespace of its own; it gets copies, so that inputs stay as they are."""
    space: dict[str, Any] = {"__name__": "reference"}
    exec(compile(source, "<reference>", "exec"), space)
    function = space[entry]

    def expected(*values: Any) -> Any:
        return function(*copy.deepcopy(values))

    return expected


def near(given: Any, expected: Any, tolerance: float) -> Any:
    """`expected` where `given` is as near to it as is asked for, else `given` itself, to be compared as it is.

    Floats are compared to a millionth where no tolerance is asked for, as EvalPlus does.
    """
    if type(given) in (int, float) and type(expected) in (int, float):
        room = tolerance or (1e-6 if type(expected) is float else 0)
        same = given == expected or abs(given - expected) <= room or (given != given and expected != expected)
        return expected if same else given
    if type(given) is type(expected) and type(given) in (list, tuple) and len(given) == len(expected):
        return type(given)([near(one, other, tolerance) for one, other in zip(given, expected)])
    return given
