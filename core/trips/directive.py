"""Summary against directive: does what a model wrote mean what was asked (Bhardwaj 2023)?

    item (a person's words) -> program (solve, 25 at five temperatures) -> summary (forward, three of each program)

Each summary is held against the directive by the cosine of their sentence vectors; where tests came with the directive,
they judge the program. Equal programs are one: judged and summarised once. Nothing is summarised before all programs of
an item are there, so that a resumed run summarises the same ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from rtc_inspector.core.errors import ModelError, ProjectError, UserError
from rtc_inspector.core.generation import Embedder, Extraction, Fits, ModelInfo, Prompt, Role
from rtc_inspector.core.kinds import counted
from rtc_inspector.core.metrics.similarity import recitation
from rtc_inspector.core.models.extraction import extract_code, extract_description
from rtc_inspector.core.models.function_prompts import DIRECTIVE_VERSION as PROMPT_VERSION
from rtc_inspector.core.models.function_prompts import TOO_LONG, summary_prompt, whole_program_prompt, write_prompt
from rtc_inspector.core.models.loading import open_embedder
from rtc_inspector.core.oracle.bench.project import VERSION, node_ids, program_file, program_path, write_project
from rtc_inspector.core.rewrites.names import mask_name, without_comments
from rtc_inspector.core.settings import DirectiveSettings, RunSettings
from rtc_inspector.core.source.directives import Directive, Directives, by_hand, read_directives
from rtc_inspector.core.store.rows import SampleRow
from rtc_inspector.core.trips.benchmark import benchmark_file, unusable
from rtc_inspector.core.trips.judged import Judged, open_written, whole, writing
from rtc_inspector.core.trips.pool import DrawnTrip
from rtc_inspector.core.trips.protocol import NOTHING_TESTED, Ask, Opened, PairScore, Step, Tree
from rtc_inspector.core.trips.trees import COSINE, programs
from rtc_inspector.core.types import Form, Item, Notify, Problem, Report, Span, Verdict

CUT = "cosine_cut"
RECITED = "directive_recited"
_UNWRITTEN = "from rtc_recording import UNWRITTEN as candidate"
_CANDIDATE = "candidate"
VECTORS_KEPT = 256
_LENGTHS = ((80, "up to 80 characters"), (200, "81-200 characters"))


class DirectiveTrip(DrawnTrip[Directive]):
    """x is a directive; programs are made from it, and words from each program that are held against it.

    A summary may well repeat the directive: what its source repeats of it is a score of the program.
    """

    stage = "reading directives"
    available = None  # how many of a file's directives are left is not told

    def __init__(
        self, directives: Directives, judged: Judged | None, embedder: Embedder, settings: RunSettings
    ) -> None:
        """`judged` is None where no directive has tests."""
        self.sources = {directive.key: directive for directive in directives.every}
        self._name = directives.name
        self._judged = judged
        self._embedder = embedder
        # Of the items at work and their newest summaries: a run may have any number.
        self._vector = lru_cache(VECTORS_KEPT)(lambda text: embedder.sentences([text])[0])
        self.settings = settings
        self._drawn = drawn(settings.directive)
        self._remarks: list[str] = []

    def items(self, wanted: int, seed: int, stored: Mapping[str, Item], report: Report) -> Iterator[Item]:
        for item in super().items(wanted, seed, stored, report):
            if item.admitted and self._vector(item.text).truncated:
                window = self._embedder.info.context_size
                self._remarks.append(
                    f"The directive of {item.key} is longer than the {window} tokens that "
                    f"{self._embedder.info.name} reads: summaries are compared with its beginning."
                )
            yield item

    def made(self, directive: Directive) -> Item:
        file = file_problem(directive)
        # Not found: a docstring of several lines is indented in the file. The item then has no path.
        start = program_file(file, file.program).find(directive.words)
        found = start >= 0
        span = Span(start, start + len(directive.words)) if found else Span(0, len(directive.words))
        first = file.program.count("\n", 0, span.start) + 1 if found else 1
        tests: Sequence[str] = ()
        reason = ""
        if directive.tested and self._judged is not None:
            tests = node_ids(file)
            reason = unusable(tests, self._judged)
            if reason and tests and not directive.solved:
                why = self._judged.suite.excluded.get(tests[0], "is missing")
                reason = f"its tests cannot be started: one {why}"
        if not directive.words:
            reason = "it has no words to begin with"
        length = next((name for most, name in _LENGTHS if len(directive.words) <= most), "over 200 characters")
        return Item(
            key=directive.key,
            kind="directive",
            path=program_path(file) if found else "",
            span=span,
            start_line=first,
            end_line=first + directive.words.count("\n"),
            text=directive.words,
            tests=tuple(test for test in tests if self._judged and test in self._judged.trusted),
            admitted=not reason,
            reason=reason,
            facets={"file": self._name, "tests": "tested" if directive.tested else "no tests", "length": length},
            origin={"function": directive.problem.entry} if directive.problem.entry else {},
            form=Form.TEXT,
            directive=directive.words,
        )

    def shortfall(self, admitted: int, wanted: int) -> Sequence[str]:
        dropped = [f"Dropped {reason}." for reason in self.reasons]
        if not admitted:
            why = (dropped or ["It holds none."])[0]
            raise ProjectError(f"No directive of {self._name} can be used. {why}", "Name another file.")
        untested = sum(not directive.tested for directive in self.sources.values())
        if untested:
            some = "No directive has" if untested == len(self.sources) else f"{untested} of the directives have no"
            self._remarks.append(f"{some} tests: their programs are compared by meaning only.")
        few = [] if admitted >= wanted else [f"The file has {counted(admitted, 'directive')} to use."]
        return [*dropped, *self._remarks, *few]

    def steps(self, item: Item, tree: Tree) -> Sequence[Step]:
        """Return the programs; once all of them were tried, the summaries of each that differs from those before it."""
        # Those that failed count as tried: one program that the engine cannot write must not hold up the summaries of
        # all others.
        tried = {row.index for row in tree.samples if row.role == Role.SOLVE}
        settings, room = self.settings, self.settings.backward_max_tokens
        prompt = partial(self._program_prompt, item)
        asks = {heat: Ask(prompt, heat, room, "backward") for heat in settings.directive.temperatures}
        missing = tree.missing(Role.SOLVE, len(self._drawn))
        steps = [Step(Role.SOLVE, index, asks[self._drawn[index]]) for index in missing]
        if len(tried) < len(self._drawn):
            return steps
        for program in programs(tree.samples):
            first = program.rows[0]
            # Of equal programs the one that was summarised first stays the one: a resumed run may have made another of
            # them meanwhile, and its summaries would stand apart.
            if program.summaries:
                first = tree[program.summaries[0].parent_id or first.id]
            if first.text.strip():
                prompt = partial(self._summary_prompt, item, first)
                for index in tree.missing(Role.FORWARD, settings.forward_samples, first.id):
                    heat = settings.forward_temperature if index else 0.0  # the first is greedy
                    ask = Ask(prompt, heat, settings.forward_max_tokens, "forward")
                    steps.append(Step(Role.FORWARD, index, ask, first.id))
        return steps

    def measures(self, item: Item, tree: Tree) -> Mapping[str, float]:
        threshold = self.settings.directive.threshold
        every = programs(tree.samples)
        cosines = [each.cosine for each in every if each.cosine is not None]
        verdicts = [(each.passes, each.similar(threshold)) for each in every]
        passing = [passes for passes, _ in verdicts if passes is not None]
        similar = [alike for _, alike in verdicts if alike is not None]
        both = [passes == alike for passes, alike in verdicts if passes is not None and alike is not None]
        recited = [row.scores[RECITED] for each in every for row in each.rows[:1] if RECITED in row.scores]
        found: dict[str, float] = {"programs": sum(len(each.rows) for each in every), "distinct": len(every)}
        means: dict[str, Sequence[float]] = {COSINE: cosines, "similar": similar, "passing": passing}
        means |= {"agreement": both, "recited": recited}
        return found | {name: sum(values) / len(values) for name, values in means.items() if values}

    def _program_prompt(self, item: Item, model: ModelInfo, fits: Fits) -> Prompt:
        directive = self.sources[item.key]
        problem, style = directive.problem, model.backward_style or model.prompt_style
        above = problem.program[: problem.body.start].rstrip()
        if problem.entry:
            return write_prompt(above, directive.words, fits, style, what=TOO_LONG)
        return whole_program_prompt(above, directive.words, fits, style)

    def _summary_prompt(self, item: Item, program: SampleRow, model: ModelInfo, fits: Fits) -> Prompt:
        return summary_prompt(self._shown(item, program.text), fits, model.prompt_style)

    def _shown(self, item: Item, text: str) -> str:
        """Return what a summary is made from: the function's head and body without comments, docstrings and imports."""
        directive = self.sources[item.key]
        header, name = directive.header, directive.problem.entry
        source = without_comments(f"{header}\n    {text}" if header else text)
        if self.settings.benchmark.mask_names and name:
            source = mask_name(source, name)
        lines = source.split("\n")
        return "\n".join(line for line in lines if header or not line.startswith(("import ", "from "))).strip("\n")

    def read(self, item: Item, step: Step, raw: str, prompt: Prompt) -> Extraction:
        """Take words without labels and fences; of code the function's body, or all of it where no head was given."""
        if step.role == Role.FORWARD:
            return extract_description(raw)
        problem = self.sources[item.key].problem
        place = replace(item, span=problem.body, text=problem.body_text)
        return extract_code(raw, place, problem.program, prompt.prefill)

    def judge(self, item: Item, sample: SampleRow) -> Verdict | None:
        if self._judged is None or not item.tests:
            return None
        problem = self.sources[item.key].problem
        file = self._judged.files[program_path(problem)]  # not by the item's path, which may be empty
        candidate = whole(file, program_file(problem, problem.with_body(sample.text)))
        return self._judged.oracle.judge(candidate, item.tests)

    def compare(self, item: Item, sample: SampleRow, tree: Tree) -> Sequence[PairScore]:
        """Return the cosine of a summary with the directive, and the mean of its program's summaries.

        Of code return what it repeats of the directive.
        """
        if sample.form == Form.CODE:
            return [PairScore(sample.id, RECITED, recitation(self._shown(item, sample.text), item.text))]
        one, other = self._vector(item.text), self._vector(sample.text)
        if not sample.text.strip() or not one.values.any() or not other.values.any():
            return ()
        # Vectors of length 1 in 32 bits: the product of equal ones comes to 1.0000001.
        value = max(-1.0, min(1.0, float(one.values @ other.values)))
        found = []
        for program in programs(tree.samples):
            if sample.id in {row.id for row in program.summaries}:
                cosines = {row.id: row.scores[COSINE] for row in program.summaries if COSINE in row.scores}
                cosines[sample.id] = value
                mean = sum(cosines.values()) / len(cosines)
                found += [PairScore(row.id, COSINE, mean) for row in program.rows]
        if one.truncated or other.truncated:
            found.append(PairScore(sample.id, CUT, 1.0))
        # Last, since a summary that has its cosine is not compared again where a run is resumed.
        return [*found, PairScore(sample.id, COSINE, value)]


def drawn(settings: DirectiveSettings) -> list[float]:
    """Return the temperature of each program, by its index: at 0 all would be equal, so one is drawn."""
    return [heat for heat in settings.temperatures for _ in range(settings.draws if heat else 1)]


def file_problem(directive: Directive) -> Problem:
    """Return the problem as its file shows it, with its docstring; where the body is a hole, its tests test nothing."""
    problem = replace(directive.problem, program=directive.problem.asked, body=directive.problem.asked_body)
    if directive.solved:
        return problem
    return replace(problem, entry=_CANDIDATE, program=f"{problem.program.rstrip()}\n\n\n{_UNWRITTEN}\n")


def written_directives(settings: RunSettings) -> tuple[Directives, Path]:
    """Read the file, or take what was written by hand, and write its project; return both. Raises UserError."""
    wanted = settings.directive
    if wanted.words is not None:
        directives = by_hand(wanted.words, wanted.header, wanted.tests)
    elif wanted.header or wanted.tests:
        raise UserError(
            "A header or tests were given without a directive.", "Say --directive TEXT as well, or leave them out."
        )
    else:
        directives = read_directives(benchmark_file(settings.benchmark))
    problems = [file_problem(directive) for directive in directives.every]
    with writing("The directives"):
        return directives, write_project(problems, directives.name, source=settings.benchmark.file or "")


def open_directive(stack: ExitStack, project: Path, settings: RunSettings, notify: Notify, report: Report) -> Opened:
    """Read the directives, open the embedding model, and learn the tests where there are some. Raises UserError.

    `project` is passed over: the project is written from the directives.
    """
    report("reading directives", 0, 1)
    directives, root = written_directives(settings)
    embedder = open_embedder(
        settings.directive.embedder, settings.generation, notify, lambda: report("loading the embedding model", 0, 1)
    )
    stack.callback(embedder.close)
    info, directive = embedder.info, settings.directive
    if directive.embedder_sha256 and directive.embedder_sha256 != info.sha256:
        raise ModelError(
            f"The embedding model {info.path} is not the one the run began with ({directive.embedder_name}).",
            "Put the same file back, or start a new run: cosines of two models do not compare.",
        )
    chosen = replace(directive, embedder_name=info.name, embedder_sha256=info.sha256)
    judged: Judged | None = None
    if any(directive.tested for directive in directives.every):
        problem = f"The tests of {directives.name} cannot be used"
        remedy = "Mend `tests` or `reference` of the directives, or leave them out."
        judged = open_written(stack, root, settings.oracle, notify, report, problem, remedy)
    similarity = f"similarity by {embedder.info.name}"  # stands with every figure of the run
    done = replace(settings, prompt_version=PROMPT_VERSION, directive=chosen)
    return Opened(
        make_trip=lambda settings: DirectiveTrip(directives, judged, embedder, settings),
        settings=done,
        root=judged.codebase.root if judged else root,
        fingerprint=f"{directives.fingerprint}-{VERSION}",
        oracle=f"{judged.oracle.name}, {similarity}" if judged else similarity,
        suite=judged.suite if judged else NOTHING_TESTED,
        image_digest=judged.oracle.image_digest if judged else "",
    )
