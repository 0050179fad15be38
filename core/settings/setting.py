"""One setting, described once: its command-line option, its row in the run dialog and its check come from that.

A field of a settings class (`core/settings/`) has type and default as any dataclass has; `setting()` adds the rest.

    steps: int = setting(5, "Steps | how often a program is described and written again", most=100)
"""

import dataclasses
import json
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache, partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.settings.words import read_words

MOST = 1_000_000_000  # more of anything is a slip, and what stores or measures it might not hold the number
Form = Literal["", "file", "folder", "program", "day", "ending", "json", "words"]
SIGNS: Mapping[Form, str] = {
    **{"file": "FILE", "folder": "FOLDER", "program": "EXE", "day": "DATE"},
    **{"ending": ".EXT", "words": "FILE"},
}
"""What a value of that form is called in `--help`."""
T = TypeVar("T")
P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Setting:
    """The description of a field besides its type and default."""

    # `label | help | unset`: of its row in the run dialog; what it says, a phrase without the default; what no value
    # means (None, an empty text or list), where there can be none
    words: str
    # its name on the command line where that is not the field's own; `-` where none is its own. The option of a switch
    # that is on by default turns it off
    option: str = ""
    sign: str = ""  # the name of the value in `--help`, where its form does not tell
    # `least`, `most`: bounds of a number, both allowed
    least: float = 1
    most: float = MOST
    below: str = ""  # path of a number that it may not exceed
    choices: Mapping[str, str] = field(default_factory=dict)  # the values there are, with words for each
    # how a text is read: a `file` or `folder` (made absolute), a `program`, a `day` (YYYY-MM-DD), the `ending` of a
    # file name (`py` and `*.py` mean `.py`; a whole name such as `Makefile` stays), a `json` object, or the `words` of
    # prompts (the text of a file, or its name)
    form: Form = ""
    names: tuple[str, ...] = ()  # texts that are no file though the form is `file`
    same_row: str = ""  # words before the field where it shares the row of the field before it
    needs: str = ""  # path of the switch without which it says nothing; whoever gives its option turns that on
    unless: str = ""  # path of a setting beside which it says nothing
    # says how fast a run goes, not what comes of it: it may be another one when the run is resumed
    resumable: bool = False
    rare: bool = False  # shown in the dialog only among all settings
    cautions: Mapping[str, str] = field(default_factory=dict)  # by value, what is dangerous about it

    @property
    def label(self) -> str:
        return self.words.split(" | ")[0]

    @property
    def help(self) -> str:
        return self.words.split(" | ")[1]

    @property
    def unset(self) -> str:
        return "".join(self.words.split(" | ")[2:])


def _field_of(make: Callable[P, Setting]) -> Callable[Concatenate[T, P], T]:
    """Return a function typed by `Setting` itself, so that what it takes is said there alone."""

    def declare(default: T, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return field(default=default, metadata={"about": make(*args, **kwargs)})

    return declare


setting = _field_of(Setting)  # a field of a settings class: its default, then what `Setting` takes


def part(settings: type[T], title: str) -> T:
    """Declare a field that holds settings of its own, under a title in the dialog and in `--help`."""
    return field(default_factory=settings, metadata={"title": title})


@dataclass(frozen=True, slots=True)
class Described:
    """A setting in its place: `path` is `seed`, or with its part `chain.steps`; `kind`: the type of one value."""

    path: str
    title: str
    kind: type[Any]
    many: bool
    optional: bool
    default: Any
    about: Setting

    @property
    def option(self) -> str:
        """Return the setting's option on the command line; empty where no option stands for it alone."""
        given = self.about.option or "--" + self.path.rpartition(".")[2].replace("_", "-")
        return "" if given == "-" else given

    @property
    def opposite(self) -> str:
        """Return the option that turns a switch back to its default; empty for what is no switch."""
        if self.kind is not bool:
            return ""
        return f"--{self.option[5:]}" if self.option.startswith("--no-") else f"--no-{self.option[2:]}"

    def read(self, text: str) -> Any:
        """Return the value that a person wrote. Raises ValueError, with what is wrong."""
        about = self.about
        if self.kind in (int, float):
            try:
                value = self.kind(text) if len(text) < 32 else None
            except ValueError:
                value = None
            if value is None or not about.least <= value <= about.most:
                raise ValueError(f"{text!r} is not {self._bounds()}")
            return value
        if about.form == "day" and not _is(lambda: len(text) == 10 and date.fromisoformat(text)):
            raise ValueError(f"{text!r} is not a date: write it as YYYY-MM-DD")
        if about.form == "json" and text and not _is(lambda: isinstance(json.loads(text), dict)):
            raise ValueError(f'{text!r} is not a JSON object: write it as {{"name": value}}')
        if about.form in ("file", "folder") and text not in about.names:
            return str(Path(text).expanduser().resolve())
        if about.form == "words":
            return read_words(text)
        if about.form == "ending":
            word = text.removeprefix("*")
            return word if word.startswith(".") or word[:1].isupper() else f".{word}"
        if about.choices and text not in about.choices:
            raise ValueError(f"{text!r} is none of {', '.join(about.choices)}")
        return text

    def problem(self, value: Any) -> str:
        """Return what is wrong with a value, for people; empty when nothing is."""
        if value is None:
            return "" if self.optional else f"{self.path} needs a value"
        try:
            if self.kind is not bool:
                for each in value if self.many else (value,):
                    self.read(str(each))
        except ValueError as error:
            return f"{self.about.label or self.path}: {error}"
        return ""

    def _bounds(self) -> str:
        what = "a whole number" if self.kind is int else "a number"
        least, most = (f"{bound:,}" for bound in (self.about.least, self.about.most))
        if self.about.most == MOST:
            return f"{what} of at least {least} (and at most {most})"
        return f"{what} from {least} to {most}"


@cache
def described(settings: type, prefix: str = "", title: str = "") -> Mapping[str, Described]:
    """Return every described setting of a settings class and its parts, by path."""
    found: dict[str, Described] = {}
    hints = get_type_hints(settings)
    for each in dataclasses.fields(settings):
        path, hint = prefix + each.name, hints[each.name]
        if "title" in each.metadata:
            found |= described(hint, f"{path}.", each.metadata["title"])
        elif "about" in each.metadata:
            several = get_args(hint)
            optional = isinstance(hint, types.UnionType)
            many = get_origin(hint) is tuple
            kind = next(kind for kind in several if kind is not type(None)) if several else hint
            found[path] = Described(path, title, kind, many, optional, each.default, each.metadata["about"])
    return found


def value_of(settings: Any, path: str) -> Any:
    """Return the value of one setting."""
    return attrgetter(path)(settings)


def with_values(settings: T, values: Mapping[str, Any]) -> T:
    """Return the settings with other values, by path."""
    own = {path: value for path, value in values.items() if "." not in path}
    for name in {path.partition(".")[0] for path in values if "." in path}:
        inner = {path.removeprefix(f"{name}."): value for path, value in values.items() if path.startswith(f"{name}.")}
        own[name] = with_values(getattr(settings, name), inner)
    return dataclasses.replace(settings, **own)  # type: ignore[type-var]


def read_back(made: type[T], data: Mapping[str, Any]) -> T:
    """Read a dataclass, e.g. settings, out of what JSON made of it; what this version does not know is dropped.

    Raises TypeError, ValueError or AttributeError for what cannot be one; what JSON has too is taken as it is.
    """
    readers = _readers(made)  # type: ignore[arg-type]  # every type has a hash
    given = ((name, read, data[name]) for name, read in readers.items() if name in data)
    return made(**{name: value if value is None else read(value) for name, read, value in given})


@cache
def _readers(made: type[Any]) -> Mapping[str, Callable[[Any], Any]]:
    return {name: _reader(hint) for name, hint in get_type_hints(made).items()}


def _reader(hint: Any) -> Callable[[Any], Any]:
    """Return what makes a value of a type out of what JSON made of it: of a tuple a list, of a number as key a text."""
    kinds, origin = get_args(hint), get_origin(hint)
    inner = [_reader(each) for each in kinds]
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return partial(read_back, hint)
    if isinstance(hint, types.UnionType):
        return inner[0]
    if origin in (tuple, frozenset):
        return lambda value: origin(map(inner[0], value))
    if origin is Mapping:
        key: Callable[[Any], Any] = int if kinds[0] is int else str
        return lambda value: {key(name): inner[1](each) for name, each in value.items()}
    return lambda value: value


def check(settings: object) -> None:
    """Raise UserError when a value is out of its bounds."""
    settings_by_path = described(type(settings))  # type: ignore[arg-type]  # every type has a hash
    for each in settings_by_path.values():
        value = value_of(settings, each.path)
        how = f"with {each.option}" if each.option else "in the run settings"
        if problem := each.problem(value):
            raise UserError(f"{problem}.", f"Give another value {how}.")
        above = settings_by_path.get(each.about.below)
        if above is not None and value > (most := value_of(settings, above.path)):
            raise UserError(
                f"{value} ({each.about.help}) is more than {most} ({above.about.help}).",
                f"Give a smaller number {how}, or a larger one with {above.option}.",
            )


def _is(read: Callable[[], object]) -> bool:
    try:
        return bool(read())
    except (ValueError, RecursionError):
        return False
