"""Which lines run is told by probes in the project's code as a tracer tells it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

INSIDE = Path(__file__).parents[2] / "core" / "oracle" / "inside"
SOURCE = '''"""Documented."""
from __future__ import annotations
import sys


def decorated(function):
    return function


class Thing:
    """Holds."""

    size = 3

    @decorated
    def grow(self, by):
        """Grow."""
        if by < 0:
            raise ValueError(by)
        elif by > 100:
            self.size = 100
        else:
            self.size += by
        return self.size


def work(values):
    total, thing = 0, Thing()
    for value in values:
        try:
            total += thing.grow(value)
        except KeyError:
            total = -1
        except (ValueError,
                TypeError) as error:
            total += len(str(error)); total += 0
        finally:
            total += 1
    else:
        total *= 2
    while total > 1000:
        total -= 1000
    match total:
        case 0:
            return None
        case _ if total > 5:
            total += 1
    def inner():
        nonlocal total
        total += 1
        yield total
    with open("/dev/null") as nothing:
        nothing.read()
    return [*inner()]


async def never():
    return 1
'''
PROGRAM = """
import json, sys
sys.path.insert(0, {parent!r})
from inside.probes import Probes, no_lines
sys.path.insert(0, {folder!r})


class Settrace:
    def __init__(self, importing, root):
        self.importing, self.root = importing, root

    def start(self):
        sys.settrace(self.call)

    def stop(self):
        sys.settrace(None)

    def switch(self, into):
        self.into = into

    def call(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(self.root):
            return None
        in_function = frame.f_code.co_flags & 1

        def line(frame, event, argument):
            (self.into if in_function else self.importing)[frame.f_code.co_filename].add(frame.f_lineno)
            return line

        return line


found = []
for make in (Settrace, Probes):  # code with probes stays
    importing, running = no_lines(), no_lines()
    tracer = make(importing, {folder!r} + "/")
    tracer.start()
    tracer.switch(importing)
    import sample
    tracer.switch(running)
    sample.work([1, -1, 200, 3])
    tracer.switch(importing)
    tracer.stop()
    del sys.modules["sample"]
    found.append([sorted(lines[{file!r}]) for lines in (importing, running)])
print(json.dumps(found))
"""


def test_probes_tell_the_first_lines_of_the_statements_that_a_tracer_sees(tmp_path: Path) -> None:
    import json

    from rtc_inspector.core.regions.coverage import map_statements

    file = tmp_path / "sample.py"
    file.write_text(SOURCE)
    program = PROGRAM.format(parent=str(INSIDE.parent), folder=str(tmp_path), file=str(file))
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, check=True)
    statements = map_statements(SOURCE)
    tracer, probes = (
        [{statements.first_line.get(line, line) for line in lines} & statements.executable for lines in each]
        for each in json.loads(done.stdout)
    )
    assert probes == tracer
    assert len(probes[0]) >= 8 and len(probes[1]) >= 25
