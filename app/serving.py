"""Options and words about models behind a server with an OpenAI-compatible interface."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path

from rtc_inspector.app import options as shared
from rtc_inspector.app.output import print_json
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.models.discovery import fitting_models
from rtc_inspector.core.models.loading import models_at
from rtc_inspector.core.settings import EndpointSettings, ModelSettings, RunSettings
from rtc_inspector.core.settings.naming import ENDPOINT
from rtc_inspector.core.settings.setting import with_values


def add_server(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which server, and the key to it."""
    parser.add_argument("--endpoint", metavar="URL", help="ask this server, e.g. http://127.0.0.1:8080/v1")
    parser.add_argument("--key-variable", metavar="VAR", default="", help="environment variable with the server's key")


def add_endpoints(parser: argparse.ArgumentParser) -> None:
    """Add the options for servers of both passes; none is asked unless it is named."""
    group = parser.add_argument_group("models behind a server (llama-server, Ollama, LM Studio, vLLM)")
    for name, sign, what in (
        ("--endpoint", "URL", "forward model, e.g. http://127.0.0.1:8080/v1; repeatable"),
        (
            "--endpoint-model",
            "NAME",
            "model (default: the only one it serves); once for each server, or several of one",
        ),
        ("--key-variable", "VAR", "environment variable with the server's key; once for each server"),
    ):
        group.add_argument(name, metavar=sign, action="append", default=[], help=what)
    group.add_argument("--backward-endpoint", metavar="URL", help="backward model (default: the forward model)")
    group.add_argument("--backward-endpoint-model", metavar="NAME", default="", help="the same for the backward model")
    group.add_argument("--backward-key-variable", metavar="VAR", default="", help="the same for the backward model")
    for each in ENDPOINT.values():
        shared.add_setting(group, each)


def models_in(options: argparse.Namespace) -> tuple[list[Path], list[str]]:
    """Return the models of --models-in that fit, smallest first, and a sentence for each left out. Raises UserError."""
    if options.models_in is None:
        return [], []
    asked = with_values(RunSettings(), shared.given_settings(options)).generation
    fitting, left_out = fitting_models(options.models_in, asked)
    if not fitting and not options.model and not options.endpoint:
        why = left_out[0] if left_out else "It holds no GGUF file."
        raise UserError(f"No model in {options.models_in} can be run. {why}", "Name another folder, or --model FILE.")
    return fitting, left_out


def server(options: argparse.Namespace) -> EndpointSettings:
    """Return the server that `add_server` names."""
    return EndpointSettings(options.endpoint, key_variable=options.key_variable)


def print_trial(options: argparse.Namespace) -> int:
    """Try a model of a server and print what came; 1 where a question in turns got no answer. Raises ModelError."""
    from rtc_inspector.core.run.trying import try_server, words  # readers of answers, which a list of models needs not

    trial = try_server(replace(server(options), model=options.endpoint_model), ModelSettings())
    if options.json:
        print_json(asdict(trial))
    else:
        print("\n".join(words(trial)))
    return 1 if any(each.error for each in trial.tried[:2]) else 0


def print_served(options: argparse.Namespace) -> int:
    """List the models of a server. Raises ModelError."""
    for each in models_at(server(options)):
        if options.json:
            print_json(asdict(each))
        else:
            print(f"{each.name}  {each.said}".rstrip())
    return 0
