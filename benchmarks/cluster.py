"""What the way over a cluster costs, and what a second node brings.

    python benchmarks/cluster.py [--rounds 6] [--items 4] [--tokens 64] [--model FILE]

The same requests are drawn by a model of this process and by one on a Ray cluster of one worker on this machine, in
turns, one thread each; then by two nodes of one core. Prints seconds a sample of each, samples a second of one node
and of two, and last `overhead=`: what the cluster adds to the time of a sample, as a share of 1.
"""

from __future__ import annotations

import argparse
import os
import secrets
import statistics
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from rtc_inspector.core.generation import PLAIN, Message, Model, Prompt, Request
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.settings import ModelSettings, RunSettings

SAMPLES = 3
"""Of an item; they share its prompt, as descriptions of a region do."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--items", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--model", type=Path, default=None)
    options = parser.parse_args()
    os.environ.setdefault("RAY_AUTH_MODE", "token")
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(16))
    path = options.model or bundled_model()
    plain, cluster, overhead = in_turns(path, options)
    one, two = nodes(path, options)
    print(f"plain_seconds_a_sample={plain:.3f}")
    print(f"cluster_seconds_a_sample={cluster:.3f}")
    print(f"one_node_samples_per_second={1 / one:.3f}")
    print(f"two_nodes_samples_per_second={1 / two:.3f}")
    print(f"overhead={overhead:.3f}")


def in_turns(path: Path, options: argparse.Namespace) -> tuple[float, float, float]:
    """Median seconds a sample, plain and over a cluster of one worker, and the median of what the second adds.

    The two take turns in going first, so that what else the machine does falls on both alike.
    """
    from rtc_inspector.core.cluster.session import connected

    settings = ModelSettings(threads=1, context_size=1024)
    wanted = RunSettings(task="editing", cluster="local:1", generation=settings)
    found: dict[str, list[float]] = {"plain": [], "cluster": []}
    with tempfile.TemporaryDirectory() as folder, connected(Path(folder), wanted, print):
        from rtc_inspector.core.cluster.remote import ClusterModel

        models: dict[str, Model] = {
            "plain": LocalModel(path, settings),
            "cluster": ClusterModel(path, settings, wanted, print, lambda: None),
        }
        for number in range(-1, options.rounds):  # the first round only warms up
            for name, model in sorted(models.items(), reverse=number % 2 == 0):
                seconds = spent(model, requests(number, options))
                if number >= 0:
                    found[name].append(seconds)
        for model in models.values():
            model.close()
    added = [there / here - 1 for here, there in zip(found["plain"], found["cluster"], strict=True)]
    print("added in each round:", *(f"{each:+.3f}" for each in added))
    return statistics.median(found["plain"]), statistics.median(found["cluster"]), statistics.median(added)


def nodes(path: Path, options: argparse.Namespace) -> tuple[float, float]:
    """Median seconds a sample on one node of one core, and on two."""
    warnings.simplefilter("ignore")  # of Ray's own processes and files
    from ray.cluster_utils import Cluster

    from rtc_inspector.core.cluster.session import connected

    settings = ModelSettings(threads=1, context_size=1024)
    found = []
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        for count in (1, 2):
            if count == 2:
                cluster.add_node(num_cpus=1)
            wanted = RunSettings(task="editing", cluster=cluster.address, generation=settings)
            with tempfile.TemporaryDirectory() as folder, connected(Path(folder), wanted, print):
                from rtc_inspector.core.cluster.remote import ClusterModel

                model = ClusterModel(path, settings, wanted, print, lambda: None)
                assert model.hosts == count
                rounds = [spent(model, requests(number, options, count)) for number in range(-1, options.rounds)]
                found.append(statistics.median(rounds[1:]))
                model.close()
    finally:
        cluster.shutdown()
    return found[0], found[1]


def requests(number: int, options: argparse.Namespace, hosts: int = 1) -> list[Request]:
    """Of several items, each with a text of its own; other ones each round, so that nothing is known already."""
    wanted = []
    for item in range(options.items * hosts):
        code = "".join(f"def f{number}_{item}_{n}(a, b):\n    return a * {n} + b\n\n\n" for n in range(12))
        prompt = Prompt((Message(PLAIN, code),))
        wanted += [
            Request(f"{item}/forward/{n}", prompt, 0.8, number * 1000 + item * 10 + n + 2000, options.tokens)
            for n in range(SAMPLES)
        ]
    return wanted


def spent(model: Model, wanted: Sequence[Request]) -> float:
    """Seconds a sample."""
    start = time.monotonic()
    made = list(model.generate(wanted))
    assert not any(each.error for each in made) and len(made) == len(wanted)
    return (time.monotonic() - start) / len(made)


if __name__ == "__main__":
    main()
