"""IdentityChain: words -> code -> words -> code ... and whether the program still does the same (Min et al. 2024).

    item (a person's words nl_0) -> pl_0 -> nl_1 -> pl_1 -> ... -> pl_n

Each program is compared with the one before it by what the tests get from both, whether they pass or not: a model may
be wrong and still mean the same at every step. Function names are masked from nl_1 on, so that only the words carry the
meaning. Every step is greedy; where decoding is repeatable, a chain that repeats itself has ended.

Where a chain lost its meaning first, it can be crossed with a second model: the words at the break are read by that
model, and the program before it is described by that model and read by the first. Which of the two comes back to the
same program tells which pass erred. These samples have the index 1 and are no part of the chain.
"""

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from rtc_inspector.core.errors import ProjectError, UserError
from rtc_inspector.core.generation import Extraction, Fits, ModelInfo, Prompt, Role
from rtc_inspector.core.metrics import output_match
from rtc_inspector.core.metrics.similarity import exact_match, recitation
from rtc_inspector.core.models.extraction import extract_description, extract_program, level, place
from rtc_inspector.core.models.function_prompts import CHAIN_VERSION as PROMPT_VERSION
from rtc_inspector.core.models.function_prompts import SHOT, Example, describe_prompt, write_prompt
from rtc_inspector.core.oracle.bench.project import VERSION, node_ids, program_file, write_project
from rtc_inspector.core.regions.candidates import as_region
from rtc_inspector.core.rewrites.names import MASK
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.source.benchmark import read_benchmark
from rtc_inspector.core.source.codebase import content_fingerprint
from rtc_inspector.core.source.functions import Documented, documented
from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.syntax import Lines, parsed
from rtc_inspector.core.trips import trees
from rtc_inspector.core.trips.benchmark import (
    benchmark_file,
    check_benchmark,
    masked_problem,
    masked_source,
    problem_item,
    unusable,
)
from rtc_inspector.core.trips.judged import Judged, open_judged, whole
from rtc_inspector.core.trips.pool import DrawnTrip
from rtc_inspector.core.trips.protocol import Ask, FixedText, Opened, PairScore, Step, Tree
from rtc_inspector.core.types import (
    Candidate,
    Form,
    Item,
    Notify,
    Outcome,
    Problem,
    Report,
    SourceFile,
    Span,
    TestResult,
    Verdict,
)

INDENT = "    "  # of the body of a project's function as models see it


class Chained(ABC):
    """Programs that chains are made on, with their tests; `masked`: with `func` in place of the function's own name."""

    none: tuple[str, str]  # what to say where there is no program at all, and what to do

    def __init__(
        self, problems: Sequence[Problem], masked: Sequence[Problem], judged: Judged, fingerprint: str
    ) -> None:
        self.problems: Mapping[str, Problem] = {problem.key: problem for problem in problems}
        self.masked: Mapping[str, Problem] = {problem.key: problem for problem in masked}
        self.judged = judged
        self.fingerprint = fingerprint

    @abstractmethod
    def item(self, problem: Problem) -> Item:
        """Return the problem as an item with its tests: admitted, or dropped with the reason."""

    @abstractmethod
    def candidate(self, item: Item, text: str, *, named: bool) -> Candidate:
        """Return a body as it is judged; `named`: written under the function's own name, not as `func`."""

    def masked_body(self, key: str, text: str) -> str:
        """Return a body that was written under the function's own name, with that masked."""
        problem = self.problems[key]
        return _renamed_body(problem, text, problem.entry, MASK)


class Problems(Chained):
    """Problems of a benchmark, whose function names are masked in the generated project."""

    none = "No problem of this benchmark can be used", "Name another file."

    def item(self, problem: Problem) -> Item:
        """Return the problem as an item, dropped where it has no words to begin with or its reference fails."""
        reason = unusable(node_ids(problem), self.judged) or ("" if problem.words else "it has no words to begin with")
        masked = self.masked[problem.key]  # as it stands in the file
        return problem_item(problem, masked, masked.body.start, self.judged.trusted, reason)

    def candidate(self, item: Item, text: str, *, named: bool) -> Candidate:
        """Return the body in the generated file, whose names are masked; a `named` one among its own names."""
        file = self.judged.files[item.path]
        if not named:
            return Candidate(file, self.masked[item.key].body, text)
        problem = self.problems[item.key]
        return whole(file, program_file(problem, problem.with_body(text)))


class Functions(Chained):
    """Functions and methods of a project that have a docstring, judged by the project's own tests in its own files.

    A model sees the imports of the file, the signature, and the body below it as if the function stood alone.
    """

    none = (
        "This project has no function to make a chain of: none with a docstring is noticed by the tests",
        "Give functions docstrings and tests that check what they do, or name a benchmark file.",
    )

    def __init__(self, functions: Sequence[Documented], judged: Judged) -> None:
        self._places = {each.key: each for each in functions}
        self._lines = {file.path: Lines(file.text) for file in judged.codebase.files}
        plain = [_problem(each, judged.files[each.path], mask=False) for each in functions]
        masked = [masked_problem(_problem(each, judged.files[each.path], mask=True)) for each in functions]
        super().__init__(plain, masked, judged, content_fingerprint(judged.codebase))

    def item(self, problem: Problem) -> Item:
        """Return the function as an item, admitted where deleting the body changes a test's result."""
        each = self._places[problem.key]
        found = self.judged.admitted(as_region(self.judged.files[each.path], each.body, self._lines[each.path]))
        return replace(
            found, key=each.key, kind="function", origin={"function": each.name}, directive=each.words, facets={}
        )

    def candidate(self, item: Item, text: str, *, named: bool) -> Candidate:
        """Return the body in the project's own file, under the function's own name and at its own indentation."""
        each, file = self._places[item.key], self.judged.files[item.path]
        # The file's own tests call the function by its own name, and it may call itself.
        own = text
        if not named:
            own = _renamed_body(self.masked[item.key], text, MASK, each.entry)
            own = _own_calls_renamed(own, each.owner, MASK, each.entry)
        # What a program defines below its function comes to stand inside it, above its body: the file has no place.
        body, _, helpers = own.partition("\n\n\n")
        beside = helpers[:1].strip() and parsed(helpers)
        placed = place(f"{helpers.rstrip()}\n\n{level(body, INDENT)}" if beside else level(own, INDENT), each.indent)
        return Candidate(file, each.body, placed.replace("\n", "\r\n") if "\r\n" in file.text else placed)

    def masked_body(self, key: str, text: str) -> str:
        """Mask the function's own name in a body, as for problems; a method's calls of itself are masked too."""
        each = self._places[key]
        return super().masked_body(key, _own_calls_renamed(text, each.owner, each.entry, MASK))


def _renamed_body(problem: Problem, text: str, name: str, other: str) -> str:
    """Return another body of the problem's program, with the function that is called `name` there called `other`."""
    span = Span(problem.body.start, problem.body.start + len(text))
    source, at = masked_source(problem.with_body(text), span, name, other)
    return source[at.start : at.end]


def _problem(each: Documented, file: SourceFile, *, mask: bool) -> Problem:
    """Return the function as a program of its own; `mask`: a method's calls of itself are masked."""
    text = file.text[each.body.start : each.body.end].replace("\r\n", "\n").replace("\r", "\n")
    body = place(level(text, each.indent), INDENT)
    body = _own_calls_renamed(body, each.owner, each.entry, MASK) if mask else body
    above = f"{each.imports}\n\n\n" if each.imports else ""
    program = f"{above}{each.header}\n{INDENT}"
    span = Span(len(program), len(program) + len(body))
    return Problem(
        key=each.key,
        line=each.line,
        entry=each.entry,
        names=(each.entry,),
        words=each.words,
        program=f"{program}{body}\n",
        body=span,
        asked=f"{program}{body}\n",
        asked_body=span,
    )


def _own_calls_renamed(text: str, owner: str, name: str, other: str) -> str:
    """Return a method's body in which its calls of itself, e.g. `self.name(...)`, have another name."""
    return re.sub(rf"(?<![\w.])({owner}\.){re.escape(name)}(?!\w)", rf"\g<1>{other}", text) if owner else text


def open_problems(
    stack: ExitStack, settings: RunSettings, notify: Notify, report: Report
) -> tuple[Chained, Problem | None]:
    """Return the problems of the file that the settings name, and the one that is the example. Raises UserError."""
    path = benchmark_file(settings.benchmark)
    benchmark = read_benchmark(path)
    left_out = _examples(settings, len(benchmark.problems))
    masked = [masked_problem(problem) for problem in benchmark.problems]
    name = f"{path.name.split('.')[0]} masked"
    root = write_project(masked[left_out:], name, source=settings.benchmark.file or "")
    judged = open_judged(stack, root, replace(settings.oracle, confirm_whole_suite=False), notify, report)
    fingerprint = f"{benchmark.fingerprint}-{VERSION}"
    problems = Problems(benchmark.problems[left_out:], masked[left_out:], judged, fingerprint)
    return problems, masked[0] if left_out else None


def open_functions(
    stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report
) -> tuple[Chained, Problem | None]:
    """Return the functions of a project that some test runs, and the one that is the example. Raises UserError."""
    judged = open_judged(stack, project, replace(settings.oracle, confirm_whole_suite=False), notify, report)
    ran = judged.suite.coverage.lines
    files = [file for file in judged.codebase.files if file.path in ran and not file.is_test]
    functions = [(each, file) for file in files for each in documented(file)]
    if not functions:
        raise ProjectError(f"{Functions.none[0]}.", Functions.none[1])
    left_out = _examples(settings, len(functions))
    shot = masked_problem(_problem(*functions[0], mask=True)) if left_out else None
    return Functions([each for each, _ in functions[left_out:]], judged), shot


def _examples(settings: RunSettings, programs: int) -> int:
    """Return how many programs at the beginning serve as the worked example and are left out. Raises ProjectError."""
    if settings.chain.paper_shot and programs < 2:
        raise ProjectError(
            "There is one program only, and as the worked example it would be left out.", "Leave --paper-shot out."
        )
    return int(settings.chain.paper_shot)


# ---- the trip

DOCSTRING = "docstring"
REFERENCE = "reference"  # authors of what a chain may begin with
SHOWN = 20  # dropped programs that are named
# Of a default repr, `<Shape object at 0x7f3a...>`: it differs each time, and would make every program unstable.
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_OUTPUT_OF = {
    Outcome.TIMEOUT: "timeout",
    Outcome.OUT_OF_MEMORY: "memory",
    Outcome.CRASH: "crash",
    Outcome.TAMPERED: "missing",
    Outcome.NOT_EXECUTED: "missing",
}
"""What a test gave that did not run to its end, by what became of the program."""


class ChainTrip(DrawnTrip[Problem]):
    """x is what a person asked for; the programs of a chain are compared with one another, step by step."""

    stage = "reading problems"

    def __init__(self, chained: Chained, settings: RunSettings, shot: Example = SHOT) -> None:
        self._shot = shot
        self._chained = chained
        self._oracle = chained.judged.oracle
        self.sources, self._masked = chained.problems, chained.masked
        self.workers = settings.oracle.workers
        self.settings = settings
        self._steps = settings.chain.steps
        self._cross = settings.chain.cross
        self._repeatable = settings.endpoint is None and settings.backward_endpoint is None

    def made(self, problem: Problem) -> Item:
        return self._chained.item(problem)

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        reasons = self.reasons
        if not admitted:
            sentence, advice = self._chained.none
            raise ProjectError(f"{': '.join([sentence, *reasons[:1]])}.", advice)
        dropped = [f"Dropped {reason}." for reason in reasons[:SHOWN]]
        if len(reasons) > SHOWN:
            dropped.append(f"Dropped {len(reasons) - SHOWN} more.")
        return dropped if admitted >= wanted else [*dropped, f"There are {admitted} programs to make chains of."]

    def steps(self, item: Item, tree: Tree) -> Sequence[Step]:
        """Return the one step that comes next; none once n steps are made, or the chain repeats itself.

        Beside it those that cross the chain, once it is known where it broke.
        """
        chain = trees.chain_of(tree)
        following = self._next(item, chain)
        return [*([following] if following else ()), *(self._crossing(item, tree, chain) if self._cross else ())]

    def _next(self, item: Item, chain: Sequence[SampleRow]) -> Step | None:
        last = chain[-1] if chain else None
        if last is None:
            return Step(Role.FORWARD, 0, FixedText(item.directive or "", DOCSTRING, counted=True))
        if last.step == 0 and last.form == Form.TEXT and self.settings.chain.start == REFERENCE:
            return Step(Role.SOLVE, 0, FixedText(self.sources[item.key].body_text, REFERENCE, counted=True), last.id)
        if self._fixed_after(item, chain) is not None or (last.form == Form.CODE and last.step >= self._steps):
            return None
        if last.form == Form.TEXT:
            role = Role.SOLVE if last.step == 0 else Role.BACKWARD
            ask = self._ask_code(item, last, "forward" if self._cross else "backward")
            return Step(role, 0, ask, last.id, last.step)
        return Step(Role.FORWARD, 0, self._ask_words(item, last, "forward"), last.id, last.step + 1)

    def _ask_code(self, item: Item, words: SampleRow, model: Literal["forward", "backward"]) -> Ask:
        return Ask(partial(self._write_prompt, item, words), 0.0, self.settings.backward_max_tokens, model)

    def _ask_words(self, item: Item, code: SampleRow, model: Literal["forward", "backward"]) -> Ask:
        return Ask(partial(self._describe_prompt, item, code), 0.0, self.settings.forward_max_tokens, model)

    def _crossing(self, item: Item, tree: Tree, chain: Sequence[SampleRow]) -> Iterator[Step]:
        """Yield the steps that cross a chain.

        The second model writes from the words at the break; the first one from its words for the program before.
        """
        broken = trees.first_break(chain)
        if broken is None:
            return
        before, words, after = broken
        if trees.CROSSED not in tree.taken(Role.BACKWARD, words.id):
            yield Step(Role.BACKWARD, trees.CROSSED, self._ask_code(item, words, "backward"), words.id, after.step)
        theirs = trees.crossed(tree, Role.FORWARD, before.id)
        if theirs is None:
            yield Step(Role.FORWARD, trees.CROSSED, self._ask_words(item, before, "backward"), before.id, after.step)
        elif trees.crossed(tree, Role.BACKWARD, theirs.id) is None:
            yield Step(Role.BACKWARD, trees.CROSSED, self._ask_code(item, theirs, "forward"), theirs.id, after.step)

    def _fixed_after(self, item: Item, chain: Sequence[SampleRow]) -> int | None:
        """Return the last step whose program is new, where the chain repeats itself from there on, else None.

        Greedy decoding of a local model gives the same answer to the same question. A server's does not: there a chain
        is followed to its end.
        """
        if not self._repeatable:
            return None
        codes = [row for row in chain if row.form == Form.CODE]
        words = [row for row in chain if row.form == Form.TEXT and row.step > 0]
        if len(words) >= 2 and words[-1].text == words[-2].text:
            return words[-2].step
        last = [self._masked_body(item, code) for code in codes[-2:]]
        return codes[-2].step if len(last) == 2 and exact_match(*last) == 1.0 else None

    def _masked_body(self, item: Item, row: SampleRow) -> str:
        """Return a program's body with its own name masked; only the first program of a chain knows that name."""
        return row.text if row.role != Role.SOLVE else self._chained.masked_body(item.key, row.text)

    def _describe_prompt(self, item: Item, row: SampleRow, model: ModelInfo, fits: Fits) -> Prompt:
        problem = self._masked[item.key]
        body = indent_of(problem) + self._masked_body(item, row)
        return describe_prompt(signature(problem), body, fits, model.prompt_style, self._shot)

    def _write_prompt(self, item: Item, row: SampleRow, model: ModelInfo, fits: Fits) -> Prompt:
        problem = (self.sources if row.step == 0 else self._masked)[item.key]
        style = model.backward_style or model.prompt_style
        return write_prompt(signature(problem), row.text, fits, style, self._shot)

    def read(self, item: Item, step: Step, raw: str, prompt: Prompt) -> Extraction:
        if step.role == Role.FORWARD:
            return extract_description(raw)
        problem = (self.sources if step.role == Role.SOLVE else self._masked)[item.key]
        place = replace(item, span=problem.body, text=problem.body_text)
        return extract_program(raw, place, problem.program, prompt.prefill, problem.entry)

    def recitation(self, item: Item, text: str) -> float:
        return recitation(text, item.text)

    def judge(self, item: Item, sample: SampleRow) -> Verdict:
        """Run every test, twice: a test that says two things about one program says nothing about two."""
        candidate = self._chained.candidate(item, sample.text, named=sample.role == Role.SOLVE)
        first = _signed(self._oracle.judge(candidate, item.tests, every_test=True))
        # What never ran to its end says the same a second time, only later: a timeout would cost twice.
        if not first.outcome.judged or first.outcome in _OUTPUT_OF or not first.tests:
            return first
        second = _signed(self._oracle.judge(candidate, item.tests, every_test=True, again=True))
        if not second.outcome.judged:  # ours: judged again on resume, not taken for a program that is unstable
            return second
        again = {test.node_id: test.signature for test in second.tests}
        tests = tuple(
            test if again.get(test.node_id) == test.signature else replace(test, signature=output_match.UNSTABLE)
            for test in first.tests
        )
        return replace(first, tests=tests, flags=tuple(sorted({*first.flags, *second.flags})))

    def outputs(self, item: Item, row: SampleRow, tree: Tree) -> Mapping[str, str] | None:
        """Return what each test got from a program, by node id; None before it is judged."""
        if row.verdict is None or not row.verdict.outcome.judged:
            return None
        outcome = row.verdict.outcome
        rest = _OUTPUT_OF.get(outcome, "missing")
        if outcome in (Outcome.SYNTAX_ERROR, Outcome.IMPORT_ERROR):
            rest = f"error {row.verdict.detail}"
        found = {test.node_id: test for test in tree.tests(row)}
        return {node: _output(found[node], rest) if node in found else rest for node in item.tests}

    def compare(self, item: Item, sample: SampleRow, tree: Tree) -> Sequence[PairScore]:
        """Return TOM of the program with the one before it, and with the one after it, as far as both are judged.

        What crosses a chain is compared with the program before the break.
        """
        if sample.form != Form.CODE:
            return ()
        chain = trees.chain_of(tree)
        codes = [row for row in chain if row.form == Form.CODE]
        # Verdicts come in any order, so this one may be what the pair before it waited for, or the one behind it.
        pairs = [(one, other) for one, other in itertools.pairwise(codes) if sample.id in (one.id, other.id)]
        broken = trees.first_break(chain)
        if broken is not None and all(sample.id != row.id for row in codes):
            pairs = [(broken[0], sample)]
        found = []
        for one, other in pairs:
            before, after = (self.outputs(item, row, tree) for row in (one, other))
            value = output_match.tom(before, after) if before is not None and after is not None else None
            if value is not None:
                found.append(PairScore(other.id, trees.TOM, value, one.id))
        return found

    def measures(self, item: Item, tree: Tree) -> Mapping[str, float]:
        """Return pass@1, whether the meaning was kept after each step (sc_i; ssc_i where pl_0 passes too), TOM, P/FM.

        IdentityChain, Sec. 4. The figures without a number are those of the last step. Programs that all fail to
        parse behave alike: `none_parses` names such a chain, and `sc_parsing` is SC where the first program parses.
        """
        chain = trees.chain_of(tree)
        codes = [row for row in chain if row.form == Form.CODE]
        passing = [row.passes for row in codes]
        if not codes or passing[0] is None:
            return {}
        fixed = self._fixed_after(item, chain)
        toms = [trees.tom_of(row) for row in codes[1:]]
        kept = output_match.kept(toms, self._steps, fixed)
        found: dict[str, float] = {"pass@1": float(passing[0])}
        for step, sc in enumerate(kept, start=1):
            if sc is not None:
                found |= {f"sc_{step}": float(sc), f"ssc_{step}": float(sc and passing[0])}
        if kept and kept[-1] is not None:
            found |= {"sc": found[f"sc_{self._steps}"], "ssc": found[f"ssc_{self._steps}"]}
            if trees.parses(codes[0]):
                found["sc_parsing"] = found["sc"]
        values = [value for value in toms if value is not None]
        pairs = itertools.pairwise(passing)
        same = [one == other for one, other in pairs if one is not None and other is not None]
        if values:
            found["tom"] = sum(values) / len(values)
        if same:
            found["pfm"] = sum(same) / len(same)
        steps = sum(sc is True for sc in kept)
        found |= {"kept": float(steps), "ssc_steps": float(steps * passing[0])}
        found |= {"steps": float(sum(sc is not None for sc in kept)), "none_parses": float(trees.none_parses(codes))}
        if fixed is not None:
            found["fixed_after"] = float(fixed)
        if (lost := trees.lost_in(tree, chain)) is not None:  # the chain was crossed
            found["lost_in_words"] = float(lost is output_match.Lost.WORDS)
            found["lost_in_code"] = float(lost is output_match.Lost.CODE)
        return found


def _signed(verdict: Verdict) -> Verdict:
    """Return the verdict with a signature for every test: of one that records none, what it said when it failed."""
    return replace(verdict, tests=tuple(t if t.signature else replace(t, signature=_error(t)) for t in verdict.tests))


def _error(test: TestResult) -> str:
    """Return a test's error with its whole message, without the frames below it, which name lines of the candidate."""
    if test.outcome == "passed":
        return "pass"
    if test.outcome == "timeout":
        return "timeout"
    error = test.message.partition('\n  File "')[0]
    return f"error {_ADDRESS.sub('0x..', error)}" if test.outcome in ("failed", "error") else test.outcome


def _output(test: TestResult, otherwise: str) -> str:
    return test.signature or ("pass" if test.outcome == "passed" else otherwise)


def signature(problem: Problem) -> str:
    """Return everything above the body: imports and helpers of the problem, and the line of the function."""
    return problem.program[: problem.body.start].rstrip()


def indent_of(problem: Problem) -> str:
    """Return what stands before the body on its first line."""
    return problem.program[problem.program.rfind("\n", 0, problem.body.start) + 1 : problem.body.start]


def check_chain(settings: RunSettings) -> None:
    """Read a benchmark's file and nothing more; a crossed chain needs a second model. Raises UserError."""
    if settings.chain.cross and settings.one_model:
        raise UserError(
            "Chains are crossed with a second model, and none is named.",
            "Name it with --backward-model or --backward-endpoint, or leave --cross-chain out.",
        )
    if settings.benchmark.file is not None:
        check_benchmark(settings)


def open_chain(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report) -> Opened:
    """Open the problems of a benchmark where one is named, else the project's own functions. Raises UserError."""
    report("reading problems", 0, 1)
    if settings.benchmark.file is not None:
        chained, first = open_problems(stack, settings, notify, report)
    else:
        chained, first = open_functions(stack, project, settings, notify, report)
    shot = Example(signature(first), first.words, indent_of(first) + first.body_text) if first is not None else SHOT
    settings = replace(settings, prompt_version=PROMPT_VERSION)
    return chained.judged.opened(lambda settings: ChainTrip(chained, settings, shot), settings, chained.fingerprint)
