"""A model in its worker: samples, seeds, cancelling, dying.

The bundled one where it matters which; else its first layers, which say noise, and say it several times as fast.
"""

from __future__ import annotations

import io
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rtc_inspector.core.errors import Cancelled, ModelError
from rtc_inspector.core.generation import INFILL, Generation, Message, Prompt, Request
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.models.process import ENDED, WorkerProcess
from rtc_inspector.core.models.prompts import backward_prompt, forward_prompt
from rtc_inspector.core.settings import DEFAULT_CONTEXT, ModelSettings
from rtc_inspector.core.types import Span

CODE = Path(__file__).parents[2].joinpath("core", "types.py").read_text()
SETTINGS = ModelSettings(threads=1)


@pytest.fixture(scope="module")
def bundled() -> Iterator[LocalModel]:
    model = LocalModel(bundled_model(), SETTINGS)
    yield model
    model.close()


@pytest.fixture(scope="module")
def model(small_model: Path) -> Iterator[LocalModel]:
    model = LocalModel(small_model, SETTINGS)
    yield model
    model.close()


def prompt(question: str, characters: int = 900, **more: object) -> Prompt:
    turns = (Message("system", "You describe Python code."), Message("user", CODE[:characters] + "\n" + question))
    return Prompt(turns, **more)  # type: ignore[arg-type]


def request(name: str, question: str, temperature: float = 0.8, seed: int = 1, tokens: int = 12) -> Request:
    return Request(name, prompt(question), temperature, seed, tokens)


def draw(model: LocalModel, *requests: Request) -> dict[str, Generation]:
    return {g.id: g for g in model.generate(requests)}


A = request("a", "What is it about?")
B = request("b", "What is it about?", seed=2)
C = request("c", "Name one class.", temperature=0.1, tokens=20)
D = Request("d", prompt("Why?", 300), 1.0, 3, 9)
E = Request("e", prompt("Why?", 1500), 0.0, 3, 9)
ALL = (A, B, C, D, E)


@pytest.fixture(scope="module")
def together(model: LocalModel) -> dict[str, Generation]:
    return draw(model, *ALL)


def test_what_is_recorded_of_a_model(bundled: LocalModel) -> None:
    info = bundled.info
    assert (info.architecture, info.quantization, info.threads) == ("llama", "Q4_1", 1)
    assert info.prompt_style == "code" and "code" in info.calibration, "what calibrating found best"
    assert len(info.sha256) == 64 and info.template_sha256 == "", "the template is not used"
    assert info.context_size == DEFAULT_CONTEXT and "llama.cpp" in info.build
    assert "llama_cpp" not in sys.modules


def test_every_sample_comes_back_whole(model: LocalModel, together: dict[str, Generation]) -> None:
    assert set(together) == {r.id for r in ALL}
    for r in ALL:
        g = together[r.id]
        assert g.finish_reason in {"stop", "length"} and g.error == ""
        assert 0 < g.completion_tokens <= r.max_tokens
        assert g.prompt_tokens == model.count_tokens(r.prompt)
        assert r.prompt.messages[-1].content in g.rendered and g.rendered.endswith("<|im_start|>assistant\n")


def test_the_same_request_gives_the_same_text_in_any_company(
    model: LocalModel, together: dict[str, Generation]
) -> None:
    texts = {k: g.text for k, g in together.items()}
    assert {k: g.text for k, g in draw(model, E, C, D, B, A).items()} == texts
    assert draw(model, C)["c"].text == texts["c"]
    assert draw(model, B, D)["d"].text == texts["d"]


def test_the_bundled_model_says_the_same_in_any_company(bundled: LocalModel) -> None:
    short = [replace(r, prompt=prompt(r.id, 300)) for r in (A, B, C)]
    texts = {k: g.text for k, g in draw(bundled, *short).items()}
    assert {k: g.text for k, g in draw(bundled, *short[::-1]).items()} == texts
    assert draw(bundled, short[2])["c"].text == texts["c"]


def test_the_same_request_gives_the_same_text_in_a_new_worker(
    small_model: Path, together: dict[str, Generation]
) -> None:
    fresh = LocalModel(small_model, SETTINGS)
    try:
        for r in (C, A):
            assert draw(fresh, r)[r.id].text == together[r.id].text
    finally:
        fresh.close()


def test_seed_and_temperature_matter(together: dict[str, Generation], model: LocalModel) -> None:
    assert together["a"].text != together["b"].text
    greedy = [draw(model, Request("g", A.prompt, 0.0, seed, 8))["g"].text for seed in (1, 2)]
    assert greedy[0] == greedy[1]


def test_equal_greedy_requests_are_drawn_once_and_all_answered(model: LocalModel) -> None:
    before = model.counters["generated"]
    pieces: dict[str, str] = {}
    twins = [Request(f"t{seed}", A.prompt, 0.0, seed, 6) for seed in range(3)]
    found = {}
    for g in model.generate(twins, lambda id_, text: pieces.update({id_: pieces.get(id_, "") + text})):
        found[g.id] = g
    assert model.counters["generated"] - before == found["t0"].completion_tokens
    assert {g.text for g in found.values()} == set(pieces.values()) == {found["t0"].text}
    assert [found[f"t{n}"].seconds > 0 for n in range(3)] == [True, False, False]


def test_text_streams_and_progress_counts(model: LocalModel) -> None:
    pieces: list[str] = []
    counts: list[tuple[int, int]] = []
    r = Request("s", prompt("Explain.", 2500), 0.8, 5, 12)
    found = list(
        model.generate([r], lambda _, text: pieces.append(text), lambda _, done, total: counts.append((done, total)))
    )
    assert "".join(pieces) == found[0].text and len(pieces) > 1
    assert len(counts) >= 2 and counts == sorted(counts) and counts[-1][0] == counts[-1][1] == found[0].prompt_tokens


def test_stop_texts_end_an_answer(model: LocalModel) -> None:
    free = draw(model, Request("f", prompt("List the classes."), 0.0, 0, 16))["f"]
    word = free.text.split()[2]
    cut = draw(model, Request("f", prompt("List the classes.", stop=(word,)), 0.0, 0, 16))["f"]
    assert cut.finish_reason == "stop" and cut.text == free.text[: free.text.index(word)]


def test_prefill_is_where_the_answer_starts(model: LocalModel) -> None:
    g = draw(model, Request("p", prompt("Name a class.", prefill="```python\nclass "), 0.0, 0, 4))["p"]
    assert g.rendered.endswith("<|im_start|>assistant\n```python\nclass ")
    assert not g.text.startswith("```")


def test_a_full_window_is_said(small_model: Path) -> None:
    small = LocalModel(small_model, ModelSettings(threads=1, context_size=256))
    try:
        fits = Request("fits", Prompt((Message("user", "Count up: " + "1 2 3 " * 20),)), 1.0, 1, 4000)
        found = draw(small, fits, Request("long", prompt("?", 4000), 0.8, 1, 10))
        assert found["long"].finish_reason == "context" and found["long"].text == ""
        ends = found["fits"]
        assert ends.finish_reason == "stop" or ends.prompt_tokens + ends.completion_tokens >= 255
    finally:
        small.close()


def test_cancel_during_a_prompt_takes_less_than_a_second(bundled: LocalModel) -> None:
    long = Request("long", Prompt((Message("user", CODE[:8000]),)), 0.8, 1, 50)
    cancelled: list[float] = []

    def stop(_: str, done: int, total: int) -> None:
        if done and not cancelled:
            cancelled.append(time.monotonic())
            threading.Thread(target=bundled.cancel).start()

    with pytest.raises(Cancelled):
        list(bundled.generate([long], None, stop))
    assert time.monotonic() - cancelled[0] < 2.5
    assert draw(bundled, Request("after", prompt("Why?", 100), 0.0, 1, 4))["after"].text


def test_leaving_in_mid_run_leaves_a_usable_model(model: LocalModel, together: dict[str, Generation]) -> None:
    samples = model.generate(ALL)
    next(samples)
    samples.close()  # type: ignore[attr-defined]
    assert draw(model, A)["a"].text == together["a"].text


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_killed_worker_is_replaced_and_the_text_is_the_same(
    model: LocalModel, together: dict[str, Generation], number: signal.Signals
) -> None:
    pieces: list[str] = []
    killed: list[int] = []

    def kill(_: str, text: str) -> None:
        pieces.append(text)
        if not killed and model.worker_pid:
            killed.append(model.worker_pid)
            os.kill(model.worker_pid, number)

    found = list(model.generate([C], kill))
    assert killed and model.worker_pid != killed[0]
    assert found[0].text == together["c"].text == "".join(pieces)


def test_a_worker_that_runs_out_of_memory_is_replaced_and_the_text_is_the_same(
    model: LocalModel, together: dict[str, Generation]
) -> None:
    """Its address space is fixed where it stands in mid-run: the next allocation of any size fails."""
    limited: list[int] = []

    def limit(_: str, text: str) -> None:
        if not limited and model.worker_pid:
            limited.append(model.worker_pid)
            pages = int(Path(f"/proc/{model.worker_pid}/statm").read_text().split()[0])
            resource.prlimit(model.worker_pid, resource.RLIMIT_AS, (pages * resource.getpagesize(),) * 2)

    found = {g.id: g.text for g in model.generate((C, D), limit)}
    found |= {g.id: g.text for g in draw(model, E).values()}
    assert limited and found == {key: together[key].text for key in "cde"}
    if model.worker_pid == limited[0]:
        os.kill(limited[0], signal.SIGKILL)  # what comes after this test is not to be short of memory


def test_a_worker_that_dies_twice_fails_the_sample_readably(model: LocalModel) -> None:
    def kill(_: str, done: int, total: int) -> None:
        if model.worker_pid:
            os.kill(model.worker_pid, signal.SIGKILL)

    found = list(model.generate([A], None, kill))
    assert [(g.id, g.finish_reason) for g in found] == [("a", "failed")]
    assert "SIGKILL" in found[0].error
    assert draw(model, D)["d"].finish_reason in {"stop", "length"}


def test_a_stopped_worker_counts_as_dead(small_model: Path) -> None:
    patient = LocalModel(small_model, SETTINGS, silence=4.0)
    try:
        stopped: list[int] = []

        def stop(_: str, text: str) -> None:
            if not stopped and patient.worker_pid:
                stopped.append(patient.worker_pid)
                os.kill(patient.worker_pid, signal.SIGSTOP)

        found = list(patient.generate([C], stop))
        assert found[0].finish_reason in {"stop", "length"}
        assert patient.worker_pid != stopped[0]
    finally:
        patient.close()


def test_a_truncated_file_is_refused_at_once(tmp_path: Path) -> None:
    whole = bundled_model()
    path = tmp_path / "cut.gguf"
    size = whole.stat().st_size
    rest = random.Random(3)
    for cut in [100, *(rest.randrange(size) for _ in range(10)), size - 1]:
        with whole.open("rb") as file:
            path.write_bytes(file.read(min(cut, 6 << 20)))
        if cut > 6 << 20:
            os.truncate(path, cut)
        with pytest.raises(ModelError, match=r"cut\.gguf .*(truncated|ends inside|promises more)") as caught:
            LocalModel(path, SETTINGS)
        assert "\n" not in caught.value.problem and caught.value.remedy == "Download the model file again."


def test_an_unknown_architecture_is_a_sentence(tmp_path: Path) -> None:
    data = bundled_model().read_bytes()
    path = tmp_path / "odd.gguf"
    path.write_bytes(data.replace(b"\x05\0\0\0\0\0\0\0llama", b"\x05\0\0\0\0\0\0\0lamma", 1))
    with pytest.raises(ModelError, match=r"cannot be loaded: .*lamma") as caught:
        LocalModel(path, SETTINGS)
    assert "architecture" in caught.value.remedy


def test_the_worker_ends_with_its_parent() -> None:
    script = (
        "import os, sys; from rtc_inspector.core.models.client import LocalModel\n"
        "from rtc_inspector.core.models.discovery import bundled_model\n"
        "from rtc_inspector.core.settings import ModelSettings\n"
        "m = LocalModel(bundled_model(), ModelSettings(threads=1))\n"
        "print(m.worker_pid, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    pid = int(done.stdout)
    end = time.monotonic() + 10
    while _runs(pid) and time.monotonic() < end:
        time.sleep(0.1)
    assert not _runs(pid)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_closing_twice_and_using_after_it(small_model: Path) -> None:
    model = LocalModel(small_model, SETTINGS)
    pid = model.worker_pid
    model.close()
    model.close()
    assert pid is not None and not _runs(pid)
    with pytest.raises(ModelError, match="closed"):
        model.count_tokens(A.prompt)


FIXED_STEPS = """
import sys
from rtc_inspector.core.models.engine import Engine
from rtc_inspector.core.models.engine import Counters, Job
from rtc_inspector.core.models.worker import NativeModel

native = NativeModel(sys.argv[1], 0, 1)
text = open("core/errors.py").read()
quiet = lambda event, id_, **values: None
a, b, c = (
    Job(str(n), tuple(native.tokenize(text[:size])), 0.8, n, 6) for n, size in enumerate((500, 900, 700))
)

def run(jobs, counters):
    engine = Engine(native, 512, 4, None, counters)
    return {f.id: f.text for f in engine.run(jobs, quiet)}

shared = Counters()
together = run([a, b, c], shared)
assert shared.evaluated < sum(len(job.tokens) for job in (a, b, c)) and shared.padding == 0
assert run([c], Counters()) == {"2": together["2"]}, "alone"
assert run([b, c, a], Counters()) == together, "another order"
print("same")
"""


def test_the_fallback_of_one_sequence_at_a_time_repeats_itself_too(small_model: Path) -> None:
    """In a process of its own: this one must not load llama.cpp."""
    words = [sys.executable, "-c", FIXED_STEPS, small_model]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=Path(__file__).parents[2])
    assert done.stdout.strip() == "same", done.stderr[-2000:]


LONG_TOKENS = """
import sys
from rtc_inspector.core.models import worker as native

model = native.NativeModel(sys.argv[1], 0, 1)
tokens = range(model.vocabulary)
whole = [model.piece(token) for token in tokens]
native.PIECE = 2
print("same" if [model.piece(token) for token in tokens] == whole and max(map(len, whole)) > 80 else "cut")
"""


def test_a_token_longer_than_most_is_whole(small_model: Path) -> None:
    words = [sys.executable, "-c", LONG_TOKENS, small_model]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "same", done.stderr[-2000:]


def test_a_worker_short_of_memory_says_so() -> None:
    script = (
        "import resource\nfrom rtc_inspector.core.models.client import LocalModel\n"
        "from rtc_inspector.core.models.discovery import bundled_model\n"
        "from rtc_inspector.core.settings import ModelSettings\nfrom rtc_inspector.core.errors import ModelError\n"
        "resource.setrlimit(resource.RLIMIT_AS, (420 << 20, 420 << 20))\n"
        "try:\n    LocalModel(bundled_model(), ModelSettings(threads=1))\n"
        "except ModelError as error:\n    print(error.problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert "cannot be loaded" in done.stdout and "Traceback" not in done.stderr, done.stdout + done.stderr


def test_counting_between_samples_survives_a_kill(model: LocalModel, together: dict[str, Generation]) -> None:
    """A consumer counts tokens while a generation is suspended, and the worker dies just then."""
    samples = model.generate((A, C))
    first = next(samples)
    assert model.worker_pid is not None
    os.kill(model.worker_pid, signal.SIGKILL)
    assert model.count_tokens(A.prompt) == together["a"].prompt_tokens
    rest = list(samples)
    assert {g.id: (g.text, g.error) for g in (first, *rest)} == {k: (together[k].text, "") for k in "ac"}


def test_a_worker_that_died_idle_is_no_fault_of_the_next_samples(
    model: LocalModel, together: dict[str, Generation]
) -> None:
    """They may still lose one worker of their own."""
    assert model.count_tokens(A.prompt) and model.worker_pid
    killed = [model.worker_pid]
    os.kill(killed[0], signal.SIGKILL)

    def kill(_: str, text: str) -> None:
        if len(killed) == 1 and model.worker_pid:
            killed.append(model.worker_pid)
            os.kill(killed[1], signal.SIGKILL)

    found = list(model.generate([C], kill))
    assert len(set(killed)) == 2
    assert [(g.text, g.error) for g in found] == [(together["c"].text, "")]


def test_two_phases_do_not_drive_each_other_out_of_the_cache(model: LocalModel) -> None:
    """Forward and backward prompts begin differently; going back and forth evaluates only what is new."""
    phases = [Prompt((Message("system", name), Message("user", CODE[:1200]))) for name in ("Describe.", "Write.")]

    def evaluated(round_: int) -> int:
        before = model.counters["evaluated"]
        for prompt in phases:
            turns = (*prompt.messages, Message("assistant", "Yes."), Message("user", f"Part {round_}?"))
            draw(model, *(Request(f"{i}", Prompt(turns), 0.8, i, 2) for i in range(3)))
        return model.counters["evaluated"] - before

    first, second = evaluated(1), evaluated(2)
    assert first > 500 and second < 60


def test_loading_can_be_given_up() -> None:
    def stop() -> None:
        raise Cancelled

    before = set(threading.enumerate())
    with pytest.raises(Cancelled):
        LocalModel(bundled_model(), SETTINGS, poll=stop)
    assert set(threading.enumerate()) == before, "the worker and those who listen to it have ended"


def test_ctrl_c_in_a_terminal_is_for_the_parent_alone(model: LocalModel) -> None:
    model.count_tokens(prompt("Why?"))
    assert model.worker_pid is not None
    assert os.getpgid(model.worker_pid) != os.getpgid(0)


def test_an_error_while_reading_ends_the_worker_instead_of_leaving_it_deaf() -> None:
    worker = WorkerProcess()
    try:
        worker.send("count")
        assert worker.inbox.get(timeout=60) == {"event": ENDED}
        assert "KeyError" in worker.cause()
    finally:
        worker.end()


def test_a_stopped_worker_keeps_nobody_who_asks_much() -> None:
    """More than a pipe holds: whoever asks must come back, to notice the silence and to hear a cancel."""
    worker = WorkerProcess()
    rescue = threading.Timer(10, os.kill, (worker.pid, signal.SIGKILL))
    rescue.start()
    try:
        os.kill(worker.pid, signal.SIGSTOP)
        start = time.monotonic()
        worker.send("count", prompt="x" * 1_000_000)
        worker.end(patience=0.1)
        assert time.monotonic() - start < 5
    finally:
        rescue.cancel()
        worker.end()


def test_a_message_cut_off_by_a_kill_is_the_end() -> None:
    worker = WorkerProcess()
    try:
        worker._listen(io.BytesIO(b'{"event":"alive"}\n{"event":"finished","te'))
        assert worker.inbox.get(timeout=5) == {"event": ENDED}
    finally:
        worker.end()


def test_a_file_of_3000_lines_in_a_window_of_1024_tokens_is_cut_and_flagged(model: LocalModel) -> None:
    lines = "".join(f"def step_{n}(value):\n    total = value + {n}\n    return total * {n}\n" for n in range(1000))
    at = lines.index("total = value + 500")

    def fits(prompt: Prompt) -> bool:
        return model.count_tokens(prompt) + 128 <= 1024

    span = Span(at, lines.index("\ndef", at))
    for asked in (
        forward_prompt(lines, span, fits),
        backward_prompt(lines, span, "Adds and multiplies.", fits),
    ):
        assert asked.truncated and fits(asked) and "step_500" in asked.messages[-1].content
    gap = backward_prompt(
        lines,
        span,
        "Adds and multiplies.",
        lambda p: bool(p.infill and len(p.infill.before) < 2000),
        style=INFILL,
    )
    assert (
        gap.truncated
        and gap.infill is not None
        and gap.infill.before.endswith("\n    # TODO: Adds and multiplies.\n    ")
    )
