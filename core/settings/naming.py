"""Which models a run asks, from what the command line, a project's file or a program names."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.settings import EndpointSettings, NamedModel, RunSettings, SeriesSettings
from rtc_inspector.core.settings.setting import described

BUNDLED = "bundled"
ENDPOINT = described(EndpointSettings, "endpoint.")
"""How a server is asked, for both passes; dialogs and options are made from it."""


def with_models(settings: RunSettings, named: Mapping[str, Any], more: Sequence[Path] = ()) -> RunSettings:
    """Return settings with the models that are named, and `more` files; several make a series. Raises UserError.

    `named` holds options of `run` by their names with underscores, and settings of servers by path; any may be absent.
    """
    backward_file, address = named.get("backward_model"), named.get("backward_endpoint")
    backward_name, key = named.get("backward_endpoint_model") or "", named.get("backward_key_variable") or ""
    if backward_name and address is None:  # another model of the same server
        addresses: list[str] = list(dict.fromkeys(named.get("endpoint") or ()))
        if len(addresses) > 1:
            raise UserError(
                "It is not clear which server the backward model is at.", "Say --backward-endpoint URL as well."
            )
        address = next(iter(addresses), None)
    if backward_file and address:
        raise UserError(
            f"Two backward models were named: {backward_file} and the one at {address}.",
            "Leave out --backward-model or --backward-endpoint.",
        )
    models = _forward_models(named, more)
    if not key:  # a key goes nowhere but where it was meant to
        key = next(
            (each.endpoint.key_variable for each in models if each.endpoint and each.endpoint.address == address), ""
        )
    server = _endpoint(named, address, backward_name, key)
    backward = None if backward_file is None and server is None else NamedModel(_file(backward_file or ""), server)
    cross = bool(named.get("cross"))
    if cross and len(models) < 2:
        raise UserError(
            "--cross needs two models or more.", "Name further ones, with --model, --endpoint or --models-in."
        )
    if cross and backward is not None:
        raise UserError(
            "--cross has every model write for every other one, and a backward model was named.",
            "Leave out --cross, or the backward model.",
        )
    series = SeriesSettings(tuple(models), cross) if len(models) > 1 else None
    return replace(settings.asking(models[0], backward), series=series)


def _forward_models(named: Mapping[str, Any], more: Sequence[Path]) -> list[NamedModel]:
    """Return the files first, then the servers, each in the order named; the bundled model where none is."""
    models = [NamedModel(_file(each)) for each in named.get("model") or ()]
    models += [found for each in more if (found := NamedModel(_file(str(each)))) not in models]
    models += [NamedModel("", each) for each in _endpoints(named)]
    for model in models:
        if models.count(model) > 1:
            raise UserError(f"{model.label} is named more than once.", "Name each model once.")
    return models or [NamedModel()]


def _endpoints(named: Mapping[str, Any]) -> list[EndpointSettings]:
    """Return servers with their models and keys, given in the servers' order; one server may have several models."""
    addresses, models, keys = (list(named.get(each) or ()) for each in ("endpoint", "endpoint_model", "key_variable"))
    # One server, several of its models: the address and the key need not be written once for each.
    if len(addresses) == 1 and len(models) > 1:
        addresses, keys = addresses * len(models), keys * len(models)
    for option, given in (("--endpoint-model", models), ("--key-variable", keys)):
        if given and not addresses:
            raise UserError("A server's model or key was named, but no server.", "Say --endpoint URL as well.")
        if given and len(given) != len(addresses):
            raise UserError(
                f"{len(given)} times {option} for {len(addresses)} servers.",
                f'Give {option} once for each --endpoint, in the same order; "" for none.',
            )
    each_named = zip(addresses, models or [""] * len(addresses), keys or [""] * len(addresses), strict=True)
    return [found for each in each_named if (found := _endpoint(named, *each))]


def _endpoint(named: Mapping[str, Any], address: str | None, model: str, key: str) -> EndpointSettings | None:
    if address is None:
        if model or key:
            raise UserError("A server's model or key was named, but no server.", "Say --endpoint URL as well.")
        return None
    given = {path.partition(".")[2]: named[path] for path in ENDPOINT if named.get(path) is not None}
    return EndpointSettings(address, model, key, **given)


def _file(name: str) -> str:
    return "" if name in ("", BUNDLED) else str(Path(name).resolve())
