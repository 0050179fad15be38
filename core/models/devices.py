"""What of this machine llama.cpp can use: its processor, its GPUs, its memory; nothing is loaded to find out."""

import hashlib
import platform
import re
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from rtc_inspector.core import platform as system
from rtc_inspector.core.errors import UserError
from rtc_inspector.core.json_cache import JsonCache
from rtc_inspector.core.models.gguf import GgufHeader
from rtc_inspector.core.settings import DEFAULT_CONTEXT, ModelSettings

NVIDIA, AMD, APPLE = "NVIDIA", "AMD", "Apple"
FITTING = {NVIDIA: ("cuda", "vulkan"), AMD: ("vulkan", "hip"), APPLE: ("metal",)}
"""Backends of llama.cpp that use a maker's devices; the first is the one that `make demo GPU=...` builds for it."""
AMD_VENDOR = "0x1002"
LEAST_VRAM = 2 << 30  # bytes of its own below which a device is a part of the processor, not worth a build
CHECKOUT = Path(__file__).parents[3]
WITHOUT_EXTRA_BUFFERS = "without extra buffers"
"""Ends `ModelInfo.build` where weights are not packed anew for the processor, since the build crashes on those."""
WITHOUT_AMX = "-mno-amx-tile -mno-amx-int8 -mno-amx-bf16"
"""Compilers' words for leaving out what crashes most often; docs/llama-cpp.md has the reports."""
_CRASHES = JsonCache("llama-cpp-crashes", 20)  # builds of llama.cpp of which it is remembered whether they crash


@dataclass(frozen=True, slots=True)
class Processor:
    """A processor's name, and the features that the system lists for it."""

    name: str
    features: tuple[str, ...]

    @property
    def vector_features(self) -> str:
        """Return those that llama.cpp has kernels of its own for, e.g. `avx2 avx512f amx_int8`."""
        wide = [each for each in self.features if each.startswith(("avx", "amx", "asimd", "sve", "sme", "i8mm"))]
        return " ".join(wide) or "unknown"


def this_processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> Processor:
    """Read the first processor's name and features; where the system has no such file, its name alone."""
    found: dict[str, str] = {}
    with suppress(OSError):
        for line in cpuinfo.read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            found.setdefault(name.strip(), value.strip())
    features = found.get("flags") or found.get("Features", "")
    return Processor(found.get("model name") or platform.processor() or platform.machine(), tuple(features.split()))


def crashes_with_extra_buffers() -> bool:
    """Return whether this build was seen to crash on this processor with weights packed anew."""
    return _CRASHES.load(_build_and_processor()) is True


def remember_crash(crashes: bool) -> None:
    """Keep for later whether this build crashes on this processor with weights packed anew."""
    _CRASHES.save(_build_and_processor(), crashes)


def _build_and_processor() -> str:
    files = sorted(folder.glob("*")) if (folder := _libraries()) else []
    states = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(repr((build_version(), states, this_processor())).encode()).hexdigest()


def build_version() -> str:
    """Name the installed llama-cpp-python."""
    try:
        return f"llama-cpp-python {version('llama-cpp-python')}"
    except PackageNotFoundError:
        return "llama-cpp-python"


def slowed(build: str) -> str:
    """Return what to say of a model that was loaded without extra buffers; empty where it was loaded as usual."""
    if WITHOUT_EXTRA_BUFFERS not in build:
        return ""
    return (
        "This build of llama.cpp crashed on this processor when it packed weights for it, and runs without that, more "
        f"slowly. To mend it, build it anew: `{rebuild_without_amx()}`."
    )


def rebuild_without_amx() -> str:
    """Return the command that builds llama.cpp anew for this processor, without AMX where that has it."""
    amx = any(each.startswith("amx") for each in this_processor().features)
    flags = f'CFLAGS="{WITHOUT_AMX}" CXXFLAGS="{WITHOUT_AMX}" ' if amx else ""
    return f"{flags}{_rebuild()}"


def _rebuild() -> str:
    return f"{sys.executable} -m pip install --force-reinstall --no-deps --no-cache-dir llama-cpp-python"


@dataclass(frozen=True, slots=True)
class Gpu:
    """One device. `maker`: `NVIDIA`, `AMD` or `Apple`."""

    maker: str
    name: str


def unused_gpu(gpus: Sequence[Gpu], backends: Collection[str], checkout: Path = CHECKOUT) -> UserError | None:
    """Return what to say when no GPU of this machine is of use to this build; None when one is, or there is none.

    `checkout`: where a Makefile can build it; an installed package has none, and pip builds it.
    """
    if not gpus or any(backend in backends for gpu in gpus for backend in FITTING[gpu.maker]):
        return None
    names = ", ".join(dict.fromkeys(gpu.name for gpu in gpus))
    backend = FITTING[gpus[0].maker][0]
    command = f'CMAKE_ARGS="-DGGML_{backend.upper()}=on" {_rebuild()}'
    if (checkout / "Makefile").is_file():
        command = f"make -C {checkout} demo GPU={backend}"
    return UserError(
        f"The {names} of this machine is not used: this llama.cpp was built without support for it.",
        f"Build it anew with `{command}`.",
    )


def idle_gpu() -> UserError | None:
    """Return what to say of this machine's GPUs and the installed llama.cpp; None where nothing lies idle."""
    return unused_gpu(found_gpus(), build_backends())


def found_gpus(root: Path = Path("/")) -> list[Gpu]:
    """List GPUs as the system shows them: NVIDIA's with a driver, AMD's with memory of their own, Apple's."""
    found = []
    for file in sorted(root.glob("proc/driver/nvidia/gpus/*/information")):
        with suppress(OSError):
            model = re.search(r"^Model:\s*(.+?)\s*$", file.read_text(errors="replace"), re.MULTILINE)
            found.append(Gpu(NVIDIA, model[1] if model else "NVIDIA GPU"))
    # Under WSL2 the driver is Windows' own, which lends this program.
    if (root / "usr/lib/wsl/lib/nvidia-smi").exists():
        found.append(Gpu(NVIDIA, "NVIDIA GPU"))
    for card in sorted(root.glob("sys/class/drm/card[0-9]*/device")):
        with suppress(OSError, ValueError):
            own = int((card / "mem_info_vram_total").read_text())
            if (card / "vendor").read_text().strip() == AMD_VENDOR and own >= LEAST_VRAM:
                name = card / "product_name"
                found.append(Gpu(AMD, (name.exists() and name.read_text(errors="replace").strip()) or "AMD GPU"))
    if (root / "System/Library/Frameworks/Metal.framework").exists():
        found.append(Gpu(APPLE, "Apple GPU"))
    return found


def build_backends(folder: Path | None = None) -> frozenset[str]:
    """Name the GPU backends in llama.cpp's folder of libraries, e.g. `cuda`; by default the installed one's."""
    folder = folder or _libraries()
    if folder is None:
        return frozenset()
    names = (re.match(r"(?:lib)?ggml-([a-z]+)", file.name) for file in folder.glob("*ggml-*"))
    return frozenset(match[1] for match in names if match and any(match[1] in each for each in FITTING.values()))


def _libraries() -> Path | None:
    """Return the folder of the installed llama.cpp's libraries, without importing it."""
    spec = find_spec("llama_cpp")
    places = list(spec.submodule_search_locations or ()) if spec else []
    return Path(places[0]) / "lib" if places else None


# ---- memory


COMPUTE = 256 << 20  # bytes that llama.cpp's working buffers and the worker itself take, about
MEMINFO = Path("/proc/meminfo")
GROUP = Path("/sys/fs/cgroup")
UNKNOWN = 4 << 20  # KiB that are taken to be free where the system does not say


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes: `free` can be taken without swapping, `swap` besides."""

    free: int
    swap: int = 0


def window_of(header: GgufHeader, settings: ModelSettings) -> int:
    """Return the tokens of the context window that a model is opened with."""
    return settings.context_size or min(header.context_length or DEFAULT_CONTEXT, DEFAULT_CONTEXT)


def needed_together(headers: Sequence[GgufHeader], settings: ModelSettings) -> int:
    """Return the bytes that these models need, all loaded at once: weights, key-value cache of a sequence, buffers."""
    return sum(each.file_bytes + each.kv_bytes * window_of(each, settings) + COMPUTE for each in headers)


def estimate(headers: Sequence[GgufHeader], settings: ModelSettings, memory: Memory) -> str:
    """Return one sentence that says what these models need beside what is free."""
    names = " and ".join(header.label for header in headers)
    verb = "needs" if len(headers) == 1 else "need"
    needed = gib(needed_together(headers, settings))
    return f"{names} {verb} about {needed} of memory; {gib(memory.free)} are free."


def too_much(headers: Sequence[GgufHeader], settings: ModelSettings, memory: Memory) -> bool:
    """Return whether these models cannot fit, not even by swapping."""
    return needed_together(headers, settings) > memory.free + memory.swap


def tight(headers: Sequence[GgufHeader], settings: ModelSettings, memory: Memory) -> bool:
    """Return whether these models fit only by swapping, if at all."""
    return needed_together(headers, settings) > memory.free


def gib(count: int) -> str:
    """Return bytes as people read them."""
    return f"{count / (1 << 30):.1f} GiB"


def memory_now() -> Memory:
    """Return the memory that this process could take now; the control group's limit counts too."""
    # A control group may not use the machine's swap; nothing says how much of it, so none is counted.
    swap = (_figure(MEMINFO, "SwapFree:") or 0) << 10 if _group() >= 1 << 62 else 0
    return Memory(available_memory(), swap)


def available_memory() -> int:
    """Return the bytes that can be taken without swapping; the control group's limit counts too."""
    return min(system.available_memory() or (_figure(MEMINFO, "MemAvailable:") or UNKNOWN) << 10, _group())


def _figure(file: Path, name: str) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in file.read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1])
    return None


def _group() -> int:
    """Return the bytes left under the limit of this process's control group; `1 << 62` where there is no limit.

    File pages that nobody uses just now count as taken there, and are given up when memory is asked for: reading a
    model file once would otherwise leave no room to load it.
    """
    try:
        limit = (GROUP / "memory.max").read_text().strip()
        used = int((GROUP / "memory.current").read_text()) - (_figure(GROUP / "memory.stat", "inactive_file") or 0)
        return max(0, int(limit) - used) if limit != "max" else 1 << 62
    except (OSError, ValueError):
        return 1 << 62
