"""What scripts/bootstrap.sh refuses before it changes anything, and the words by which it leaves AMX out."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from rtc_inspector.core.models.devices import WITHOUT_AMX

SCRIPT = Path(__file__).parents[2] / "scripts" / "bootstrap.sh"


@pytest.mark.parametrize(
    ("gpu", "said"), [("cuda", "CUDA toolkit"), ("metal", "GPU=metal is for macOS"), ("tpu", "GPU=tpu is not known")]
)
@pytest.mark.skipif(platform.system() != "Linux", reason="refusals depend on the system")
def test_a_gpu_that_cannot_be_built_for_is_one_sentence(gpu: str, said: str, tmp_path: Path) -> None:
    if gpu == "cuda":  # whether or not there is a toolkit here, this one is not whole
        (tmp_path / "nvcc").write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / "nvcc").chmod(0o755)
    environment = os.environ | {"GPU": gpu, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([SCRIPT, "demo"], capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "") and said in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.skipif(platform.machine() != "x86_64" or not shutil.which("c++"), reason="needs a compiler for x86-64")
def test_the_words_that_leave_amx_out_do_so() -> None:
    """The compiler's driver puts `-mamx-int8` where `-march=native` stands, before what CFLAGS say."""
    assert f'no_amx="{WITHOUT_AMX}"' in SCRIPT.read_text()

    def defines_amx(*words: str) -> bool:
        command = ["c++", "-mamx-tile", "-mamx-int8", *words, "-E", "-dM", "-x", "c++", "/dev/null"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if "unrecognized" in done.stderr:
            pytest.skip("this compiler knows no AMX")
        return "__AMX_INT8__" in done.stdout

    assert defines_amx() and not defines_amx(*WITHOUT_AMX.split())
