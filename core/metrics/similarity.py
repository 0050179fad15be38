"""How alike a candidate and its reference are, by text and by tree: all figures 0..1, none ever raises.

Defined for empty texts: two empty texts are alike (1), an empty and a full one are not (0).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from rtc_inspector.core.metrics.syntax import same_syntax_tree

_LINE_END = re.compile(r"\r\n|\r|\n")
TOKEN = re.compile(r"\w+|[^\w\s]")
"""Of code in any language: a word (letters, digits, underscore) or a single other sign."""


def code_scores(candidate: str, reference: str) -> dict[str, float]:
    """Every metric of a synthesis trip by name (RTC paper, Sec. 4; metric audit)."""
    return {name: function(candidate, reference) for name, function in CODE_METRICS.items()}


def exact_match(candidate: str, reference: str) -> float:
    """1 when equal but for white space at the ends of lines and of the text, and the kind of line ends."""
    return float(without_trailing_space(candidate) == without_trailing_space(reference))


def without_trailing_space(text: str) -> str:
    """The text with `\\n` line ends, no white space before them, and no blank lines at its end."""
    return "\n".join(line.rstrip() for line in _LINE_END.split(text)).rstrip("\n")


def edit_similarity(candidate: str, reference: str) -> float:
    """EDIT-SIM = 1 - lev / max(len), over characters (metric audit)."""
    return float(Levenshtein.normalized_similarity(candidate, reference))


def bleu(candidate: str, reference: str) -> float:
    """Sentence BLEU-4 by sacreBLEU, exponential smoothing, effective order for short texts.

    Tokens are `TOKEN`s: sacreBLEU's own default would keep `a.b(c)` whole. White space does not count.
    """
    words, wanted = (" ".join(TOKEN.findall(text)) for text in (candidate, reference))
    # sacreBLEU gives 0 for two empty texts, which are alike.
    if not words or not wanted:
        return float(words == wanted)
    metric = BLEU(tokenize="none", force=True, effective_order=True)
    return _fraction(metric.sentence_score(words, [wanted]).score)


def description_bleu(candidate: str, reference: str) -> float:
    """Return sentence BLEU-4 of two descriptions, with sacreBLEU's `intl` tokens.

    Effective order, exponential smoothing. The RTC paper does not name its BLEU; 11 of the 12 values of its Appendix C
    are these.
    """
    if not candidate.strip() or not reference.strip():
        return float(candidate.strip() == reference.strip())
    metric = BLEU(tokenize="intl", force=True, effective_order=True)
    return _fraction(metric.sentence_score(candidate, [reference]).score)


def chrf(candidate: str, reference: str) -> float:
    """Sentence chrF by sacreBLEU: character n-grams up to 6, beta 2, no word n-grams, white space left out."""
    if not candidate.strip() or not reference.strip():
        return float(candidate.strip() == reference.strip())
    return _fraction(CHRF().sentence_score(candidate, [reference]).score)


def _fraction(percent: float) -> float:
    return min(1.0, max(0.0, percent / 100))


CODE_METRICS: Mapping[str, Callable[[str, str], float]] = MappingProxyType(
    {
        "exact_match": exact_match,
        "exact_match_strict": lambda candidate, reference: float(candidate == reference),
        "same_ast": lambda candidate, reference: float(same_syntax_tree(candidate, reference)),
        "edit_sim": edit_similarity,
        "chrf": chrf,
        "bleu": bleu,
    }
)
"""What is scored of all code as it is made, by name."""
