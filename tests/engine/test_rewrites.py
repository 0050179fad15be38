"""Rewrites keep the meaning, say why where they cannot be sure, and every token can be found again in what came out."""

from __future__ import annotations

import io
import keyword
import random
import tokenize
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import pytest

from rtc_inspector.core.kinds import COSMETIC_PAIRS
from rtc_inspector.core.rewrites.program import TREES_KEPT, Program, Refused, Rewritten
from rtc_inspector.core.rewrites.transformations import TRANSFORMATIONS, docstring_place, document
from rtc_inspector.core.source.functions import functions
from rtc_inspector.core.trips.versions import IN_PLACE, Rewriting, Version, Versions, Wanted
from rtc_inspector.core.types import SourceFile

HERE = "pocket/here.py"
SEEDS = range(20)


def first_def(text: str, name: str = "") -> int:
    return text.index(f"def {name}")


@lru_cache(maxsize=64)
def program(text: str, others: tuple[tuple[str, str], ...]) -> Program:
    """The same for all transformations, as in the program itself: parsing takes longer than any of them."""
    return Program({HERE: text} | {f"pocket/{path}.py": other for path, other in others})


def rewrite(kind: str, text: str, seed: int = 1, name: str = "", **others: str) -> Rewritten | str:
    try:
        return TRANSFORMATIONS[kind](program(text, tuple(others.items())), HERE, first_def(text, name), seed)
    except Refused as refused:
        return str(refused)


def done(kind: str, text: str, seed: int = 1, name: str = "") -> str:
    found = rewrite(kind, text, seed, name)
    assert isinstance(found, Rewritten), found
    return found.text(HERE, text)


def reason(kind: str, text: str, name: str = "", **others: str) -> str:
    found = rewrite(kind, text, 1, name, **others)
    assert isinstance(found, str), found
    return found


# --------------------------------------------------------------------------- properties, on generated functions


class Writer:
    """Writes a random function of two numbers, with loops, closures, comprehensions, prints and calls of a helper."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.names = ["value", "count"]

    def program(self) -> str:
        body = "\n".join(self.statements(1, 6))
        return (
            "def helper(first, second, third):\n    return first * 3 - second * 2 + third\n\n\n"
            f"def work(value, count):\n{body}\n    return {' + '.join(self.names)}\n\n\n"
            "def outside(left, right):\n    return helper(left, right, 5) - helper(right, 1, left)\n"
        )

    def statements(self, depth: int, most: int) -> list[str]:
        return [line for _ in range(self.draw.randint(2, most)) for line in self.statement(depth)]

    def statement(self, depth: int) -> list[str]:
        draw, pad = self.draw, "    " * depth
        match draw.randint(0, 9):
            case 0 | 1 | 2:
                name = draw.choice(["total", "result", "value", "number", "mark", "é_weight"])
                line = [f"{pad}{name} = {self.expression()}"]
                if depth == 1 and name not in self.names:
                    self.names.append(name)
                return line if depth == 1 or name in self.names else [f"{pad}pass"]
            case 3:
                return [f"{pad}{draw.choice(self.names)} += {draw.randint(1, 9)}"]
            case 4 if depth < 3:
                return [f"{pad}if {self.expression()} > 3:", *self.statements(depth + 1, 3)]
            case 5 if depth < 3:
                return [f"{pad}for step in range(3):", *self.statements(depth + 1, 3)]
            case 6:
                name = draw.choice(self.names)
                return [f"{pad}{name} = sum([item * {name} for item in range(4)])  # a comment"]
            case 7:
                kept = draw.choice(self.names)
                return [f"{pad}(lambda extra: extra + {kept})({self.expression()})"]
            case 8:
                return [f'{pad}print(f"{{{draw.choice(self.names)}}} of it")']
            case _:
                return [f"{pad}{draw.choice(self.names)} = helper({', '.join(self.operand() for _ in range(3))})"]

    def expression(self) -> str:
        return f"{self.operand()} {self.draw.choice(['+', '-', '*'])} {self.operand()}"

    def operand(self) -> str:
        return self.draw.choice([*self.names, str(self.draw.randint(0, 9))])


def behaviour(source: str) -> list[int]:
    names: dict[str, object] = {"print": lambda *_: None}
    exec(compile(source, "here.py", "exec"), names)  # noqa: S102  our own
    return [names[name](one, two) for name in ("work", "outside") for one in (0, 3) for two in (1, 7)]  # type: ignore[operator]


@pytest.mark.parametrize("kind", list(TRANSFORMATIONS))
def test_what_is_not_refused_does_the_same_and_every_name_is_found_again(kind: str) -> None:
    kept = 0
    for seed in SEEDS:
        text = Writer(seed).program()
        found = rewrite(kind, text, seed, "helper" if kind == "permute" else "work")
        if isinstance(found, str):
            assert found
            continue
        kept += 1
        after = found.text(HERE, text)
        assert (after != text) is (kind != "identity")
        assert behaviour(after) == behaviour(text), f"seed {seed}:\n{after}"
        names = dict(names_of(after))
        for offset, name in names_of(text):
            place = found.place(HERE, offset)
            assert place is not None
            assert names[place] in (name, found.renamed.get(name))
    assert kept >= len(SEEDS) / 5, "too few to tell"


def names_of(text: str) -> list[tuple[int, str]]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    names = [token for token in tokens if token.type == tokenize.NAME and not keyword.iskeyword(token.string)]
    return [(starts[token.start[0] - 1] + token.start[1], token.string) for token in names]


def test_a_swap_on_a_swap_restores_the_function() -> None:
    swapped = 0
    for seed in SEEDS:
        text = Writer(seed).program()
        found = rewrite("swap", text, seed, "work")
        if isinstance(found, Rewritten):
            swapped += 1
            assert done("swap", found.text(HERE, text), seed, "work") == text
    assert swapped >= len(SEEDS) / 5, "too few to tell"


@lru_cache(maxsize=16)
def rewriting(text: str) -> Rewriting:
    """One for all that is asked of a text, as a run has it."""
    return Rewriting(source(text))


def source(text: str) -> dict[str, SourceFile]:
    return {HERE: SourceFile(HERE, text, "utf-8", False)}


def wanted(text: str, change: str, seed: int, name: str) -> Wanted:
    function = next(each for each in functions(source(text)[HERE]) if each.name == name)
    return Wanted(HERE, function.span, change, seed, 10, "drawn")


@pytest.mark.parametrize("pair", COSMETIC_PAIRS)
def test_two_transformations_together_do_the_same_and_names_are_found_again(pair: str) -> None:
    kept = 0
    for seed in range(0, 40, 4):
        text = Writer(seed).program()
        name = "helper" if "permute" in pair else "work"
        made = rewriting(text).version(wanted(text, pair, seed, name))
        if not isinstance(made, Version):
            continue
        kept += 1
        alone = rewriting(text).version(wanted(text, pair.split(" + ")[0], seed, name))
        assert not isinstance(alone, Version) or made.text != alone.text
        after = made.file.text
        assert behaviour(after) == behaviour(text), f"seed {seed}:\n{after}"
        assert made.places and all(after.startswith(called, place) for place, called in made.places)
    assert kept >= 3 or name == "helper", "too few to tell"


def test_versions_of_large_files_are_made_by_another_process() -> None:
    text = Writer(3).program() + "\n\nFILLING = [\n" + '    "filling",\n' * (IN_PLACE // 10) + "]\n"
    files, asked = source(text), wanted(text, "rename", 3, "work")
    versions = Versions(files)
    try:
        assert versions.version(asked) == Rewriting(files).version(asked)
        assert versions.refusals(HERE, asked.span.start, 3) == Rewriting(files).refusals(HERE, asked.span.start, 3)
        process = versions._process
        assert process.is_alive()
        with pytest.raises(KeyError):
            versions.functions("absent.py")
        process.kill()
        process.join()
        assert versions.functions(HERE) == functions(files[HERE]), "without it they are made here"
    finally:
        versions.close()


def test_nothing_is_made_once_versions_are_closed_and_no_process_is_left() -> None:
    text = "FILLING = '" + "x" * IN_PLACE + "'\n\n\ndef work(value):\n    total = value\n    return total\n"
    versions = Versions(source(text))
    assert [each.name for each in versions.functions(HERE)] == ["work"]
    versions.close()
    assert not versions._process.is_alive()
    with pytest.raises(EOFError):
        versions.refusals(HERE, first_def(text), 1)


def test_the_same_seed_writes_the_same_and_others_may_not() -> None:
    text = "def work(value, result):\n    value = result + 1\n    other = 3\n    return result * value + other\n"
    for kind in TRANSFORMATIONS:
        first = rewrite(kind, text, 5)
        program.cache_clear()
        assert rewrite(kind, text, 5) == first
    assert len({done("rename", text, seed) for seed in range(8)}) > 1


def test_our_own_source_stays_python() -> None:
    root = Path(__file__).parents[2]
    # No more than the trees that are kept: beyond that each function would have files parsed anew, for minutes.
    paths = sorted((root / "core" / "metrics").glob("*.py"))[: TREES_KEPT - 2 : 2]
    files = {str(path.relative_to(root)): path.read_text("utf-8") for path in paths}
    program = Program(files)
    made = dict.fromkeys(TRANSFORMATIONS, 0)
    for path, text in files.items():
        starts = [at for at in range(len(text)) if text.startswith("def ", at) and text[at - 1] in "\n "]
        for start in starts:
            for kind, transformation in TRANSFORMATIONS.items():
                with suppress(Refused):
                    found = transformation(program, path, start, 3)
                    made[kind] += 1
                    for changed in found.edits:
                        compile(found.text(changed, files[changed]), changed, "exec")
    assert min(made.values()) > 0, made


# --------------------------------------------------------------------------- rename


def test_rename_takes_the_most_frequent_name_in_every_place_that_is_it() -> None:
    text = (
        "def work(values):\n"
        "    total = 0\n"
        "    for each in values:\n"
        "        total += each\n"
        "    box.total = total\n"
        "    use(total=total)\n"
        "    return (lambda: f'{total} total')()\n"
    )
    found = rewrite("rename", text)
    assert isinstance(found, Rewritten) and list(found.renamed) == ["total"]
    new = found.renamed["total"]
    assert found.text(HERE, text) == (
        "def work(values):\n"
        f"    {new} = 0\n"
        "    for each in values:\n"
        f"        {new} += each\n"
        f"    box.total = {new}\n"
        f"    use(total={new})\n"
        f"    return (lambda: f'{{{new}}} total')()\n"
    )


def test_rename_keeps_capitals_and_plurals() -> None:
    assert done("rename", "def f():\n    oldValues = [1]\n    return oldValues\n").count("oldValues") == 0
    shouted = done("rename", "def f():\n    LAST_ERROR = 1\n    return LAST_ERROR\n")
    assert shouted.split()[2] == shouted.split()[2].upper()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("    total = 1\n    return locals(), total", "calls locals"),
        ("    total = 1\n    return eval('total') + total", "calls eval"),
        ('    total = 1\n    return f"{total=} {total}"', "no variable"),
        ("    global total\n    total = 1\n    return total", "no variable"),
        (
            "    total = 1\n    def inner():\n        nonlocal total\n        total = 2\n    return total, inner",
            "no variable",
        ),
        ("    total = 1\n    return [total for total in (total,)]", "no variable"),
        ("    import total\n    return total.total", "no variable"),
        ("    def total(): return total\n    return total", "no variable"),
        ("    match 3:\n        case total: return total", "no variable"),
        ("    qwertyuiop = 1\n    return qwertyuiop", "no word"),
        ("    sum_ = 1\n    return sum_", "no variable"),
    ],
)
def test_rename_refuses_what_is_not_surely_one_variable(body: str, why: str) -> None:
    assert why in reason("rename", f"def work():\n{body}\n")


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("def work(total):\n    return total + total\n", {"there": "work(total=3)\n"}),
        ("def work(total):\n    return total + total\n", {"there": "settings = {'total': 3}\nwork(**settings)\n"}),
        ("def work(total):\n    return total + total\n", {"there": '"""\n>>> work(total=3)\n"""\n'}),
        ("def work(*, total):\n    return total + total\n", {}),
        ("@command\ndef work(total):\n    return total + total\n", {}),
    ],
)
def test_rename_leaves_parameters_that_may_be_known_by_name(text: str, others: dict[str, str]) -> None:
    assert "no variable" in reason("rename", text, "", **others)


def test_rename_takes_a_parameter_that_is_given_by_position() -> None:
    text = "class Box:\n    @staticmethod\n    def work(total):\n        return total + total\n"
    assert "total" not in done("rename", text)


# --------------------------------------------------------------------------- logging, swap


def test_logging_prints_between_statements_and_nowhere_else() -> None:
    text = 'def work(value):\n    """Doc."""\n    total = value\r\n    if total:\n        total = 3\n    return total\n'
    after = done("logging", 'def work(value):\n    """Doc."""\n    total = value\n    return total\n')
    lines = after.splitlines()
    assert lines[:2] == ["def work(value):", '    """Doc."""'] and lines[-1] == "    return total"
    assert 1 <= sum(line.strip().startswith("print(") for line in lines) <= 2
    assert "no two simple" in reason("logging", "def work(value):\n    if value:\n        return 1\n")
    assert "no two simple" in reason("logging", "def work(value):\n    print(value)\n    return 1\n")
    assert "something else" in reason("logging", "print = 3\n" + text.replace("\r", ""), "work")


def test_lines_end_as_they_do_in_the_file() -> None:
    after = done("logging", "def work(value):\r\n    total = value\r\n    return total\r\n")
    assert after.count("\n") == after.count("\r\n") == 4


@pytest.mark.parametrize(
    "pair",
    [
        ("total = 1", "total2 = total"),
        ("first = use(1)", "other = use2(2)"),
        ("box.first = 1", "other = box2.first"),
        ("box[0] = 1", "other = box2[0]"),
        ("items += [1]", "other = [x for x in more]"),
        ("first = use(1)", "other = LIMIT"),
        ("first = 1", "return 3"),
        ("first = 1", "raise ValueError"),
        ("first = (yield)", "other = 1"),
        ("first = (other := 1)", "last = 2"),
        ("first = 1", "import other"),
        ("first = 1", "del other"),
        ("first = 1", "first = 1"),
    ],
)
def test_swap_refuses_statements_that_may_depend_on_each_other(pair: tuple[str, str]) -> None:
    text = f"def work(items, more, box, box2):\n    {pair[0]}\n    {pair[1]}\n"
    assert reason("swap", text).startswith("no two")


def test_swap_refuses_in_a_try_and_the_docstring() -> None:
    assert reason("swap", "def work():\n    try:\n        one = 1\n        two = 2\n    except E:\n        pass\n")
    assert reason("swap", 'def work():\n    """Doc."""\n    one = 1\n')


@pytest.mark.parametrize(
    "pair",
    [
        ("total = 1  # one", "other = [2]"),
        ("first = use(1)", "other = True"),
        ("n = len(items)", "m = 3"),
        ("one = (1 +\n        2)", "(items).x = (3)"),
        ("é = 'é'", "ü = ('ö')  # ß"),
    ],
)
def test_swap_exchanges_what_is_independent(pair: tuple[str, str]) -> None:
    text = f"def work(items):\n    {pair[0]}\n    {pair[1]}\n    return items\n"
    assert done("swap", text) == f"def work(items):\n    {pair[1]}\n    {pair[0]}\n    return items\n"


# --------------------------------------------------------------------------- permute


def test_permute_follows_every_call_in_every_file() -> None:
    here = (
        "__all__ = ['work']\n\n\ndef work(one, two, three):\n    return one - two * three if one else work(2, 3, 4)\n"
    )
    there = "from pocket.here import work\nfrom pocket import here\n\n"
    there += "print(work(1, (2, 3), len('abc')), here.work(7, 8, 9))\n"
    found = rewrite("permute", here, 1, "work", there=there)
    assert isinstance(found, Rewritten) and set(found.edits) == {HERE, "pocket/there.py"}
    parameters = found.text(HERE, here).split("(", 1)[1].split(")")[0].split(", ")
    order = [["one", "two", "three"].index(name) for name in parameters]
    assert order != [0, 1, 2] and sorted(order) == [0, 1, 2]
    moved = found.text("pocket/there.py", there)
    given = ["1", "(2, 3)", "len('abc')"]
    assert f"work({', '.join(given[index] for index in order)})" in moved
    assert f"here.work({', '.join('789'[i] for i in order)})" in moved


@pytest.mark.parametrize(
    ("text", "others", "why"),
    [
        ("def work(one):\n    pass\n", {}, "fewer than two"),
        ("def work(one, two=3):\n    pass\n", {}, "defaults"),
        ("def work(one, two, *rest):\n    pass\n", {}, "more than positional"),
        ("def work(one, two, *, key):\n    pass\n", {}, "more than positional"),
        ("@deco\ndef work(one, two):\n    pass\n", {}, "decorator"),
        ("def work(one, two):\n    pass\n", {"there": "work(1, two=2)\n"}, "something else"),
        ("def work(one, two):\n    pass\nwork(1, two=2)\n", {}, "by position"),
        ("def work(one, two):\n    pass\nwork(*both)\n", {}, "by position"),
        ("def work(one, two):\n    pass\nuse(work)\n", {}, "without being called"),
        ("def work(one, two):\n    pass\n", {"there": "from pocket.here import work as other\n"}, "something else"),
        ("def work(one, two):\n    pass\n", {"there": "getattr(here, 'work')(1, 2)\n"}, "a text names it"),
        ("def work(one, two):\n    pass\n", {"there": "thing.work(1, 2)\n"}, "same name"),
        ("def work(one, two):\n    pass\nwork(a(), b())\n", {}, "calling something"),
        ("def work(one, two):\n    pass\nwork(work(1, 2), 3)\n", {}, "argument of another"),
        ("class Box:\n    def __add__(self, one, two):\n        pass\n", {}, "Python itself"),
        (
            "class Box:\n    def visit_a(self, one, two):\n        pass\n\n    def visit(self, name):\n"
            "        return getattr(self, 'visit_' + name)(1, 2)\n",
            {},
            "nobody calls it by name",
        ),
        ("def work(one, two):\n    return one and work(one - 1, two)\n", {}, "nobody calls it by name"),
        ("class Box:\n    def append(self, one, two):\n        pass\n", {}, "anybody's"),
    ],
)
def test_permute_refuses_unless_every_call_is_surely_known(text: str, others: dict[str, str], why: str) -> None:
    assert why in reason("permute", text, "", **others)


# --------------------------------------------------------------------------- document


def test_document_adds_a_docstring_and_nothing_else() -> None:
    text = "class Box:\n    def work(self):\n        return 3\n"
    found = document(
        Program({HERE: text}), HERE, first_def(text), 'Say "three". ' * 12 + '\n>>> work()\nEnd with "this"'
    )
    assert isinstance(found, Rewritten)
    names: dict[str, type] = {}
    exec(found.text(HERE, text), names)  # noqa: S102  our own
    documented = names["Box"].work.__doc__  # type: ignore[attr-defined]
    assert " ".join(documented.split()) == ('Say "three". ' * 12 + 'End with "this"').strip()
    assert names["Box"]().work() == 3


def test_document_refuses_what_has_one_or_no_room() -> None:
    for text, why in (
        ('def work():\n    """Doc."""\n    return 3\n', "has a docstring"),
        ("def work(): return 3\n", "one line"),
        ("def work(:\n", "parsed"),
    ):
        with pytest.raises(Refused, match=why):
            docstring_place(Program({HERE: text}), HERE, first_def(text))
    with pytest.raises(Refused):
        document(Program({HERE: "def f():\n    pass\n"}), HERE, 0, "\n")
