"""Where headers, libraries and tools lie, and the drop-in names of the libraries."""

from __future__ import annotations

import shutil
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent

# The UPMEM SDK's own folders, for programs that look below ${UPMEM_HOME}; relative to ``sdk``.
SDK_LINKS = {
    "include/dpu": "../../include/upmem",
    "lib": "../lib",
    "share/upmem/include": "../../../include/upmem",
}


def include_dir() -> Path:
    return PACKAGE / "include"


def lib_dir() -> Path:
    return PACKAGE / "lib"


def pkgconfig_dir() -> Path:
    return lib_dir() / "pkgconfig"


def cmake_dir() -> Path:
    return lib_dir() / "cmake" / "cudla-sim"


def sdk_dir() -> Path:
    """What UPMEM_HOME names."""
    return PACKAGE / "sdk"


def tools_dir() -> Path:
    """The folder with the UPMEM commands, which belongs on PATH."""
    return sdk_dir() / "bin"


def toolkit_dir() -> Path:
    """A folder of the shape of a CUDA toolkit: bin/nvcc, include."""
    return PACKAGE / "toolkit"


def toolkit_present() -> bool:
    """True where an nvcc of somebody else is on PATH."""
    found = shutil.which("nvcc")
    return found is not None and Path(found).resolve().parent != toolkit_dir() / "bin"


def dpu_run_dir() -> Path:
    """The sources of what runs a DPU program; the DPU compiler compiles them into it."""
    return PACKAGE / "dpu_run"


def vpu_run_dir() -> Path:
    """The sources of what runs a VPU program; the VPU compiler compiles them into it."""
    return PACKAGE / "vpu_run"


def pva_sdk_dir() -> Path:
    """The folder with the CMake package pva-sdk."""
    return lib_dir() / "cmake" / "pva-sdk"


def library() -> Path:
    return lib_dir() / "libcudla_sim.so"


def real_cuda_present() -> bool:
    """True on a machine with an NVIDIA driver: our CUDA must not shadow it."""
    return any(Path(p).exists() for p in ("/proc/driver/nvidia/version", "/dev/nvidiactl"))
