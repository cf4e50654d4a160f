"""Where headers and libraries lie, and the drop-in names of the libraries."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent

# Drop-in name -> real library. A wheel cannot hold links, so they are made on first use.
LINKS = {
    "libcudla.so": "libcudla_sim.so",
    "libcudla.so.1": "libcudla_sim.so",
    "libcudla.so.1.0.0": "libcudla_sim.so",
    "libnvscibuf.so": "libcudla_sim.so",
    "libnvscibuf.so.1": "libcudla_sim.so",
    "libnvscisync.so": "libcudla_sim.so",
    "libnvscisync.so.1": "libcudla_sim.so",
    "libnvsciipc.so": "libcudla_sim.so",
    "libnvscicommon.so": "libcudla_sim.so",
    "libnvscicommon.so.1": "libcudla_sim.so",
    "libnvdla_runtime.so": "libcudla_sim.so",
    "cuda/libcudart.so": "../libcudart_sim.so",
    "cuda/libcudart.so.12": "../libcudart_sim.so",
    "cuda/libcudart.so.13": "../libcudart_sim.so",
    "cuda/libcuda.so": "../libcudart_sim.so",
    "cuda/libcuda.so.1": "../libcudart_sim.so",
}


def include_dir() -> Path:
    return PACKAGE / "include"


def lib_dir() -> Path:
    return PACKAGE / "lib"


def pkgconfig_dir() -> Path:
    return lib_dir() / "pkgconfig"


def cmake_dir() -> Path:
    return lib_dir() / "cmake" / "cudla-sim"


def library() -> Path:
    return lib_dir() / "libcudla_sim.so"


def make_links() -> None:
    """Makes the drop-in names that are not there yet. Raises OSError in a read-only folder."""
    for name, target in LINKS.items():
        link = lib_dir() / name
        if link.is_symlink() and os.readlink(link) == target:
            continue
        link.parent.mkdir(exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)


def real_cuda_present() -> bool:
    """True on a machine with an NVIDIA driver: our CUDA must not shadow it."""
    return any(Path(p).exists() for p in ("/proc/driver/nvidia/version", "/dev/nvidiactl"))
