"""How alike two texts are by the vectors of their tokens, as BERTScore and CodeBERTScore match them.

Each token of one text is held against the most similar token of the other, by cosine: the mean over the candidate's
tokens is the precision, over the reference's the recall. There is no weighting by rareness and no rescaling.
"""

from __future__ import annotations

import string

import numpy as np
from numpy.typing import NDArray

from rtc_inspector.core.generation import TokenVectors

_PUNCTUATION = frozenset(string.punctuation) - frozenset("+-*/&|~")
"""Signs that mean little by themselves in code; operators mean something."""


def matched(candidate: TokenVectors, reference: TokenVectors, *, code: bool) -> dict[str, float]:
    """`p`, `r`, `f1` and `f3` (recall counts nine times as much).

    With `code` tokens that are only punctuation are left out, and no similarity is below 0, as in CodeBERTScore. All
    are 0 where nothing is left of either text.
    """
    made, wanted = _unit(candidate, code), _unit(reference, code)
    if not len(made) or not len(wanted):
        return {"p": 0.0, "r": 0.0, "f1": 0.0, "f3": 0.0}
    similar = made @ wanted.T
    if code:
        similar = np.maximum(similar, 0.0)
    precision, recall = float(similar.max(axis=1).mean()), float(similar.max(axis=0).mean())
    precision, recall = min(1.0, precision), min(1.0, recall)
    return {"p": precision, "r": recall, "f1": f_score(precision, recall, 1), "f3": f_score(precision, recall, 3)}


def f_score(precision: float, recall: float, beta: float) -> float:
    """Their weighted harmonic mean; 0 where it is not defined."""
    below = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / below if below else 0.0


def _unit(text: TokenVectors, code: bool) -> NDArray[np.float64]:
    """The vectors of the tokens that count, each of length 1."""
    kept = [at for at, token in enumerate(text.tokens) if not code or _counts(token)]
    vectors = text.values[kept].astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float64] = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return unit


def _counts(token: str) -> bool:
    return not all(sign in _PUNCTUATION for sign in token.strip())
