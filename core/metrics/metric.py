"""Every score of a pair of texts: what it is called, what it says, and what it can be. Plain data, quick to import.

A metric is computed by the trip or the analysis that needs it; whatever shows one asks here. A stored metric that is
not named here is shown under its own name.

What a score depends on besides the two texts stands behind colons in its stored name: `token_f1:MiniLM:function` is
the match of token vectors by MiniLM, of whole functions (`stored_name`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Metric:
    """A number for a sample against a reference: the item's own text, or another sample."""

    name: str  # as it is stored
    title: str  # where there is room; `short` is for the head of a column
    short: str
    meaning: str  # what it says, without a subject
    lowest: float = 0.0  # that it can be; the highest is 1
    higher_is_better: bool | None = True  # None where neither is better
    yes_or_no: bool = False  # it is 0 or 1
    counts: bool = False  # it is a share of outcomes, each 0 or 1
    usual: bool = False  # shown even before anything is scored
    # what its stored name says besides: `model`, the embedding model, or `corpus`, a digest of the texts that say what
    # is common. Empty for most
    needs: str = ""

    @property
    def continuous(self) -> bool:
        """Return whether it is no outcome and no share of outcomes: how its mean is bounded (docs/statistics.md)."""
        return not (self.yes_or_no or self.counts)


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "exact_match", "Exact match", "Exact", "the same text, white space at line ends aside",
            yes_or_no=True, usual=True,
        ),
        Metric(
            "exact_match_strict", "Exact match, white space too", "Exact, strict", "the same text, sign by sign",
            yes_or_no=True,
        ),
        Metric(
            "same_ast", "Same syntax tree", "Same tree", "the same syntax tree: layout and comments aside",
            yes_or_no=True, usual=True,
        ),
        Metric(
            "edit_sim", "Likeness by character edits (EDIT-SIM)", "EDIT-SIM",
            "1 − edit distance ÷ length of the longer text, by character",
            usual=True,
        ),
        Metric(
            "bleu", "Likeness by token runs (BLEU)", "BLEU",
            "shared runs of up to four tokens, short answers penalised", usual=True,
        ),
        Metric(
            "chrf", "Likeness by character runs (chrF)", "chrF",
            "shared runs of up to six characters, precision and recall", usual=True,
        ),
        Metric(
            "codebleu", "CodeBLEU", "CodeBLEU",
            "mean of shared token runs, plain and with keywords weighted, subtrees and data flow; no match of data "
            "flow counts 1, as in the package codebleu",
        ),
        Metric(
            "codebleu_zero", "CodeBLEU, no data flow counts 0", "CodeBLEU-0",
            "CodeBLEU where no match of data flow counts 0",
        ),
        Metric("codebleu_ngram", "CodeBLEU: token runs", "CB tokens", "its part on runs of up to four tokens"),
        Metric(
            "codebleu_weighted", "CodeBLEU: weighted token runs", "CB weighted",
            "its part where keywords weigh five times as much, a recall",
        ),
        Metric(
            "codebleu_syntax", "CodeBLEU: subtrees", "CB trees", "share of the reference's subtrees that are there"
        ),
        Metric(
            "codebleu_dataflow", "CodeBLEU: data flow", "CB flow",
            "share of the reference's data flow that is there; none where the reference has no data flow",
        ),
        Metric(
            "crystalbleu", "CrystalBLEU", "CrystalBLEU",
            "shared runs of up to four tokens, without those that most references have", needs="corpus",
        ),
        Metric(
            "token_p", "Token vectors: precision", "precision",
            "how near each of its tokens is to the nearest one of the reference, punctuation left out",
            needs="model",
        ),
        Metric(
            "token_r", "Token vectors: recall", "recall",
            "how near each token of the reference is to its nearest one, punctuation left out", needs="model",
        ),
        Metric("token_f1", "Token vectors: F1", "F1", "precision and recall of token vectors", needs="model"),
        Metric(
            "token_f3", "Token vectors: F3", "F3",
            "precision and recall of token vectors, recall weighing nine times as much", needs="model",
        ),
        Metric(
            "text_f1", "Token vectors: F1 with punctuation", "F1 of all tokens",
            "precision and recall of the vectors of all tokens, as for texts", lowest=-1.0, needs="model",
        ),
        Metric(
            "unchanged", "Old code unchanged", "Old code", "the old code came back unchanged",
            higher_is_better=False, yes_or_no=True,
        ),
        Metric(
            "cosine", "Similarity of meaning (cosine)", "Cosine",
            "cosine of sentence vectors, of a program the mean over its summaries", lowest=-1.0,
        ),
        Metric(
            "cosine_cut", "Compared in part", "Cut", "a text was longer than the embedding model reads",
            higher_is_better=None, yes_or_no=True,
        ),
        Metric(
            "directive_recited", "Directive recited", "Recited", "share of the directive that the code repeats",
            higher_is_better=None,
        ),
        Metric(
            "description_bleu", "BLEU of the description", "BLEU (words)", "words shared with what a person wrote"
        ),
        Metric(
            "tom", "Test output match", "TOM", "the share of tests with the same output from both programs",
            counts=True,
        ),
        Metric(
            "rouge_synonym", "ROUGE by synonyms", "ROUGE-syn.",
            "words of the docstring that the description says again, or says by synonyms",
        ),
        Metric("rouge_l", "ROUGE-L", "ROUGE-L", "words of the docstring in the same order, precision and recall"),
        Metric("hidden_name", "Hidden name", "Name", "the answer begins with the hidden name", yes_or_no=True),
    )
}  # fmt: skip


PERTURBATIONS: Mapping[str, str] = {
    "vars-candidate": "variables of the candidate called var0, var1 ...",
    "vars-reference": "variables of the reference called so",
    "vars-both": "variables of both called so",
    "name-same": "both functions called candidate_function",
    "name-different": "functions called candidate_function and reference_function",
}
"""Changes that keep the meaning (metric audit, Table 6). A score after one is stored as `chrf@vars-both`."""
FUNCTION = "function"
"""At the end of a stored name: whole functions were compared, where an item is less or more than one."""


def stored_name(name: str, depends: str = "", function: bool = False) -> str:
    """Return the name under which a score is stored. `depends`: the model, or the corpus, that it depends on."""
    return ":".join(part for part in (name, depends.replace(":", "-"), FUNCTION if function else "") if part)


def metric(name: str) -> Metric:
    """Return the metric of that stored name; one that nobody has described stands under its own name."""
    base, *behind = name.split(":")
    described = METRICS.get(base)
    if described is None:
        plain = name.replace("_", " ")
        return Metric(name, plain, plain, "a score that this version does not describe")
    if not behind:
        return described
    function = behind[-1] == FUNCTION
    of = " of whole functions" if function else ""
    model = f"{behind[0]}: " if described.needs == "model" else ""
    return replace(
        described, name=name, title=f"{model}{described.title}{of}", short=f"{model}{described.short}", usual=False
    )
