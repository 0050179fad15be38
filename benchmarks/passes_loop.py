"""The loop a user would write with llama-cpp-python's high-level interface; benchmarks/passes.py speaks to it.

python benchmarks/passes_loop.py MODEL THREADS      JSON lines in and out
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import llama_cpp
import numpy as np
from passes_sides import sampling

from rtc_inspector.core.generation import PLAIN


class Plain:
    """One model, one request after the other."""

    def __init__(self, path: str, threads: int) -> None:
        self.model = llama_cpp.Llama(path, n_ctx=8192, verbose=False, n_threads=threads, n_threads_batch=threads)
        self.evaluated = 0
        self._evaluate = self.model.eval
        self.model.eval = self._counting  # type: ignore[method-assign]

    def _counting(self, tokens: Sequence[int]) -> None:
        self.evaluated += len(tokens)
        self._evaluate(tokens)

    def draw(self, requests: Sequence[dict[str, Any]]) -> dict[str, Any]:
        self.evaluated, generated, texts = 0, 0, {}
        cpu, start = time.process_time(), time.perf_counter()
        for request in requests:
            answer = self.ask(request)
            texts[request["id"]] = said(answer)
            generated += answer["usage"]["completion_tokens"]
        return {
            "texts": texts,
            "seconds": time.perf_counter() - start,
            "cpu": time.process_time() - cpu,
            "evaluated": self.evaluated - generated,
            "generated": generated,
        }

    def ask(self, request: dict[str, Any]) -> Any:
        messages = request["prompt"]["messages"]
        if messages[0]["role"] == PLAIN:
            return self.model.create_completion(messages[0]["content"], **sampling(request))
        return self.model.create_chat_completion(messages, **sampling(request))

    def compare(self, request: dict[str, Any], loop: str, ours: str) -> dict[str, Any]:
        """The logits of the two tokens where the texts part, and whether a loop without any cache writes ours."""
        self.model.reset()
        fresh = self.ask(request)
        alone = said(fresh)
        prompt = list(self.model.input_ids[: fresh["usage"]["prompt_tokens"]])
        one, other = (self._tokens(text) for text in (loop, ours))
        same = next((i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
        same = min(len(one), len(other)) if same is None else same
        self.model.reset()
        self._evaluate([*prompt, *one[:same]])
        logits = np.array(self.model._ctx.get_logits_ith(-1)[: self.model.n_vocab()])
        ends = self.model.token_eos()
        pair = [text[same] if same < len(text) else ends for text in (one, other)]
        top = np.sort(logits)[::-1]
        return {
            "token": same,
            "logit_loop": round(float(logits[pair[0]]), 4),
            "logit_ours": round(float(logits[pair[1]]), 4),
            "best_two": [round(float(x), 4) for x in top[:2]],
            "loop_without_cache": "ours" if alone == ours else "loop" if alone == loop else "a third text",
        }

    def _tokens(self, text: str) -> list[int]:
        return list(self.model.tokenize(text.encode(), add_bos=False))


def said(answer: Any) -> str:
    """The text of an answer of either kind."""
    choice = answer["choices"][0]
    return choice["text"] if "text" in choice else choice["message"]["content"]


def main() -> None:
    plain = Plain(sys.argv[1], int(sys.argv[2]))
    for line in sys.stdin:
        message = json.loads(line)
        if "compare" in message:
            answer = plain.compare(message["compare"], message["loop"], message["ours"])
        else:
            answer = plain.draw(message["requests"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
