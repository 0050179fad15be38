"""Options and words about models behind a server with an OpenAI-compatible interface."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app import options as shared
from core.errors import UserError
from core.models.endpoint import models_at
from core.setting import described
from core.settings import EndpointSettings

BUNDLED = "bundled"
ENDPOINT = described(EndpointSettings, "endpoint.")
"""How a server is asked, for both passes; dialogs and options are made from it."""


def add_server(parser: argparse.ArgumentParser) -> None:
    """Which server, and the key to it."""
    parser.add_argument("--endpoint", metavar="URL", help="ask this server, e.g. http://127.0.0.1:8080/v1")
    parser.add_argument("--key-variable", metavar="VAR", default="", help="environment variable with the server's key")


def add_endpoints(parser: argparse.ArgumentParser) -> None:
    """Servers for both passes; none is asked unless it is named."""
    group = parser.add_argument_group("models behind a server (llama-server, Ollama, LM Studio, vLLM)")
    group.add_argument("--endpoint", metavar="URL", help="forward model, e.g. http://127.0.0.1:8080/v1")
    group.add_argument("--endpoint-model", metavar="NAME", default="", help="model (default: the only one it serves)")
    group.add_argument("--key-variable", metavar="VAR", default="", help="environment variable with the server's key")
    group.add_argument("--backward-endpoint", metavar="URL", help="backward model (default: the forward model)")
    group.add_argument("--backward-endpoint-model", metavar="NAME", default="", help="the same for the backward model")
    group.add_argument("--backward-key-variable", metavar="VAR", default="", help="the same for the backward model")
    for each in ENDPOINT.values():
        shared.add_setting(group, each)


def model_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The models those options name, as fields of RunSettings. Raises UserError when a pass has two."""
    _refuse_two("forward", "--model", options.model, "--endpoint", options.endpoint)
    backward_file = options.backward_model
    address = options.backward_endpoint
    if options.backward_endpoint_model and address is None:
        address = options.endpoint  # another model of the same server
    _refuse_two("backward", "--backward-model", backward_file, "--backward-endpoint", address)
    key = options.backward_key_variable or (options.key_variable if address == options.endpoint else "")
    return {
        "model": _file(options.model),
        "backward_model": None if backward_file is None else _file(backward_file),
        "endpoint": _endpoint(options, options.endpoint, options.endpoint_model, options.key_variable),
        "backward_endpoint": _endpoint(options, address, options.backward_endpoint_model, key),
    }


def server(options: argparse.Namespace) -> EndpointSettings:
    """The server that `add_server` names."""
    return EndpointSettings(options.endpoint, key_variable=options.key_variable)


def print_served(options: argparse.Namespace) -> int:
    """List the models of a server. Raises ModelError."""
    for each in models_at(server(options)):
        if options.json:
            print(json.dumps(asdict(each), ensure_ascii=False))
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


def _refuse_two(role: str, file_option: str, file: str | None, server_option: str, server: str | None) -> None:
    if file and server:
        raise UserError(
            f"Two {role} models were named: {file} and the one at {server}.",
            f"Leave out {file_option} or {server_option}.",
        )
