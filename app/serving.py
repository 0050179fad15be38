"""Options and words about models behind a server with an OpenAI-compatible interface."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from rtc_inspector.app import options as shared
from rtc_inspector.app.output import print_json
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.models.discovery import fitting_models
from rtc_inspector.core.models.loading import models_at
from rtc_inspector.core.settings import EndpointSettings, ModelSettings, NamedModel, RunSettings, SeriesSettings
from rtc_inspector.core.settings.setting import described, with_values

BUNDLED = "bundled"
ENDPOINT = described(EndpointSettings, "endpoint.")
"""How a server is asked, for both passes; dialogs and options are made from it."""


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


def with_models(settings: RunSettings, options: argparse.Namespace, more: Sequence[Path] = ()) -> RunSettings:
    """Return settings with the models the options name, and `more` files; several make a series. Raises UserError."""
    backward_file = options.backward_model
    address = options.backward_endpoint
    if options.backward_endpoint_model and address is None:
        address = _only_endpoint(options)  # another model of the same server
    if backward_file and address:
        raise UserError(
            f"Two backward models were named: {backward_file} and the one at {address}.",
            "Leave out --backward-model or --backward-endpoint.",
        )
    models = _forward_models(options, more)
    key = options.backward_key_variable
    if not key:  # a key goes nowhere but where it was meant to
        key = next(
            (each.endpoint.key_variable for each in models if each.endpoint and each.endpoint.address == address), ""
        )
    server = _endpoint(options, address, options.backward_endpoint_model, key)
    backward = NamedModel("" if backward_file is None else _file(backward_file), server)
    named = backward_file is not None or server is not None
    if options.cross:
        _require_cross(models, named)
    series = SeriesSettings(tuple(models), options.cross) if len(models) > 1 else None
    return replace(settings.asking(models[0], backward if named else None), series=series)


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


def _forward_models(options: argparse.Namespace, more: Sequence[Path]) -> list[NamedModel]:
    """Return the files first, then the servers, each in the order named; the bundled model where none is."""
    files = [NamedModel(_file(each)) for each in options.model]
    found = [NamedModel(_file(str(each))) for each in more]
    files += [each for each in found if each not in files]
    models = [*files, *(NamedModel("", each) for each in _endpoints(options))] or [NamedModel()]
    for model in models:
        if models.count(model) > 1:
            raise UserError(f"{model.label} is named more than once.", "Name each model once.")
    return models


def _endpoints(options: argparse.Namespace) -> list[EndpointSettings]:
    """Return servers with their models and keys, given in the servers' order; one server may have several models."""
    addresses, models, keys = options.endpoint, options.endpoint_model, options.key_variable
    # One server, several of its models: the address and the key need not be written once for each.
    if len(addresses) == 1 and len(models) > 1:
        addresses, keys = addresses * len(models), keys * len(models)
    for option, named in (("--endpoint-model", models), ("--key-variable", keys)):
        if named and not addresses:
            raise UserError("A server's model or key was named, but no server.", "Say --endpoint URL as well.")
        if named and len(named) != len(addresses):
            raise UserError(
                f"{len(named)} times {option} for {len(addresses)} servers.",
                f'Give {option} once for each --endpoint, in the same order; "" for none.',
            )
    named = zip(addresses, models or [""] * len(addresses), keys or [""] * len(addresses), strict=True)
    return [found for each in named if (found := _endpoint(options, *each))]


def _only_endpoint(options: argparse.Namespace) -> str | None:
    addresses: list[str] = list(dict.fromkeys(options.endpoint))
    if len(addresses) > 1:
        raise UserError(
            "It is not clear which server the backward model is at.", "Say --backward-endpoint URL as well."
        )
    return addresses[0] if addresses else None


def _require_cross(models: Sequence[NamedModel], backward: bool) -> None:
    if len(models) < 2:
        raise UserError(
            "--cross needs two models or more.", "Name further ones, with --model, --endpoint or --models-in."
        )
    if backward:
        raise UserError(
            "--cross has every model write for every other one, and a backward model was named.",
            "Leave out --cross, or the backward model.",
        )


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


def _file(name: str) -> str:
    return "" if name in ("", BUNDLED) else str(Path(name).resolve())


def _endpoint(options: argparse.Namespace, address: str | None, model: str, key: str) -> EndpointSettings | None:
    if address is None:
        if model or key:
            raise UserError("A server's model or key was named, but no server.", "Say --endpoint URL as well.")
        return None
    given = {path.partition(".")[2]: vars(options)[path] for path in ENDPOINT if vars(options)[path] is not None}
    return EndpointSettings(address, model, key, **given)
