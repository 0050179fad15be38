"""An OpenAI-compatible endpoint as a `Model`: llama-server, Ollama, LM Studio, vLLM. Used only when configured."""

from __future__ import annotations

import contextlib
import json
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import PurePath

from rtc_inspector.core.errors import Cancelled, ModelError
from rtc_inspector.core.generation import (
    INFILL,
    Generation,
    Infill,
    Message,
    ModelInfo,
    More,
    OnText,
    Prompt,
    Request,
    is_plain,
)
from rtc_inspector.core.models.answers import Ending, TextStream, formats, parted
from rtc_inspector.core.models.chat_http import LONGEST_WAIT, Answer, Dialect, HttpFailure, Line, refuses
from rtc_inspector.core.models.gguf import file_label
from rtc_inspector.core.models.template import COMPLETION_STOP, completion, merge_system
from rtc_inspector.core.settings import DEFAULT_CONTEXT, SERVER_CONTEXT, EndpointSettings, ModelSettings
from rtc_inspector.core.types import Notify, Report, plain
from rtc_inspector.core.waiting import next_of

OLLAMA, LLAMA_SERVER = "Ollama", "llama-server"
BEGIN = 8
MOST = 64  # more at a time than this is asked only of a server whose user says so
GAIN = 1.15  # how much more must come of twice as many requests to be worth it
SETTLED_FOR = 16  # rounds after which it is tried again whether more would bring more


@dataclass(frozen=True, slots=True)
class Served:
    """One model of a server."""

    name: str
    # what the server says of it, as text: another model under the same name reads otherwise, as far as the server tells
    said: str = ""
    window: int = 0  # tokens it takes at most; 0 when unsaid
    parameters: int = 0  # 0 when unsaid
    kind: str = ""  # which program the server is, as far as it can be told
    slots: int = 0  # requests that it works on at a time; 0 when unsaid
    made_for: int = 0  # tokens that the model was made for, of which the server may give it fewer; 0 when unsaid


class Gate:
    """Lets so many requests through at a time. Any thread may call it."""

    def __init__(self, begin: int = BEGIN, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        """`begin`, `most`: where they are equal, the number only shrinks, and grows back."""
        self.limit = self._former = min(begin, most)
        self.most = most
        self._clock = clock
        self._inside = self._outside = 0
        self._change = threading.Condition()
        self._best = 0.0
        self._settled, self._full = 0, True
        self._refused = float("-inf")
        self._start()

    def enter(self, given_up: threading.Event) -> bool:
        """Wait for a place; False once all was given up."""
        with self._change:
            self._outside += 1
            while self._inside >= self.limit and not given_up.is_set():
                self._change.wait(0.1)
            self._outside -= 1
            if self._inside == 0:  # nothing was asked meanwhile: that time says nothing of the server
                self._start()
            self._inside += not given_up.is_set()
            return not given_up.is_set()

    def leave(self, tokens: float, more: bool) -> None:
        """Give the place back, with as many tokens as came; `more`: whether there are requests
        besides those whose threads wait for a place.
        """
        with self._change:
            self._inside -= 1
            self._came += tokens
            self._answers += 1
            self._full = self._full and (more or self._outside > 0)
            if self._answers >= self.limit:
                self._judge()
            self._change.notify_all()

    def back_off(self) -> None:
        """Heed a server that has too many requests: halve them, once for all that were under way."""
        with self._change:
            now = self._clock()
            if now - self._refused > 1.0:
                self._refused = now
                self._settle(max(1, self.limit // 2))
                self._start()

    def _judge(self) -> None:
        """Hold a round against the best so far; one in which places stood empty tells nothing."""
        rate = self._came / max(1e-9, self._clock() - self._since)
        if self._full and self._settled:
            self._settled -= 1
        elif self._full and rate >= GAIN * self._best:
            self._best, self._former, self.limit = rate, self.limit, min(self.most, 2 * self.limit)
        elif self._full:
            self._settle(self._former)
        self._start()

    def _settle(self, limit: int) -> None:
        self.limit = self._former = limit
        self._best, self._settled = 0.0, SETTLED_FOR

    def _start(self) -> None:
        self._since, self._came, self._answers = self._clock(), 0.0, 0
        self._full = True


CHARACTERS_PER_TOKEN = 2.5  # for source code, on the safe side: the endpoint does not count for us
TOO_MANY = 429
REFUSING = (401, 402, 403, 404)
"""What a server answers that will not serve this key or this model: it would say the same of every other sample."""
FIRST_WAIT = 1.0
LEAST_HELD = 2000  # characters of a prompt that is held against the tokens read of it: of a shorter one nothing is cut
MOST_PER_TOKEN = 8  # characters that a token of code never has in the mean
GAP = "<GAP>"  # stands in the record for what the model is to fill
PROBE_SECONDS = 20.0
PROBE_LEFT = 64  # tokens of a window that the server's own template is left
LEAST_WINDOW = 512
LENGTH_REFUSED = (400, 413, 422, 500)
STATED_WINDOW = re.compile(r"(?:context|window|maximum|n_ctx)[^.\d]{0,60}?(\d[\d,]{2,})", re.IGNORECASE)
"""The size that servers name when they refuse a prompt as too long."""
WIDER = {
    "Ollama": "OLLAMA_CONTEXT_LENGTH in the server's environment, or num_ctx in a Modelfile",
    "llama-server": "--ctx-size, which its slots share",
    "LM Studio": "the context length with which it loads the model",
    "vLLM": "--max-model-len",
}
"""How people have a server give a model a larger window."""
_SYSTEM_REFUSED = re.compile(r"system (role|message|prompt)s? (is |are )?not supported", re.IGNORECASE)
"""What the templates of Gemma and others say of a system turn."""
MOST_CHARACTERS, LONGEST_TOKEN = 1 << 16, 64
"""An answer of more characters, whatever its tokens, is none: to read and to compare it would take minutes."""


class RemoteModel:
    """Implements `core.generation.Model` over HTTP."""

    def __init__(
        self,
        server: EndpointSettings,
        generation: ModelSettings,
        served: Served,
        key: str = "",
        first_wait: float = FIRST_WAIT,
        notify: Notify = lambda text: None,
    ) -> None:
        """Prepare to ask a model; nothing is sent yet.

        Args:
            served: the model, as the server describes it.
            key: from the user's environment; never stored.
            first_wait: seconds before the second try; doubled each time, or what the server asks for.
            notify: is told of what the server does not take, by the thread that draws samples.
        """
        self._server, self._generation, self._name = server, generation, served.name
        self.kind = served.kind  # the program that it is; empty where it cannot be told
        self._key, self._first_wait, self._notify = key, first_wait, notify
        self._extra: dict[str, object] = json.loads(server.extra_body or "{}")
        self._style = "chat" if generation.prompt_style in ("auto", "fim") else generation.prompt_style
        # llama-server puts the marks of a gap itself, at an address of its own; others know a `suffix` of completions.
        self._gaps = f"{server.address.rstrip('/').removesuffix('/v1')}/infill" if served.kind == LLAMA_SERVER else ""
        self._stop = threading.Event()
        self._notices: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._dialect = Dialect(self._notices.put)
        self._merged = self._gone = self._cuts = False
        self._thinks = generation.thinking not in ("off", "free")
        self._answers_as = ""
        begin = server.concurrency or served.slots or BEGIN
        self._gate = Gate(begin, server.concurrency or served.slots or MOST)
        self._lines: list[Line] = []
        self._busy: set[Line] = set()
        self._lock = threading.Lock()
        self._served = served
        self._read: list[tuple[int, int, int]] = []  # characters, bytes and tokens of prompts that were read whole
        window = generation.context_size or (SERVER_CONTEXT if served.window else DEFAULT_CONTEXT)
        self.info = ModelInfo(
            # llama-server calls a model by the path of its file.
            name=file_label(PurePath(served.name).name) if served.name.endswith(".gguf") else served.name,
            path=server.address,
            parameters=served.parameters,
            context_size=min(window, served.window or window),
            prompt_style=self._style,
            build="OpenAI-compatible endpoint; repeatable only as far as the server honours seeds",
            served=served.said,
            backward_style=INFILL if generation.prompt_style == "fim" else self._style,
            **plain(generation, "prompt_layout", "top_k", "top_p"),
        )

    @property
    def at_a_time(self) -> int:
        return self._gate.limit

    def count_tokens(self, prompt: Prompt) -> int:
        return int(len(_shown(prompt)) / CHARACTERS_PER_TOKEN) + 8 * len(prompt.messages)

    def generate(
        self, requests: Sequence[Request], on_text: OnText | None = None, on_progress: Report | None = None
    ) -> Iterator[Generation]:
        """Yield each sample as it comes; one that fails for good is `failed`.

        Raises Cancelled, and ModelError once the server refuses whatever it is asked.
        """
        left = iter(requests)
        return self.draw(lambda count: list(islice(left, count)), on_text)

    def draw(self, more: More, on_text: OnText | None = None) -> Iterator[Generation]:
        """Yield each sample as it comes; `more` is asked for further requests whenever the server could take them.

        Raises as `generate`. What `more` raises ends it.
        """
        self._stop = threading.Event()  # here and not in the generator: a cancel between call and first sample counts
        return self._drawn(more, on_text, self._stop)

    def _drawn(self, more: More, on_text: OnText | None, stop: threading.Event) -> Iterator[Generation]:
        waiting: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        done: _Done = queue.Queue()
        left = threads = 0
        answered = True

        def heed() -> None:
            if stop.is_set():
                raise Cancelled
            self._say_noticed()

        try:
            while True:
                heed()
                # As many again as are under way wait their turn: a place that falls free is taken at once.
                for request in more(2 * self._gate.limit - left) if answered and left < 2 * self._gate.limit else ():
                    waiting.put(request)
                    left += 1
                    if threads < min(left, self._gate.most):
                        threads += 1
                        # Daemons: a thread that waits for a slow server must not keep the program from ending.
                        at = (waiting, done, stop)
                        threading.Thread(target=self._work, args=at, name="endpoint", daemon=True).start()
                if not left:
                    return
                came = next_of(done, heed)
                self._tell()
                answered = not isinstance(came, tuple)
                if isinstance(came, ModelError):
                    raise came
                if isinstance(came, tuple):
                    if on_text is not None:
                        on_text(*came)
                    continue
                left -= 1
                yield came
        finally:
            for _ in range(threads):
                waiting.put(None)
            if left:
                stop.set()
                self._hang_up()

    def cancel(self) -> None:
        self._stop.set()
        self._hang_up()

    def close(self) -> None:
        self.cancel()
        with self._lock:
            lines, self._lines = self._lines, []
        for line in lines:
            line.close()

    def _hang_up(self) -> None:
        with self._lock:
            for line in self._busy:
                line.end()

    def _tell(self) -> None:
        """Say what was found out about the server, and keep it with what is recorded of the model."""
        self._say_noticed()
        room = f"+{self._generation.thought_tokens} tokens for thoughts" if self._thinks else ""
        found = self._dialect.conditions, "system turn merged" if self._merged else "", room
        self.info = replace(self.info, conditions=", ".join(filter(None, found)))

    def _say_noticed(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._notify(f"{self.info.name}: {self._notices.get_nowait()}")

    def _work(self, waiting: queue.SimpleQueue[Request | None], done: _Done, stop: threading.Event) -> None:
        """Draw until it is told that nothing more will come, or until the run was left."""
        while (request := waiting.get()) is not None and self._gate.enter(stop):
            tokens = 0
            try:
                drawn = self._draw(request, done, stop)
                if isinstance(drawn, Generation):
                    tokens = drawn.completion_tokens or len(drawn.text)
            finally:
                self._gate.leave(tokens, more=not waiting.empty())
            done.put(drawn)

    def _draw(self, request: Request, done: _Done, stop: threading.Event) -> Generation | ModelError:
        """Return one sample, drawn with retries, or the error that ends the run.

        It never raises, since a sample that is lost would be waited for.
        """
        start = time.monotonic()
        hearing = _Hearing(request, done, stop)
        try:
            answer = self._answer(request, hearing, stop)
        except HttpFailure as failure:
            if failure.status in REFUSING:
                return ModelError(failure.sentence, "Check the key and the name of the model, then resume.")
            if named := next((name for name in self._extra if refuses(failure, name)), ""):
                return ModelError(failure.sentence, f"Leave {named} out of --extra-body, and start a new run.")
            return request.failed(failure.sentence, seconds=time.monotonic() - start)
        except Exception as error:
            problem = f"The server's answer makes no sense: {type(error).__name__}: {error}"
            return request.failed(problem, seconds=time.monotonic() - start)
        return Generation(
            id=request.id,
            rendered=self._sent(request.prompt),
            seconds=time.monotonic() - start,
            cut=self._was_cut(request.prompt, answer.prompt_tokens),
            **plain(
                answer, "text", "thoughts", "prompt_tokens", "completion_tokens", "finish_reason", "thought_tokens"
            ),
        )

    def _was_cut(self, prompt: Prompt, tokens: int) -> bool:
        """Return whether a server read so few tokens of a prompt that it must have cut it, as Ollama does silently.

        It is compared with shorter prompts of the run, which read alike, and with what no tokenizer reaches. Scripts
        differ in how many characters, and others in how many bytes, a token holds: only a prompt that is short of
        tokens by both is cut.
        """
        shown = _shown(prompt)
        sent, size = len(shown), len(shown.encode("utf-8", "replace"))
        if not tokens or sent < LEAST_HELD:
            return False
        with self._lock:
            shorter = [each for each in self._read if each[0] <= sent / 2]
            few = bool(shorter) and all(
                tokens / held < 0.7 * min(each[2] / each[at] for each in shorter)
                for at, held in enumerate((sent, size))
            )
            cut = tokens * MOST_PER_TOKEN < sent or few
            if not cut:
                self._read.append((sent, size, tokens))
            elif not self._cuts:
                self._cuts = True
                likely = f"{sent / CHARACTERS_PER_TOKEN:,.0f}"
                self._notices.put(
                    f"The server read {tokens:,} tokens of a prompt of up to {likely}: it cuts prompts without a word. "
                    f"Give it a larger window ({WIDER.get(self.kind, 'its own settings')}) or say --context "
                    f"{tokens}, and start a new run; samples made so are marked as cut."
                )
        return cut

    def check_gap(self) -> None:
        """Have a small gap filled. Raises ModelError where the server cannot do that with this model."""
        gap = Infill("def add(a, b):\n    return ", "\n\n\ndef subtract(a, b):\n    return a - b\n")
        request = Request("gap", Prompt((), infill=gap), 0.0, 0, 1)
        try:
            self._post(request, _Hearing(request, queue.Queue(), self._stop))
        except HttpFailure as failure:
            raise ModelError(
                f"The server does not fill in the middle: {failure.sentence}",
                "Choose the prompt style `auto`, or a code model that can, behind a server that can.",
            ) from None

    def find_window(self) -> None:
        """Try how long a prompt may be, where the server does not say, and keep what comes of it."""
        for size in (SERVER_CONTEXT, SERVER_CONTEXT // 2, SERVER_CONTEXT // 4):
            # Any tokenizer known reads this as one token each.
            request = Request("window", Prompt((Message("user", " a" * (size - PROBE_LEFT)),)), 0.0, 0, 1)
            try:
                read = self._post(request, _Hearing(request, queue.Queue(), self._stop), PROBE_SECONDS).prompt_tokens
            except HttpFailure as failure:
                stated = STATED_WINDOW.search(failure.details)
                if failure.passing or failure.status not in LENGTH_REFUSED:
                    return
                found = int(stated[1].replace(",", "")) if stated else 0
            else:
                found = size if not read or read > 0.8 * size else read
            if found >= LEAST_WINDOW:
                self._served = replace(self._served, window=min(found, SERVER_CONTEXT))
                self.info = replace(self.info, context_size=self._served.window)
                return

    def on_window(self) -> str:
        """Return a notice on the window that the server gives the model; empty where there is nothing to say."""
        window, made_for = self._served.window, self._served.made_for
        if self._generation.context_size:
            return ""
        if not window:
            size = f"{self.info.context_size:,}"
            return f"{self.info.name}: The server does not say how large its window is, so {size} tokens are used: " + (
                "`--context` says another size."
            )
        if window >= min(made_for, SERVER_CONTEXT):
            return ""
        wider = WIDER.get(self.kind, "its own settings")
        return (
            f"{self.info.name}: The server gives it a window of {window:,} tokens, and it was made for {made_for:,}: "
            f"larger files are shown in part. It gets more by {wider}."
        )

    def _answer(self, request: Request, hearing: _Hearing, stop: threading.Event) -> Answer:
        """Ask until an answer comes. Raises HttpFailure.

        Once a server gave nothing whatever was tried, the samples after it are tried once each, until one comes out:
        a run against a dead server ends soon.
        """
        wait, attempt = self._first_wait, 0
        while True:
            attempt += 1
            try:
                answer = self._post(request, hearing)
            except HttpFailure as failure:
                dead = failure.passing and failure.status != TOO_MANY
                if failure.status == TOO_MANY:
                    self._gate.back_off()
                if not failure.passing or attempt >= self._server.attempts or (self._gone and dead):
                    self._gone = self._gone or dead
                    raise
                if failure.wait > LONGEST_WAIT:
                    self._notices.put(
                        f"The server asks to be left alone for {failure.wait / 60:.0f} minutes (status "
                        f"{failure.status}), and is asked again then. Whoever stops the run can go on with it later."
                    )
                if stop.wait(failure.wait or min(LONGEST_WAIT, wait)):
                    raise
                wait *= 2
            else:
                self._gone = False
                hearing.end(answer)
                return answer

    def _post(self, request: Request, hearing: _Hearing, timeout: float | None = None) -> Answer:
        """Ask once, in the server's own dialect. Raises HttpFailure, also when another model answers than before."""
        while True:
            merged, room = self._merged, self._room(request)
            asked = self._dialect.fitted(self._body(request, room))
            try:
                answer = self._complete(asked, hearing, timeout or self._server.timeout)
            except HttpFailure as failure:
                if not merged and _SYSTEM_REFUSED.search(failure.details):
                    self._merged = True
                # The last are OpenAI's words for an answer that its thoughts left no room.
                elif not (
                    self._needs_room(request, room, failure.details if "limit was reached" in failure.details else "")
                    or self._dialect.learn(failure, asked)
                ):
                    raise
            else:
                spent = ""  # the thoughts that took all the room, where it was used up
                if answer.finish_reason == "length":
                    thoughts, text, _ = parted(answer.text, formats(self._generation.thought_tag))
                    spent = answer.thoughts or thoughts or ("" if text.strip() else "nothing else")
                if not self._needs_room(request, room, spent):
                    break
        most = max(MOST_CHARACTERS, LONGEST_TOKEN * room)
        if len(answer.text) > most:
            size = f"{len(answer.text):,} characters, for {room} tokens at most"
            raise HttpFailure(f"The server's answer has {size}.", passing=False, status=200)
        first = self._answers_as = self._answers_as or answer.model
        if answer.model and answer.model != first:
            which = f"with the model {answer.model}, where {first} had answered before"
            raise HttpFailure(f"The server answered {which}.", passing=False, status=200)
        return answer

    def _complete(self, body: dict[str, object], hearing: _Hearing, timeout: float) -> Answer:
        with self._lock:
            line = self._lines.pop() if self._lines else Line(self._key)
            self._busy.add(line)
        hearing.begin()
        try:
            if self._stop.is_set():
                line.end()
            route = self._gaps if "input_prefix" in body else ""
            return line.complete(self._server.address, body, timeout, hearing.hear, route)
        finally:
            with self._lock:
                self._busy.discard(line)
                if not line.ended:
                    self._lines.append(line)
            if line.ended:
                line.close()

    def _room(self, request: Request) -> int:
        """Tokens that may come: those of the answer, and those of thoughts once the model is known to think."""
        return request.max_tokens + (self._generation.thought_tokens if self._thinks else 0)

    def _needs_room(self, request: Request, room: int, spent_on: str) -> bool:
        """Return whether the question should be asked again with room for thoughts, which did not have any."""
        if not spent_on or room > request.max_tokens or request.max_tokens == 1 or not self._generation.thought_tokens:
            return False
        with self._lock:
            if not self._thinks:
                self._thinks = True
                more = f"{self._generation.thought_tokens:,} tokens more (--thought-tokens)"
                self._notices.put(f"The model thinks before it answers, and is given {more}.")
        return True

    def _sent(self, prompt: Prompt) -> str:
        """Return a prompt as the server is given it, for the record: its own template is not ours to see."""
        if prompt.infill is not None:
            return f"{prompt.infill.before}{GAP}{prompt.infill.after}"
        if is_plain(prompt.messages):
            return prompt.messages[0].content + prompt.prefill
        if self._style == "completion":
            return completion(prompt.messages) + prompt.prefill
        return "\n\n".join(f"[{m.role}]\n{m.content}" for m in prompt.messages)

    def _body(self, request: Request, room: int) -> dict[str, object]:
        prompt = request.prompt
        if prompt.infill is not None:
            names = ("input_prefix", "input_suffix") if self._gaps else ("prompt", "suffix")
            asked: dict[str, object] = dict(zip(names, (prompt.infill.before, prompt.infill.after), strict=True))
            asked |= {"n_predict": room, "prompt": ""} if self._gaps else {}
        elif is_plain(prompt.messages):
            # Only a line outside the answer's block can begin so.
            outside = ("\ndef ", "\nclass ") if prompt.block is not None and prompt.block.indentation else ()
            asked = {"prompt": self._sent(prompt), "stop": [*prompt.stop, *outside]}
        elif self._style == "completion":
            asked = {"prompt": self._sent(prompt), "stop": [*prompt.stop, COMPLETION_STOP]}
        else:
            turns = merge_system(prompt.messages) if self._merged else prompt.messages
            asked = {"messages": [{"role": m.role, "content": m.content} for m in turns], **self._thinking()}
            # A prefill cannot be sent. The answer repeats it, e.g. an opening fence, at which such a stop text would
            # end it.
            if prompt.stop and not prompt.prefill:
                asked["stop"] = list(prompt.stop)
        return {
            **asked,
            "model": self._name,
            "temperature": request.temperature,
            "top_p": self._generation.top_p,
            # Ollama and llama-server draw from the likeliest tokens only unless told otherwise.
            "top_k": self._generation.top_k,
            "min_p": 0.0,
            # Some servers read it as a signed number of 32 bits, and refuse a larger one.
            "seed": request.seed & 0x7FFFFFFF,
            "max_tokens": room,
            "stream": True,
            "stream_options": {"include_usage": True},
            **self._extra,
        }

    def _thinking(self) -> dict[str, object]:
        """Return the fields that say whether and how much to think: a template's own switch, and OpenAI's word."""
        thinking = self._generation.thinking
        if thinking == "free":
            return {}
        if thinking == "off":
            # Ollama hands nothing on to a template, and knows `none`; others refuse that word, which is not theirs.
            none = {"reasoning_effort": "none"} if self.kind == OLLAMA else {}
            return {"chat_template_kwargs": {"enable_thinking": False}, **none}
        effort = {"reasoning_effort": thinking}
        return {"chat_template_kwargs": {"enable_thinking": True, **effort}, **effort}


_Done = queue.Queue[Generation | ModelError | tuple[str, str]]
"""What the threads of a run hand over: samples, what ends the run, and new text of a request by its id."""


class _Hearing:
    """Hands on new text of one request as it comes, once though it may be asked again, and hears where it ends."""

    def __init__(self, request: Request, done: _Done, stop: threading.Event) -> None:
        self._request, self._done, self._stop = request, done, stop
        self._told = self._heard = 0
        self._answer: TextStream | None = None

    def begin(self) -> None:
        self._heard = 0
        prompt = self._request.prompt
        plain = is_plain(prompt.messages) or prompt.infill is not None
        self._answer = TextStream(Ending(prompt.stop, prompt.block, prompt.most_characters)) if plain else None

    def hear(self, text: str, thoughts: str) -> bool:
        """Hand on what is new; whether the answer has ended, or nobody wants it any more."""
        new = thoughts + text
        fresh = new[max(0, self._told - self._heard) :]
        self._heard += len(new)
        if fresh:
            self._told = self._heard
            self._done.put((self._request.id, fresh))
        if self._answer is None or self._stop.is_set():
            return self._stop.is_set()
        self._answer.push(text.encode())
        return bool(self._answer.reason)

    def end(self, answer: Answer) -> None:
        if not self._heard:
            self.hear(answer.text, answer.thoughts)


def _shown(prompt: Prompt) -> str:
    gap = prompt.infill
    return "".join([*(message.content for message in prompt.messages), *((gap.before, gap.after) if gap else ())])
