"""What models need before they are loaded, and GPUs that lie idle."""

from __future__ import annotations

from pathlib import Path

import pytest
from models_gguf_writer import write_gguf

from rtc_inspector.core.errors import ModelError
from rtc_inspector.core.models import devices
from rtc_inspector.core.models.client import LocalModel
from rtc_inspector.core.models.devices import (
    Gpu,
    Memory,
    Processor,
    build_backends,
    estimate,
    found_gpus,
    memory_now,
    needed_together,
    this_processor,
    tight,
    too_much,
    unused_gpu,
    window_of,
)
from rtc_inspector.core.models.discovery import bundled_model
from rtc_inspector.core.models.gguf import read_header
from rtc_inspector.core.models.loading import check_machine, local_files
from rtc_inspector.core.settings import DEFAULT_CONTEXT, EndpointSettings, ModelSettings, RunSettings

SERVER = EndpointSettings("http://127.0.0.1:9/v1")


def test_weights_cache_and_buffers_are_counted() -> None:
    header = read_header(bundled_model())
    plain, wide = (needed_together([header], ModelSettings(context_size=n)) for n in (0, 8192))
    assert window_of(header, ModelSettings()) == DEFAULT_CONTEXT
    assert plain == header.file_bytes + (3072 * 23040) + (256 << 20)
    assert wide - plain == (8192 - 3072) * 23040
    assert needed_together([header, header], ModelSettings(context_size=8192)) == 2 * wide


def test_what_fits_only_by_swapping_and_what_never_fits() -> None:
    header = read_header(bundled_model())
    need = needed_together([header], ModelSettings())
    for free, swap, verdict in ((need, 0, (False, False)), (need - 1, 1, (True, False)), (need - 2, 1, (True, True))):
        memory_ = Memory(free, swap)
        assert (tight([header], ModelSettings(), memory_), too_much([header], ModelSettings(), memory_)) == verdict
    said = estimate([header], ModelSettings(), Memory(3 << 30))
    assert said == "SmolLM2-135M-Instruct.Q4_1 needs about 0.4 GiB of memory; 3.0 GiB are free."


def test_a_run_that_cannot_fit_is_refused_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of some 11 TiB of cache, beside the bundled one."""
    layers = {"llama.block_count": 100, "llama.embedding_length": 1 << 16, "llama.context_length": 1 << 20}
    huge = write_gguf(tmp_path / "huge.gguf", layers)
    settings = RunSettings(model=str(huge), backward_model="", generation=ModelSettings(context_size=1 << 20))
    with pytest.raises(ModelError) as caught:
        check_machine(settings, lambda text: None)
    assert caught.value.problem.startswith("huge and SmolLM2-135M-Instruct.Q4_1 need about ")
    assert "\n" not in caught.value.problem and "smaller" in caught.value.remedy
    said: list[str] = []
    monkeypatch.setattr(devices, "memory_now", lambda: Memory(0, 1 << 60))
    check_machine(settings, said.append)
    small = "SmolLM2-135M-Instruct.Q4_1 was made for windows of 8,192 tokens, not of 1,048,576."
    assert said[0] == small and "Swapping" in said[1] and len(said) == 2


def test_more_threads_than_llama_cpp_can_have_are_refused() -> None:
    """It would crash with a signal."""
    with pytest.raises(ModelError, match="at most 512 threads, not 100,000"):
        LocalModel(bundled_model(), ModelSettings(threads=100_000))


def test_only_files_of_this_machine_count() -> None:
    bundled = bundled_model()
    cases: dict[RunSettings, list[Path]] = {
        RunSettings(): [bundled],
        RunSettings(model="/a"): [Path("/a")],
        RunSettings(model="/a", backward_model="/a"): [Path("/a")],
        RunSettings(model="/a", backward_model=""): [Path("/a"), bundled],
        RunSettings(endpoint=SERVER): [],
        RunSettings(endpoint=SERVER, backward_model="/b"): [Path("/b")],
        RunSettings(model="/a", backward_endpoint=SERVER): [Path("/a")],
    }
    for settings, files in cases.items():
        assert local_files(settings) == files


def test_free_memory_heeds_a_control_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable: 4096 kB\nSwapFree: 1024 kB\n")
    monkeypatch.setattr(devices, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(devices, "GROUP", tmp_path)
    assert memory_now() == Memory(4 << 20, 1 << 20)
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert memory_now() == Memory(4 << 20, 1 << 20)
    (tmp_path / "memory.max").write_text("3000\n")
    assert memory_now() == Memory(2000, 0)
    (tmp_path / "memory.stat").write_text("anon 100\ninactive_file 700\n")
    assert memory_now() == Memory(2700, 0), "cached file pages are given up when memory is asked for"


# --------------------------------------------------------------------------- the processor


def test_the_command_that_rebuilds_leaves_amx_out_where_the_processor_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: Xeon Platinum\nflags\t\t: fpu avx2 avx512f amx_int8\n\n" * 2)
    xeon = this_processor(cpuinfo)
    assert (xeon.name, xeon.vector_features) == ("Xeon Platinum", "avx2 avx512f amx_int8")
    for processor, named in ((xeon, True), (Processor("Older", ("avx2",)), False)):
        monkeypatch.setattr(devices, "this_processor", lambda processor=processor: processor)
        assert ("-mno-amx-int8" in devices.rebuild_without_amx()) is named


# --------------------------------------------------------------------------- GPUs

H100, RADEON = Gpu("NVIDIA", "NVIDIA H100"), Gpu("AMD", "Radeon RX 7900")


@pytest.mark.parametrize(
    ("gpus", "backends", "said"),
    [
        ([], set(), None),
        ([], {"cuda"}, None),
        ([H100], {"cuda"}, None),
        ([H100], {"vulkan"}, None),
        ([H100], set(), "GPU=cuda"),
        ([H100], {"hip"}, "GPU=cuda"),
        ([RADEON], {"cuda"}, "GPU=vulkan"),
        ([RADEON], {"hip"}, None),
        ([H100, RADEON], {"hip"}, None),
    ],
)
def test_a_gpu_that_lies_idle_is_said(gpus: list[Gpu], backends: set[str], said: str | None) -> None:
    idle = unused_gpu(gpus, backends)
    if said is None:
        assert idle is None
    else:
        assert idle is not None and said in idle.remedy and gpus[0].name in idle.problem


def test_an_installed_package_is_built_for_a_gpu_by_pip(tmp_path: Path) -> None:
    idle = unused_gpu([H100], set(), checkout=tmp_path)
    assert idle is not None and 'CMAKE_ARGS="-DGGML_CUDA=on"' in idle.remedy and "-m pip install" in idle.remedy


def test_gpus_are_found_where_the_kernel_lists_them(tmp_path: Path) -> None:
    assert found_gpus(tmp_path) == []
    information = tmp_path / "proc/driver/nvidia/gpus/0000:01:00.0/information"
    information.parent.mkdir(parents=True)
    information.write_text("Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 11\n")
    for number, (vendor, own) in enumerate([("0x1002", 16 << 30), ("0x1002", 512 << 20), ("0x8086", 16 << 30)]):
        card = tmp_path / f"sys/class/drm/card{number}/device"
        card.mkdir(parents=True)
        (card / "vendor").write_text(vendor + "\n")
        (card / "mem_info_vram_total").write_text(f"{own}\n")
    wsl, metal = tmp_path / "usr/lib/wsl/lib/nvidia-smi", tmp_path / "System/Library/Frameworks/Metal.framework"
    wsl.mkdir(parents=True)
    metal.mkdir(parents=True)
    assert found_gpus(tmp_path) == [
        Gpu("NVIDIA", "NVIDIA H100 80GB HBM3"),
        Gpu("NVIDIA", "NVIDIA GPU"),
        Gpu("AMD", "AMD GPU"),
        Gpu("Apple", "Apple GPU"),
    ]


def test_backends_are_read_off_the_libraries(tmp_path: Path) -> None:
    for name in (
        "libggml-base.so",
        "libggml-cpu-haswell.so",
        "libggml-cuda.so.0",
        "libggml-vulkan.dylib",
        "ggml-hip.dll",
    ):
        (tmp_path / name).touch()
    assert build_backends(tmp_path) == {"cuda", "vulkan", "hip"}
    assert build_backends() <= {"cuda", "vulkan", "hip"}


def test_an_idle_gpu_is_said_at_the_start_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "found_gpus", lambda: [H100])
    monkeypatch.setattr(devices, "build_backends", frozenset)
    said: list[str] = []
    check_machine(RunSettings(), said.append)
    check_machine(RunSettings(endpoint=SERVER), said.append)
    assert len(said) == 1 and said[0].startswith("The NVIDIA H100 of this machine is not used")
