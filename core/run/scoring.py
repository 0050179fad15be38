"""Scores the judged code of stored runs by every metric of the audit, and keeps the scores.

What is stored is never computed again. So an audit is asked for again at the cost of reading, and a run that grew costs
what is new in it.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from rtc_inspector.core.generation import Embedder, TokenVectors
from rtc_inspector.core.metrics.codebleu import CRYSTAL, NAMES, Gram, all_scores, shared_ngrams
from rtc_inspector.core.metrics.metric import PERTURBATIONS, stored_name
from rtc_inspector.core.metrics.similarity import heads, matched, plain_code
from rtc_inspector.core.platform import usable_cores
from rtc_inspector.core.rewrites.names import generic_variables, mask_name
from rtc_inspector.core.store.reader import Reader
from rtc_inspector.core.store.rows import CandidateRow
from rtc_inspector.core.store.writer import Store
from rtc_inspector.core.types import SIGNATURE, Report

BY_VECTORS = ("token_p", "token_r", "token_f1", "token_f3", "text_f1")
TEXTS_HELD = 10_000  # candidates whose texts are held at a time
PERTURBED = ("edit_sim", "chrf", "bleu", "codebleu", CRYSTAL)


@dataclass(frozen=True)
class Pair:
    """The two texts of a candidate as they are compared, and the stored names of their scores by plain name."""

    row: CandidateRow
    candidate: str
    reference: str
    names: Mapping[str, str]

    @property
    def missing(self) -> frozenset[str]:
        """Metrics to compute. What is not defined has no score, so the last of them stands for all."""
        if self.names[CRYSTAL] in self.row.scores:
            return frozenset()
        return frozenset(name for name in self.names if self.names[name] not in self.row.scores)


def pairs(rows: Sequence[CandidateRow], corpus: str, model: str = "") -> list[Pair]:
    """Return what is compared of each candidate: whole functions where the item has a signature, else the texts.

    Of both only the plain code is compared, without fences and docstrings.
    `corpus` and `model` are those that scores depend on; see `stored_name`.
    """
    found, plain = [], dict[str, str]()
    for row in rows:
        head = row.origin.get(SIGNATURE)
        texts = [(head or "") + text for text in (row.text, row.reference)]
        for text in texts:
            if text not in plain:
                plain[text] = plain_code(text)
        names = {name: stored_name(name, corpus if name == CRYSTAL else "", head is not None) for name in NAMES}
        if model:
            names |= {name: stored_name(name, model, head is not None) for name in BY_VECTORS}
        found.append(Pair(row, plain[texts[0]], plain[texts[1]], names))
    return found


def perturbed(pair: Pair, how: str, corpus: str, model: str = "") -> Pair | None:
    """Return the pair after a change that keeps the meaning.

    None where a side does not parse, or there is no function.
    """
    texts: list[str | None] = [pair.candidate, pair.reference]
    if how.startswith("vars"):
        sides = {"vars-candidate": (0,), "vars-reference": (1,), "vars-both": (0, 1)}[how]
        for side in sides:
            texts[side] = _generic(texts[side] or "")
    else:
        entry = pair.row.origin.get("function", "")
        others = ("candidate_function", "candidate_function" if how == "name-same" else "reference_function")
        texts = [mask_name(text or "", entry, other) for text, other in zip(texts, others, strict=True)]
        if not entry or (texts[0], texts[1]) == (pair.candidate, pair.reference):
            return None
    candidate, reference = texts
    if candidate is None or reference is None:
        return None
    function = SIGNATURE in pair.row.origin
    depends = {CRYSTAL: corpus, **dict.fromkeys(BY_VECTORS, model)}
    names = (*PERTURBED, *(BY_VECTORS[2:] if model else ()))
    stored = {name: stored_name(f"{name}@{how}", depends.get(name, ""), function) for name in names}
    return Pair(pair.row, candidate, reference, stored)


@lru_cache(4096)
def _generic(text: str) -> str | None:
    """Return it with generic variables; statements of a block are read as such."""
    for head in heads(text):
        made = generic_variables(head + text)
        if made is not None:
            return made[len(head) :]
    return None


def corpus_of(reader: Reader, run_id: int) -> tuple[str, frozenset[Gram]]:
    """Return the n-grams that a run's references share, those of unattempted problems included, and their digest."""
    items = [item for item in reader.items(run_id) if not item.extra and item.text]
    texts = {item.key: plain_code(item.origin.get(SIGNATURE, "") + item.text) for item in items}
    shared = shared_ngrams(texts[key] for key in sorted(texts))
    return hashlib.sha256(json.dumps(sorted(shared)).encode()).hexdigest()[:8], shared


def score_runs(
    store: Store, run_ids: Sequence[int], report: Report, embedder: Embedder | None = None, *, perturb: bool = False
) -> int:
    """Score what has no scores yet; how many candidates that were. Raises StoreError, and what `report` raises.

    With `perturb` the pairs are scored after each of PERTURBATIONS too, which takes some five times as long.
    """
    model = embedder.info.name if embedder is not None else ""
    done = 0
    for run_id in run_ids:
        corpus, shared = corpus_of(store.reader, run_id)
        rows, kept = store.reader.candidates(run_id), set[str]()
        for at in range(0, len(rows), TEXTS_HELD):
            ids = [row.sample_id for row in rows[at : at + TEXTS_HELD]]
            found = pairs(store.reader.candidates(run_id, ids), corpus, model)
            if perturb:
                changed = (perturbed(pair, how, corpus, model) for pair in found for how in PERTURBATIONS)
                found += [each for each in list(changed) if each is not None]
            texts = [pair for pair in found if pair.missing - set(BY_VECTORS)]
            _score_texts(store, run_id, texts, shared, report)
            scored = {pair.row.sample_id for pair in texts}
            if embedder is not None:
                vectors = [pair for pair in found if pair.names[BY_VECTORS[-1]] not in pair.row.scores]
                _score_vectors(store, run_id, vectors, embedder, report)
                scored |= {pair.row.sample_id for pair in vectors}
            done += len(scored)
            kept |= {pair.names[CRYSTAL] for pair in found}
        if rows:
            # CrystalBLEU depends on what the run's references share. When items came since, its scores have another
            # name, and those under the old one are of no use.
            for sign in (":", "@") if perturb else (":",):
                store.drop_scores(run_id, f"{CRYSTAL}{sign}", kept)
    return done


def _score_texts(store: Store, run_id: int, found: Sequence[Pair], shared: frozenset[Gram], report: Report) -> None:
    wanted = [(pair.candidate, pair.reference, pair.missing - set(BY_VECTORS)) for pair in found]
    report("scoring", 0, len(found))
    for start, scores in all_scores(wanted, shared, usable_cores()):
        rows: dict[int, dict[str, float]] = {}
        for pair, made in zip(found[start:], scores, strict=False):
            stored = {pair.names[name]: value for name, value in made.items()}
            rows.setdefault(pair.row.sample_id, {}).update(stored)
        store.add_many_scores(run_id, rows)
        report("scoring", start + len(scores), len(found))


def _score_vectors(store: Store, run_id: int, found: Iterable[Pair], embedder: Embedder, report: Report) -> None:
    """Item by item, since the vectors of all texts together take gigabytes."""
    # `groupby` joins neighbours only.
    waiting = sorted(found, key=lambda pair: pair.row.item_id)
    done, total = 0, len(waiting)
    report("matching token vectors", 0, total)
    for _, part in groupby(waiting, key=lambda pair: pair.row.item_id):
        known: dict[str, TokenVectors] = {}
        rows: dict[int, dict[str, float]] = {}
        for pair in part:
            for text in (pair.candidate, pair.reference):
                if text not in known:
                    known[text] = embedder.tokens([text])[0]
            both = known[pair.candidate], known[pair.reference]
            made = {f"token_{name}": value for name, value in matched(*both, code=True).items()}
            made["text_f1"] = matched(*both, code=False)["f1"]
            stored = {pair.names[name]: value for name, value in made.items() if name in pair.names}
            rows.setdefault(pair.row.sample_id, {}).update(stored)
            done += 1
            report("matching token vectors", done, total)
        store.add_many_scores(run_id, rows)
