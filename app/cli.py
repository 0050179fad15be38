"""The command line: `rtc-inspector`. Parses, calls one command, turns errors into two clear lines."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NoReturn

from app import looking, machine, running, storing, windows
from core import __version__
from core.errors import Cancelled, InspectorError

DONE, INCOMPLETE, USER_ERROR, INTERRUPTED = 0, 1, 2, 130


class _Parser(argparse.ArgumentParser):
    """Says what is wrong on one line and what to do on the next."""

    def error(self, message: str) -> NoReturn:
        self.exit(USER_ERROR, f"{self.prog}: {message}.\nSee `{self.prog} --help` for what it takes.\n")


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = _Parser(prog="rtc-inspector", description="How well does a local code model understand your code?")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.set_defaults(command=windows.open_last, project=None, db=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    for group in (windows, running, looking, storing, machine):
        group.add_commands(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status (0 done, 1 incomplete, 2 user error, 130 interrupted)."""
    options = build_parser().parse_args(arguments)
    try:
        status: int = options.command(options)
    except Cancelled:
        print("Stopped before a run began; nothing was lost.", file=sys.stderr)
        return INTERRUPTED
    except InspectorError as error:
        print(f"{error.problem}\n{error.remedy}", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return DONE
    return status


if __name__ == "__main__":
    sys.exit(main())
