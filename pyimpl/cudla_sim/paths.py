"""Where headers, libraries and tools lie, and the drop-in names of the libraries."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

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
    **{
        f"{name}.so{release}": "libcudla_sim.so"
        for name in ("libdpu", "libdpuverbose")
        for release in ("", *(f".{release}" for release in UPMEM_RELEASES))
    },
    "libcupva_host.so": "libcudla_sim.so",
    **{f"libcupva_host.so.2.{minor}": "libcudla_sim.so" for minor in range(3, 11)},
    "libcupva_host_utils.so": "libcudla_sim.so",
    "cuda/libcudart.so": "../libcudart_sim.so",
    "cuda/libcudart.so.12": "../libcudart_sim.so",
    "cuda/libcudart.so.13": "../libcudart_sim.so",
    "cuda/libcuda.so": "../libcudart_sim.so",
    "cuda/libcuda.so.1": "../libcudart_sim.so",
}

# The UPMEM SDK's own folders, for programs that look below ${UPMEM_HOME}; relative to ``sdk``.
SDK_LINKS = {
    "include/dpu": "../../include/upmem",
    "lib": "../lib",
    "share/upmem/include": "../../../include/upmem",
}

# Commands in ``sdk/bin``, which UPMEM's script puts on PATH as a whole: Makefiles call `clang` with
# the DPU as its target. For other targets it is the user's own clang.
_DPU_COMPILER = "exec {python} -P -m cudla_sim.upmem.toolchain.cli"
_SCRIPTS = {
    "bin/dpu-upmem-dpurte-clang": _DPU_COMPILER + ' "$@"\n',
    "bin/dpu-clang": _DPU_COMPILER + ' "$@"\n',
    "bin/clang": """\
# The DPU compiler when the target is a DPU, otherwise the next clang on PATH.
for word in "$@"; do
    case $word in
    --target=dpu-upmem-dpurte | dpu-upmem-dpurte)
        {compiler} "$@" ;;
    esac
done
here=$(cd "$(dirname "$0")" && pwd -P)
IFS=:
for folder in $PATH; do
    if [ -x "$folder/clang" ] && [ "$(cd "$folder" && pwd -P)" != "$here" ]; then
        unset IFS
        exec "$folder/clang" "$@"
    fi
done
echo "clang: there is no other clang on PATH; this one compiles for --target=dpu-upmem-dpurte" >&2
exit 127
""",
    "bin/pva-cc": 'exec {python} -P -m cudla_sim.cupva.toolchain "$@"\n',
    "bin/dpu-pkg-config": 'exec {python} -P -m cudla_sim.tools.dpu_pkg_config "$@"\n',
    "bin/dpu_v1A_mode": 'export DPU_ARCH_VERSION=v1A\n[ $# -eq 0 ] || "$@"\n',
    "bin/dpu_v1B_mode": 'export DPU_ARCH_VERSION=v1B\n[ $# -eq 0 ] || "$@"\n',
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


def make_links() -> None:
    """Makes what is not there yet of the drop-in names and of the UPMEM commands.

    Raises OSError in a read-only folder.
    """
    for name, target in LINKS.items():
        _link(lib_dir() / name, target)
    for name, target in SDK_LINKS.items():
        _link(sdk_dir() / name, target)
    python = shlex.quote(_interpreter())
    for name, body in _SCRIPTS.items():
        text = body.replace("{compiler}", _DPU_COMPILER).replace("{python}", python)
        _script(sdk_dir() / name, text)


def _interpreter() -> str:
    """One name for this interpreter, under whichever of its names it was started."""
    usual = Path(sys.prefix) / "bin" / "python3"
    same = usual.exists() and usual.resolve() == Path(sys.executable).resolve()
    return str(usual) if same else sys.executable


def _link(link: Path, target: str) -> None:
    if link.is_symlink() and os.readlink(link) == target:
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    fresh = link.with_name(f".{link.name}.{os.getpid()}")
    fresh.symlink_to(target)
    fresh.replace(link)  # another process may be doing the same


def _script(file: Path, body: str) -> None:
    """Writes a command of our own interpreter, which is what knows this package."""
    text = f"#!/bin/sh\n{body}"
    if file.exists() and file.read_text() == text:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.write_text(text)
    fresh.chmod(0o755)
    fresh.replace(file)


def real_cuda_present() -> bool:
    """True on a machine with an NVIDIA driver: our CUDA must not shadow it."""
    return any(Path(p).exists() for p in ("/proc/driver/nvidia/version", "/dev/nvidiactl"))
