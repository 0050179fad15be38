"""A Ray cluster for the time of a run: who is asked, with which token, and what is shipped to whom.

Ray itself is imported in this package only, and only when a cluster is named: it is an extra.
"""

import importlib.util
import logging
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rtc_inspector.core.errors import UserError
from rtc_inspector.core.kinds import task
from rtc_inspector.core.models.chat_http import is_loopback
from rtc_inspector.core.packages import install_command
from rtc_inspector.core.platform import usable_cores
from rtc_inspector.core.settings import RunSettings
from rtc_inspector.core.source.walk import every_file
from rtc_inspector.core.types import Notify

SANDBOX = "rtc-sandbox"  # label of hosts that have a sandbox: `ray start --labels rtc-sandbox=yes`. Only they judge
MOST_SHIPPED = 200 << 20
"""Bytes of a project that travel. Ray itself refuses more than 512 MiB; so large a project holds what no test reads."""
_LOCAL = re.compile(r"local(?::([1-9]\d{0,2}))?")
_REMOTE = re.compile(r"(?:ray://|(?!local:))(?P<host>\[[0-9a-f:]+\]|[\w.-]+):\d{1,5}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Address:
    """An address that `--cluster` names; `workers`: how many models and judges a cluster has that is started here."""

    text: str
    host: str = "127.0.0.1"
    workers: int | None = None

    @property
    def loopback(self) -> bool:
        return is_loopback(self.host.strip("[]"))


def read_address(text: str) -> Address:
    """Read `local`, `local:N`, `ray://HOST:PORT`, or HOST:PORT from a host of the cluster. Raises UserError."""
    if found := _LOCAL.fullmatch(text):
        return Address(text, workers=int(found[1] or max(1, usable_cores() - 1)))
    if found := _REMOTE.fullmatch(text):
        return Address(text, found["host"])
    raise UserError(f"{text!r} names no cluster.", "Say local, local:4 or ray://HOST:10001 with --cluster.")


def require_token(address: Address) -> None:
    """Raise UserError where a cluster on other machines would be reached without a token.

    Whoever reaches a Ray cluster runs code on it, so both sides must know one another.
    """
    if address.loopback:
        return
    named = os.environ.get("RAY_AUTH_TOKEN"), os.environ.get("RAY_AUTH_TOKEN_PATH")
    file = Path(named[1]) if named[1] else Path.home() / ".ray" / "auth_token"
    if os.environ.get("RAY_AUTH_MODE", "token").lower() != "token" or not (named[0] or file.is_file()):
        raise UserError(
            f"The cluster at {address.text} is on other machines, and no token says who may use it.",
            "Make one with `ray get-auth-token --generate`, give it to every host, start Ray there with "
            "RAY_AUTH_MODE=token, and set RAY_AUTH_TOKEN_PATH here.",
        )


def live_nodes() -> list[dict[str, Any]]:
    """Return the machines of the cluster that are alive, as Ray describes them."""
    import ray

    return [node for node in ray.nodes() if node["Alive"]]


def may_judge(node: dict[str, Any]) -> bool:
    """Return whether a machine is labelled to have a sandbox."""
    return bool((node.get("Labels") or {}).get(SANDBOX) == "yes")


@contextmanager
def connected(project: Path, settings: RunSettings, notify: Notify) -> Iterator[RunSettings]:
    """Join the cluster and yield the settings for a run on it; it is left at the end, a local one stopped.

    A folder of the user's travels along as Ray's runtime environment, which belongs to the connection. What is only
    written later (problems, cells, a commit's files) is sent by the oracle that opens it. Raises UserError.
    """
    address = read_address(settings.cluster)
    if importlib.util.find_spec("ray") is None:
        raise UserError("--cluster needs Ray, which is not installed.", f"Install it: `{install_command('cluster')}`.")
    require_token(address)
    judged = task(settings.task).sandboxed(settings)
    source = task(settings.task).source
    # What is judged may be a project that is written when it is opened, not the folder that was named.
    opens_folder = source.folder and settings.benchmark.file is None and not source.by_hand(settings)
    folder = project if judged and opens_folder else None
    if judged and settings.oracle.sandbox == "none" and not address.loopback:
        raise UserError(
            "Without a sandbox, hosts of a cluster would run what a model writes with all their rights.",
            "Leave out --sandbox none.",
        )
    say_shipping(folder, address.text, notify)
    _start(address, folder, settings)
    try:
        nodes = live_nodes()
        notify(
            f"The cluster at {address.text} has: {', '.join(sorted({node['NodeManagerHostname'] for node in nodes}))}."
        )
        yield _for_hosts(address, settings, sum(map(may_judge, nodes))) if judged else settings
    finally:
        import ray

        global _travelled
        _travelled = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.shutdown()


_travelled: Path | None = None
"""The folder that went along as the runtime environment: Ray has one connection in a process, and so has this."""


def travels(project: Path) -> bool:
    """Return whether hosts start in a copy of this folder."""
    return _travelled is not None and _travelled == project.resolve()


def _start(address: Address, project: Path | None, settings: RunSettings) -> None:
    import ray

    global _travelled
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # else Ray tells its makers about the cluster
    os.environ.setdefault("RAY_worker_niceness", "0")  # else 15: a cluster here gives way to all else, a plain run not
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # what Ray warns of at every actor without a GPU
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # what its processes think is for their own log files
    logging.getLogger("ray").setLevel(logging.ERROR)
    options: dict[str, Any] = {"log_to_driver": False, "configure_logging": False, "logging_level": "ERROR"}
    if project is not None:
        options["runtime_env"] = {"working_dir": str(project), "excludes": _left_out(project)}
    if address.workers is not None:
        cores = address.workers * (settings.generation.threads or 1)
        options |= {"num_cpus": cores, "labels": {SANDBOX: "yes"}, "include_dashboard": False}
        options |= {"_node_ip_address": "127.0.0.1", "address": "local"}  # a new one, whatever else runs here
    else:
        options["address"] = address.text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(**options)
        # Ray prints what its hosts report to standard output, even without `log_to_driver`: JSON lines stand there.
        ray._private.worker._worker_logs_enabled = False
        _travelled = project.resolve() if project is not None else None
    except Exception as error:  # a node that does not come up in 30 seconds is a bare Exception of Ray's
        reason = (str(error) or repr(error)).splitlines()[0]
        remedy = "Look whether it runs there (`ray status`), and whether Ray has the same version on both sides."
        if address.workers is not None:
            remedy = "Try again when this machine has less to do, or leave out --cluster."
        raise UserError(f"The cluster at {address.text} cannot be used: {reason}", remedy) from error


def _left_out(project: Path) -> list[str]:
    """Return patterns for Ray of what does not travel: everything that is no file of the project."""
    wanted = set(every_file(project))
    folders = {str(parent) for path in wanted for parent in Path(path).parents}
    found = []
    for place, names, files in os.walk(project):
        inside = Path(place).relative_to(project)
        for name in tuple(names):
            if str(inside / name) not in folders:
                found.append(f"/{inside / name}/")
                names.remove(name)
        found += [f"/{inside / name}" for name in files if str(inside / name) not in wanted and name != ".gitignore"]
    return found


def say_shipping(project: Path | None, address: str, notify: Notify) -> None:
    """Tell `notify` what goes to the cluster, before any of it does. Raises UserError where it is too much."""
    if project is None:
        notify(f"Prompts and code go to the cluster at {address}.")
        return
    files = list(every_file(project))
    size = sum((project / each).stat().st_size for each in files)
    if size > MOST_SHIPPED:
        raise UserError(
            f"{project} holds {size >> 20} MiB, more than travels to a cluster ({MOST_SHIPPED >> 20}).",
            "Have git ignore what no test reads, or run on this machine.",
        )
    notify(
        f"{len(files)} files of {project} ({size / 1024:,.0f} KiB), prompts and code go to the cluster at {address}."
    )


def _for_hosts(address: Address, settings: RunSettings, able: int) -> RunSettings:
    """Return the settings with as many judges as the cluster has, where `able` of its machines have a sandbox."""
    oracle = settings.oracle
    if not able:
        raise UserError(
            f"No host of the cluster at {address.text} is labelled to have a sandbox, so none may judge.",
            "Where `rtc-inspector doctor` finds a sandbox, start Ray so: `ray start --labels rtc-sandbox=yes`.",
        )
    # A run that is resumed names all its judges, not those of each host.
    each = 1 if oracle.cluster else oracle.workers or 1
    workers = address.workers or able * each
    return replace(settings, oracle=replace(oracle, cluster=address.text, workers=workers))
