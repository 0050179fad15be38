"""How models are run, and which ones: a file, a server, or several in a series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from rtc_inspector.core.settings.setting import read_back, setting

DEFAULT_CONTEXT = 3072
"""Tokens: a file of some 200 lines with the few-shot part, which a CPU reads in about 20 seconds, not in minutes."""
SERVER_CONTEXT = 16_384
"""Tokens: nearly every file whole; whoever serves models has the machine for it, and one can be told otherwise."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How a GGUF is run."""

    prompt_style: str = setting(
        "auto",
        "turns by the chat template or in plain text, a file that the model goes on writing, or a gap for code; "
        "auto: what calibrating found best, else what the model is made for",
        label="Prompt style",
        choices={
            "auto": "Automatic",
            "chat": "Chat, by the model's own template",
            "completion": "Completion, as for base models",
            "code": "Code: a file that the model goes on writing",
            "fim": "Fill in the middle, for the code",
        },
    )
    prompt_layout: str = setting(
        "shared",
        "whether a description stands after the file, which all of them then share, or in it, as in the RTC paper; "
        "only conversations have a layout",
        label="Prompt layout",
        choices={"shared": "Descriptions after the file", "paper": "Descriptions in the file, as in the paper"},
        rare=True,
    )
    context_size: int | None = setting(
        None,
        "window of the model",
        label="Context window",
        option="--context",
        sign="TOKENS",
        unset=f"the model's own, at most {DEFAULT_CONTEXT}, of a server {SERVER_CONTEXT}",
    )
    threads: int | None = setting(
        None, "for the model", label="Threads", unset="the cores that judging leaves", most=1024, resumable=True
    )
    gpu_layers: int = setting(
        -1,
        "layers of the model on the graphics card, -1 for all",
        label="Layers on the GPU",
        least=-1,
        resumable=True,
        rare=True,
    )
    top_k: int = setting(0, "draw from the N likeliest tokens only, 0 for all", label="Top k", least=0, rare=True)
    top_p: float = setting(
        1.0, "draw from so much probability only", label="Top p", sign="P", least=0.001, most=1.0, rare=True
    )
    thinking: str = setting(
        "off",
        "whether and how much a model that can think is to think before it answers, as far as it heeds that",
        label="Thinking",
        choices={
            "off": "Asked not to think",
            "free": "As the model does by itself",
            "low": "A little",
            "medium": "Some",
            "high": "Much",
        },
    )
    thought_tokens: int = setting(
        1024,
        "room for the thoughts of a model that thinks all the same, beside the room for its answer",
        label="Tokens of thoughts at most",
        least=0,
    )
    thought_tag: str = setting(
        "",
        "a tag around a model's thoughts besides those that are known: `ponder` means <ponder> and </ponder>",
        label="Tag of thoughts",
        sign="TAG",
        unset="none but those that are known",
        resumable=True,
        rare=True,
    )


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """A server that speaks as OpenAI's does (llama-server, Ollama, LM Studio, vLLM); asked only where a run names one.

    Attributes:
        address: up to and including `/v1`.
        model: the name the server knows; empty takes the only one it serves.
        key_variable: the environment variable that holds the key, which itself is never stored.
    """

    address: str
    model: str = ""
    key_variable: str = ""
    concurrency: int | None = setting(
        None,
        "requests at a time",
        label="Requests at a time",
        unset="as many as make it faster, 64 at most",
        most=1024,
        resumable=True,
    )
    attempts: int = setting(
        5, "at one request that fails in passing", label="Tries of one request", most=1000, resumable=True
    )
    timeout: float = setting(
        300.0, "seconds that one answer may take", label="Seconds of one answer", sign="S", most=86_400, resumable=True
    )
    price_read: float = setting(
        0.0,
        "price of a million tokens read, in your currency",
        label="Price of a million tokens read",
        sign="MONEY",
        least=0,
        resumable=True,
        rare=True,
    )
    price_written: float = setting(
        0.0,
        "price of a million tokens written, thoughts included",
        label="Price of a million tokens written",
        sign="MONEY",
        least=0,
        resumable=True,
        rare=True,
    )
    extra_body: str = setting(
        "",
        "further fields of each question, as a JSON object, e.g. '{\"num_ctx\": 32768}'; they go before our own",
        label="Further fields, as JSON",
        sign="JSON",
        unset="none",
        form="json",
        rare=True,
    )

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Plain values read back; those that this version does not know are dropped. Raises TypeError."""
        return read_back(cls, data)


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model by where it is: `file` is a GGUF file, empty for the bundled one; `endpoint` a server in its place."""

    file: str = ""
    endpoint: EndpointSettings | None = None

    @property
    def label(self) -> str:
        """Return the model's name for people: the file's name, or the server's model and address."""
        if self.endpoint is not None:
            return f"{self.endpoint.model or 'the only model'} @ {self.endpoint.address.split('://')[-1]}"
        return self.file.rpartition("/")[2] or "the bundled model"


@dataclass(frozen=True, slots=True)
class SeriesSettings:
    """Several models on the same items, one run each, ranked together.

    Attributes:
        models: in the order in which their runs are made.
        cross: every model describes for every model; else each describes for itself, or for the run's backward model.
        id: the same in every run of the series, and in no other; given when it begins.
    """

    models: tuple[NamedModel, ...]
    cross: bool = False
    id: str = ""

    @property
    def runs(self) -> int:
        """Return the number of runs in the whole series."""
        return len(self.models) ** (2 if self.cross else 1)
