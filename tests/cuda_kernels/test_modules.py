"""cuModuleLoad and cuLaunchKernel from C: what a kernel wrote, and every refusal."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from cudla_sim import flags

from .conftest import PROGRAMS, nvcc


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The program and a module."""
    folder = tmp_path_factory.mktemp("driver")
    module = folder / "module.fatbin"
    done = nvcc("-O1", "-fatbin", "-arch=sm_87", PROGRAMS / "module.cu", "-o", module)
    assert done.returncode == 0, done.stderr
    command = ["gcc", "-Wall", "-Werror", PROGRAMS / "driver.c", "-o", folder / "driver"]
    command += [f"-I{d}" for d in flags.include_dirs(cuda=True)]
    for library in flags.library_dirs(cuda=True):
        command += [f"-L{library}", f"-Wl,-rpath,{library}"]
    subprocess.run([*command, "-lcuda"], check=True)
    return folder / "driver", module


def test_kernels_of_a_module(driver: tuple[Path, Path], tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no module, but long enough to be looked at as one\n")
    done = subprocess.run([*driver, text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    factors = np.resize([1.0, 2.0, 4.0], 8)
    assert lines[0] == "CUDA_ERROR_INVALID_CONTEXT"
    np.testing.assert_array_equal(
        np.float32(lines[1].split()), np.float32(2000 + 0.5 * factors - 3 + 5)
    )
    written = np.resize([1.0, 3.0, 4.0], 8)
    assert lines[2] == "4 24"  # an int, three doubles
    np.testing.assert_array_equal(
        np.float32(lines[3].split()), np.float32(1000 + 1.5 * written + 4 + 7)
    )
    assert lines[4:] == [
        "1024",
        "CUDA_ERROR_INVALID_VALUE",  # 2048 threads
        "CUDA_ERROR_INVALID_VALUE",  # no arguments
        "CUDA_ERROR_INVALID_HANDLE",
        "CUDA_ERROR_INVALID_VALUE",  # a buffer of 8 bytes
        "CUDA_ERROR_NOT_FOUND",
        "CUDA_ERROR_INVALID_IMAGE",
        "CUDA_SUCCESS",  # PTX without a function
        "CUDA_ERROR_NO_BINARY_FOR_GPU",
        "1 0 1 160 100 CUDA_ERROR_INVALID_VALUE",
        "CUDA_ERROR_INVALID_HANDLE",
        "1",
    ]
