"""The command line: `rtc-inspector`. Parses, calls one command, turns errors into two clear lines."""

import argparse
import atexit
import codecs
import gc
import io
import json
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from rtc_inspector.app.options import USUAL, error_file, heed_project_file
from rtc_inspector.core import __version__
from rtc_inspector.core.errors import Bug, Cancelled, InspectorError

INCOMPLETE, USER_ERROR, INTERRUPTED = 1, 2, 130
_GROUPS = {
    "windows": ("open",),
    "running": ("run", "import-samples", "demo"),
    "looking": ("sample", "judge"),
    "again": ("replay", "bundle"),
    "storing": ("runs", "report", "export"),
    "comparing": ("compare", "analyse"),
    "labels": ("labels",),
    "machine": ("models", "doctor"),
}
"""Modules and their commands: what only the others need takes seconds to load on a busy machine."""
_OPEN_UP = "Check the free space on the disk and your rights there; a run that has begun can be resumed."


class _Parser(argparse.ArgumentParser):
    """Says what is wrong on one line and what to do on the next."""

    def error(self, message: str) -> NoReturn:
        self.exit(USER_ERROR, f"{self.prog}: {message}.\nSee `{self.prog} --help` for what it takes.\n")

    def format_help(self) -> str:
        """Return help on all options, or where there are many on the usual ones."""
        shown = {"help", "help_all", *USUAL, *(self.get_default("shown") or ())}
        few = "--help-all" in self._option_string_actions and not self.get_default("all_shown")
        rare = {each: each.help for each in self._actions if few and each.option_strings and not each.required}
        for each in rare:
            if each.dest not in shown:
                each.help = argparse.SUPPRESS
        try:
            return super().format_help()
        finally:
            for each, words in rare.items():
                each.help = words


class _PrintCompletion(argparse.Action):
    """`--print-completion`."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: object, shell: Any, option: object = None) -> None:
        import shtab  # needed once, when it is installed

        parsers = [parser]
        for one in parsers:
            for each in one._actions:
                if isinstance(each, argparse._SubParsersAction):
                    parsers += each.choices.values()
                elif each.type is Path or each.metavar in ("FILE", "FOLDER", "GGUF"):
                    each.complete = shtab.FILE  # type: ignore[attr-defined]
        print(shtab.complete(parser, shell))
        parser.exit()


def build_parser(only: str = "") -> argparse.ArgumentParser:
    """Return the whole command line; with `only`, a command's name, its own group of commands, which is made sooner."""
    parser = _Parser(prog="rtc-inspector", description="How well does a local code model understand your code?")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument(
        "--print-completion",
        choices=("bash", "zsh", "fish"),
        action=_PrintCompletion,
        help="print what makes this shell complete commands and options, and exit",
    )
    parser.set_defaults(command=_open_last, project=None, db=None, left=0)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    for group, names in _GROUPS.items():
        if only in names or not any(only in others for others in _GROUPS.values()):
            import_module(f"rtc_inspector.app.{group}").add_commands(commands)
    return parser


def _open_last(options: argparse.Namespace) -> int:
    """Open the window, where no command is named."""
    from rtc_inspector.app.windows import open_project

    return open_project(options)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status (0 done, 1 incomplete, 2 user error, 130 interrupted)."""
    atexit.register(gc.freeze)  # else all that was imported is looked through once more for nothing
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else NumPy starts one on each core, for nothing
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:  # closed by the caller (`>&-`): the next file to be opened would be taken for standard output
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False, encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):  # a folder may be called `caf\udce9`
        codecs.register_error("json", _as_in_json)
        sys.stdout.reconfigure(errors="json")
    words = sys.argv[1:] if arguments is None else arguments
    options = build_parser(words[0] if words else "open").parse_args(words)
    try:
        heed_project_file(options)
        status: int = options.command(options)
        # Here, while an error can still be told in two lines: at the interpreter's end it would be a traceback.
        sys.stdout.flush()
    except Cancelled:
        print("Stopped before a run began; nothing was lost.", file=sys.stderr)
        return INTERRUPTED
    except Bug as error:
        return _unexpected(error, error.problem)
    except InspectorError as error:
        print(f"{error.problem}\n{error.remedy}", file=sys.stderr)
        _say_no_more()
        return USER_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _say_no_more()
        return int(options.left)
    except OSError as error:
        where = f"{error.filename} cannot be used" if error.filename else "The system refused something"
        print(f"{where}: {error.strerror or error}.\n{_OPEN_UP}", file=sys.stderr)
        _say_no_more()
        return USER_ERROR
    except Exception as error:
        return _unexpected(error, f"RTC Inspector failed: {type(error).__name__}: {error}")
    return status


def _say_no_more() -> None:
    """Drop what standard output still holds, where nobody reads it or its disk is full."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _as_in_json(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _unexpected(error: Exception, problem: str) -> int:
    """Say so in two lines, and keep the trace for a report."""
    trace = "".join(traceback.format_exception(error))
    file = error_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(trace, encoding="utf-8", errors="backslashreplace")
    except OSError:
        print(trace, file=sys.stderr)  # better in the way than lost
    print(f"{problem}\nThis is a bug: please report it with what stands in {file}.", file=sys.stderr)
    return INCOMPLETE


if __name__ == "__main__":
    sys.exit(main())
