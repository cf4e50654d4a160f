"""Where headers, libraries and tools lie, and the drop-in names of the libraries."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parent

INCLUDE_FOLDERS = ("", "nvdla", "upmem", "cupva", "cuda")
"""Folders below include/ that a program has in its search path; the CUDA one only where no real
CUDA is."""

# Releases of the UPMEM SDK; a host program asks for the library of the one that it was linked with.
UPMEM_RELEASES = (
    *("2020.3", "2020.4", "2020.5"),
    *("2021.1", "2021.2", "2021.3", "2021.4", "2022.1", "2023.1", "2023.2", "2024.1", "2024.2"),
    "2025.1",
)


class DropIn(NamedTuple):
    """A library under a vendor's name."""

    soname: str
    """What programs that are linked with it record."""
    family: str
    """Whose functions it has."""
    real: str = "libcudla_sim.so"
    """Where the functions are."""


def _drop_in() -> dict[str, DropIn]:
    found = {
        "libcudla.so": DropIn("libcudla.so.1", "cudla"),
        "libcudla.so.1": DropIn("libcudla.so.1", "cudla"),
        "libcudla.so.1.0.0": DropIn("libcudla.so.1", "cudla"),
        "libnvsciipc.so": DropIn("libnvsciipc.so", "nvsci"),
        "libnvdla_runtime.so": DropIn("libnvdla_runtime.so", "nvdla"),
        "libcupva_host.so": DropIn("libcupva_host.so", "cupva"),
        "libcupva_host_utils.so": DropIn("libcupva_host_utils.so", "cupva"),
    }
    for name in ("nvscibuf", "nvscisync", "nvscicommon"):
        for ending in (".so", ".so.1"):
            found[f"lib{name}{ending}"] = DropIn(f"lib{name}.so.1", "nvsci")
    for name in ("libdpu", "libdpuverbose"):
        found[f"{name}.so"] = DropIn(f"{name}.so.{UPMEM_RELEASES[-1]}", "upmem")
        for release in UPMEM_RELEASES:
            found[f"{name}.so.{release}"] = DropIn(f"{name}.so.{release}", "upmem")
    for minor in range(3, 11):
        found[f"libcupva_host.so.2.{minor}"] = DropIn(f"libcupva_host.so.2.{minor}", "cupva")
    for ending in (".so", ".so.12", ".so.13"):
        soname = "libcudart.so" + (ending.removeprefix(".so") or ".12")
        found[f"cuda/libcudart{ending}"] = DropIn(soname, "cudart", "libcudart_sim.so")
    for ending in (".so", ".so.1"):
        found[f"cuda/libcuda{ending}"] = DropIn("libcuda.so.1", "cudart", "libcudart_sim.so")
    return found


DROP_IN = _drop_in()
"""The vendors' names, below lib/."""

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
