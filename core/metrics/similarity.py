"""How alike two texts are: as code by text, tree and token vectors, as words by what is said again. None ever raises.

Figures of code are 0..1, also for empty texts: two empty texts are alike (1), an empty and a full one are not (0).
"""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rapidfuzz.distance import LCSseq, Levenshtein

from rtc_inspector.core.generation import TokenVectors
from rtc_inspector.core.syntax import NEWLINE, AnyFunction, first_line_of, parsed
from rtc_inspector.resources.synonyms import synonyms

if TYPE_CHECKING:  # numpy, as sacreBLEU with it, is loaded when the first texts are compared: a run begins without
    import numpy as np
    from numpy.typing import NDArray

TOKEN = re.compile(r"\w+|[^\w\s]")
"""Of code in any language: a word (letters, digits, underscore) or a single other sign."""


def code_scores(candidate: str, reference: str) -> dict[str, float]:
    """Return every metric of a synthesis trip by name (RTC paper, Sec. 4; metric audit)."""
    return {name: function(candidate, reference) for name, function in CODE_METRICS.items()}


def exact_match(candidate: str, reference: str) -> float:
    """Return 1 when equal but for white space at the ends of lines and of the text, and the kind of line ends."""
    return float(without_trailing_space(candidate) == without_trailing_space(reference))


def without_trailing_space(text: str) -> str:
    """Return the text with `\\n` line ends, no white space before them, and no blank lines at its end."""
    return "\n".join(line.rstrip() for line in NEWLINE.split(text)).rstrip("\n")


def edit_similarity(candidate: str, reference: str) -> float:
    """Return EDIT-SIM = 1 - lev / max(len), over characters (metric audit)."""
    return float(Levenshtein.normalized_similarity(candidate, reference))


def bleu(candidate: str, reference: str) -> float:
    """Return sentence BLEU-4 by sacreBLEU, exponential smoothing, effective order for short texts.

    Tokens are `TOKEN`s: sacreBLEU's own default would keep `a.b(c)` whole. White space does not count.
    """
    words, wanted = (" ".join(TOKEN.findall(text)) for text in (candidate, reference))
    return _sentence_bleu(words, wanted, "none")


def description_bleu(candidate: str, reference: str) -> float:
    """Return sentence BLEU-4 of two descriptions, with sacreBLEU's `intl` tokens.

    Effective order, exponential smoothing. The RTC paper does not name its BLEU; 11 of the 12 values of its Appendix C
    are these.
    """
    return _sentence_bleu(candidate, reference, "intl")


def _sentence_bleu(candidate: str, reference: str, tokens: str) -> float:
    # sacreBLEU gives 0 for two empty texts, which are alike.
    if not candidate.strip() or not reference.strip():
        return float(candidate.strip() == reference.strip())
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU(tokenize=tokens, force=True, effective_order=True)
    return _fraction(metric.sentence_score(candidate, [reference]).score)


def chrf(candidate: str, reference: str) -> float:
    """Return sentence chrF by sacreBLEU: character n-grams up to 6, beta 2, no word n-grams, no white space."""
    if not candidate.strip() or not reference.strip():
        return float(candidate.strip() == reference.strip())
    from sacrebleu.metrics.chrf import CHRF

    return _fraction(CHRF().sentence_score(candidate, [reference]).score)


def _fraction(percent: float) -> float:
    return min(1.0, max(0.0, percent / 100))


CODE_METRICS: Mapping[str, Callable[[str, str], float]] = {
    "exact_match": exact_match,
    "exact_match_strict": lambda candidate, reference: float(candidate == reference),
    "same_ast": lambda candidate, reference: float(same_syntax_tree(candidate, reference)),
    "edit_sim": edit_similarity,
    "chrf": chrf,
    "bleu": bleu,
}
"""What is scored of all code as it is made, by name."""


# ---- syntax trees of Python


_INDENT = re.compile(r"(?:\r\n|\r|\n)([ \t]*)(?=[^ \t\r\n#])")
_FENCED = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"\"\"\"|\'\'\'|:\s+[rR]?[\"\']")
"""Where there is nothing like it, there is no docstring, and nothing need be parsed."""
_GONE = b"\0"
_LONGEST = 100_000  # characters; the parser could run out of stack on longer, deeply nested code


def same_syntax_tree(candidate: str, reference: str) -> bool:
    """Return whether the trees are equal, positions, comments and layout aside, and both sides parse. Never raises."""
    tree = syntax_tree(candidate)
    return tree is not None and tree == syntax_tree(reference)


def syntax_tree(text: str) -> str | None:
    """Return a canonical text of the tree of some statements, None when they do not parse. Never raises.

    The statements may be indented, and the first line may lack the indentation of the others, as in a region's text.
    """
    if len(text) > _LONGEST:
        return None
    for head in heads(text):
        tree = parsed(head + text)
        if tree is None:
            continue
        body = tree.body
        if head and len(body) == 1 and isinstance(body[0], ast.If):
            body = body[0].body
        try:
            return "\n".join(ast.dump(statement) for statement in body)
        except RecursionError:
            return None
    return None


def plain_code(text: str) -> str:
    """Return the code that two sides are compared by: fences around it and docstrings in it are gone, comments stay.

    Code that does not parse keeps everything but its fences. Never raises.
    """
    fenced = _FENCED.search(text)
    text = fenced.group(1) if fenced else text
    if len(text) > _LONGEST or not _QUOTED.search(text):
        return text
    for head in heads(text):
        tree = parsed(head + text)
        if tree is not None:
            return _without_docstrings(head + text, tree)[len(head) :]
    return text


def function_of(program: str, name: str) -> str | None:
    """Return the source of a program's last top function of that name, decorators included; None without one."""
    tree = parsed(program) if len(program) <= _LONGEST else None
    found = [node for node in tree.body if isinstance(node, AnyFunction) and node.name == name] if tree else []
    if not found:
        return None
    return "\n".join(program.split("\n")[first_line_of(found[-1]) - 1 : found[-1].end_lineno])


def _without_docstrings(source: str, tree: ast.Module) -> str:
    lines = source.encode().split(b"\n")  # the tree counts bytes
    for node in ast.walk(tree):
        if not isinstance(node, AnyFunction | ast.ClassDef) or ast.get_docstring(node, clean=False) is None:
            continue
        text = node.body[0]
        first, last = text.lineno - 1, (text.end_lineno or text.lineno) - 1
        before, after = lines[first][: text.col_offset], lines[last][text.end_col_offset :]
        after = after.lstrip(b" \t;")
        # Marked, not removed: the numbers of the lines after it still hold.
        lines[first : last + 1] = [before + after if before.strip() or after.strip() else _GONE] + [_GONE] * (
            last - first
        )
    return b"\n".join(line for line in lines if line != _GONE).decode()


def heads(text: str) -> Iterator[str]:
    """Yield what to put before a text to parse it: nothing, then a block at each indentation that its lines suggest."""
    yield ""
    yield "if 1:\n"
    for indent in sorted(set(_INDENT.findall(text)) - {""}, key=len):
        yield f"if 1:\n{indent}"


# ---- recitation (the RTC paper, Sec. 2)


SHORTEST_RUN = 6  # tokens. `self.items` has three and `foo.bar()` five: naming those is describing, not reciting
_TOKEN = re.compile(r"\w+|[^\w\s`]")
"""Without back ticks: descriptions in Markdown wrap names in them, which would hide that the rest is quoted."""


def recitation(description: str, code: str) -> float:
    """Return the share of the code's characters, blanks aside, that stand verbatim in the description: 0..1.

    Both are cut into tokens: a word (letters, digits, underscore) or a single other sign. White space is dropped,
    so reflowed code still counts, and so are back ticks, so code with its names marked up counts too. A code token
    is recited when it lies in a run of at least `SHORTEST_RUN` consecutive code tokens that occurs in the
    description as it is. Code shorter than that counts only when quoted whole. Code quoted whole gives 1; code
    without a token gives 0.
    """
    tokens = _TOKEN.findall(code)
    total = sum(map(len, tokens))
    if not total:
        return 0.0
    length = min(SHORTEST_RUN, len(tokens))
    quoted = set(ngrams(_TOKEN.findall(description), length))
    recited: set[int] = set()
    for start, run in enumerate(ngrams(tokens, length)):
        if run in quoted:
            recited.update(range(start, start + length))
    return sum(len(tokens[i]) for i in recited) / total


def ngrams(tokens: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    """Yield every run of so many tokens."""
    return zip(*(tokens[i:] for i in range(length)), strict=False)


# ---- words (cosmetic variance, Sec. 2)


_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words(text: str) -> list[str]:
    """Return the words of a text in small letters, those inside camelCase and snake_case too; letters only."""
    return [word.lower() for word in _WORD.findall(text)]


def rouge_synonym(candidate: str, reference: str) -> float | None:
    """Return the share of the synonyms of the reference's words that are synonyms of the candidate's, too."""
    wanted, found = (frozenset[str]().union(*map(synonyms, words(text))) for text in (reference, candidate))
    return len(wanted & found) / len(wanted) if wanted else None


def rouge_l(candidate: str, reference: str) -> float | None:
    """Return F1 of the longest common subsequence of words."""
    wanted, found = words(reference), words(candidate)
    if not wanted:
        return None
    return 2 * int(LCSseq.similarity(wanted, found)) / (len(wanted) + len(found))


# ---- token vectors (BERTScore, CodeBERTScore)


_PUNCTUATION = frozenset(string.punctuation) - frozenset("+-*/&|~")
"""Signs that mean little by themselves in code; operators mean something."""


def matched(candidate: TokenVectors, reference: TokenVectors, *, code: bool) -> dict[str, float]:
    """Return `p`, `r`, `f1` and `f3` (recall counts nine times as much).

    With `code` tokens that are only punctuation are left out, and no similarity is below 0, as in CodeBERTScore. All
    are 0 where nothing is left of either text.
    """
    own, wanted = _unit(candidate, code), _unit(reference, code)
    if not len(own) or not len(wanted):
        return {"p": 0.0, "r": 0.0, "f1": 0.0, "f3": 0.0}
    similar = own @ wanted.T
    if code:
        similar = similar.clip(min=0.0)
    precision, recall = float(similar.max(axis=1).mean()), float(similar.max(axis=0).mean())
    precision, recall = min(1.0, precision), min(1.0, recall)
    return {"p": precision, "r": recall, "f1": f_score(precision, recall, 1), "f3": f_score(precision, recall, 3)}


def f_score(precision: float, recall: float, beta: float) -> float:
    """Return their weighted harmonic mean; 0 where it is not defined."""
    below = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / below if below else 0.0


def _unit(text: TokenVectors, code: bool) -> NDArray[np.float64]:
    import numpy as np

    kept = [at for at, token in enumerate(text.tokens) if not code or not _PUNCTUATION.issuperset(token.strip())]
    vectors = text.values[kept].astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float64] = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit
