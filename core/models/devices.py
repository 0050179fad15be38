"""Which GPUs this machine has, and which of them the installed llama.cpp can use; nothing is loaded to find out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

NVIDIA, AMD = "NVIDIA", "AMD"
FITTING = {NVIDIA: ("cuda", "vulkan"), AMD: ("hip", "vulkan")}
"""Backends of llama.cpp that use a maker's devices."""
SWITCHES = {NVIDIA: "-DGGML_CUDA=on", AMD: "-DGGML_HIP=on"}
AMD_VENDOR = "0x1002"
LEAST_VRAM = 2 << 30
"""Bytes of its own below which a device is a part of the processor, not worth a build."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One device. `maker`: `NVIDIA` or `AMD`."""

    maker: str
    name: str


@dataclass(frozen=True, slots=True)
class Unused:
    """A GPU that lies idle: what is wrong and what to do."""

    problem: str
    remedy: str


def unused_gpu(gpus: Sequence[Gpu], backends: Collection[str]) -> Unused | None:
    """What to say when no GPU of this machine is of use to this build; None when one is, or there is none."""
    if not gpus or any(backend in backends for gpu in gpus for backend in FITTING[gpu.maker]):
        return None
    names = ", ".join(dict.fromkeys(gpu.name for gpu in gpus))
    switch = SWITCHES[gpus[0].maker]
    return Unused(
        f"The {names} of this machine is not used: llama.cpp was built without support for it.",
        f'Build it with `CMAKE_ARGS="{switch}" pip install --force-reinstall --no-cache-dir llama-cpp-python`.',
    )


def found_gpus(root: Path = Path("/")) -> list[Gpu]:
    """GPUs as the Linux kernel lists them: NVIDIA's with a driver, AMD's with memory of their own."""
    return [*_nvidia(root), *_amd(root)]


def build_backends(folder: Path | None = None) -> frozenset[str]:
    """Names of the GPU backends in llama.cpp's folder of libraries, e.g. `cuda`; by default the installed one's."""
    if folder is None:
        spec = find_spec("llama_cpp")
        places = list(spec.submodule_search_locations or ()) if spec else []
        if not places:
            return frozenset()
        folder = Path(places[0]) / "lib"
    names = (re.match(r"(?:lib)?ggml-([a-z]+)", file.name) for file in folder.glob("*ggml-*"))
    known = {backend for backends in FITTING.values() for backend in backends}
    return frozenset(match[1] for match in names if match and match[1] in known)


def _nvidia(root: Path) -> Iterator[Gpu]:
    for file in sorted(root.glob("proc/driver/nvidia/gpus/*/information")):
        with suppress(OSError):
            model = re.search(r"^Model:\s*(.+?)\s*$", file.read_text(errors="replace"), re.MULTILINE)
            yield Gpu(NVIDIA, model[1] if model else "NVIDIA GPU")


def _amd(root: Path) -> Iterator[Gpu]:
    for card in sorted(root.glob("sys/class/drm/card[0-9]*/device")):
        with suppress(OSError, ValueError):
            own = int((card / "mem_info_vram_total").read_text())
            if (card / "vendor").read_text().strip() == AMD_VENDOR and own >= LEAST_VRAM:
                yield Gpu(AMD, _text(card / "product_name") or "AMD GPU")


def _text(file: Path) -> str:
    with suppress(OSError):
        return file.read_text(errors="replace").strip()
    return ""
