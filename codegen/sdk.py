"""The folders of the UPMEM SDK and the commands in ``sdk/bin``, and a folder of the shape of a CUDA
toolkit (``toolkit/bin/nvcc``, ``include``, ``lib64``), which a build makes.

UPMEM's script puts ``sdk/bin`` on PATH as a whole: Makefiles call ``clang`` with the DPU as its
target. For other targets it is the user's own clang.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from cudla_sim.paths import SDK_LINKS


def _run(module: str) -> str:
    """Runs a module of the package that the command lies in, whatever the environment says of
    Python: a folder of the module's name where the user stands, a sitecustomize in PYTHONPATH (pip
    has one while it builds a package, which hides all others). What PYTHONPATH holds comes last."""
    program = (
        "import os, sys; sys.path.insert(0, sys.argv.pop(1)); "
        'sys.path += filter(None, os.environ.get("PYTHONPATH", "").split(":")); import runpy; '
        f'runpy.run_module("{module}", run_name="__main__", alter_sys=True)'
    )
    return f'exec "$python" -I -c \'{program}\' "$packages" "$@"'


_DPU_COMPILER = _run("cudla_sim.upmem.toolchain.cli")

_FOR_LINKERS = {
    "libcudart.so": (
        "/* Objects of nvcc's are C++ with its runtime, whoever links them. */\n"
        "INPUT(libcudart.so.12 AS_NEEDED(-lstdc++))\n"
    ),
    "libcudart_static.a": "/* The static runtime is the shared one. */\nINPUT(libcudart.so)\n",
    "libcudadevrt.a": "/* Makefiles name it; kernels that launch kernels are not there. */\n",
    "libnvToolsExt.so": "/* There is no profiler: its functions are in the header. */\n",
    "libnvinfer.so": "/* For programs that link with TensorRT and use nothing of it. */\n",
    "libnvinfer_plugin.so": "/* For programs that link with TensorRT and use nothing of it. */\n",
}
"""Linker scripts in the places of archives that nvcc's users, and CMake, name."""


def _next_on_path(*names: str) -> str:
    """Becomes the first of ``names`` that a folder of PATH other than this one has."""
    return f"""\
here=$(cd "$(dirname "$0")" && pwd -P)
for name in {" ".join(names)}; do
    IFS=:
    for folder in $PATH; do
        if [ -x "$folder/$name" ] && [ "$(cd "$folder" && pwd -P)" != "$here" ]; then
            unset IFS
            exec "$folder/$name" "$@"
        fi
    done
    unset IFS
done
"""


def _clang(name: str) -> str:
    return f"""\
# The DPU compiler when the target is a DPU, otherwise the next {name} on PATH.
for word in "$@"; do
    case $word in
    --target=dpu-upmem-dpurte | dpu-upmem-dpurte)
        {_DPU_COMPILER} ;;
    esac
done
{_next_on_path(name)}\
echo "{name}: there is no other {name} on PATH; this one is for --target=dpu-upmem-dpurte" >&2
exit 127
"""


# Programs of the SDK's bin folder that Makefiles run on objects and programs of a DPU, which are
# this machine's here: LLVM's own, or GNU's where there is no LLVM.
_BINUTILS = ("ar", "nm", "objcopy", "objdump", "ranlib", "readelf")


def _llvm(tool: str) -> str:
    return f"""\
{_next_on_path(f"llvm-{tool}", tool)}\
echo "llvm-{tool}: neither llvm-{tool} nor {tool} is on PATH" >&2
exit 127
"""


# $python is this package's interpreter.
_COMMANDS = {
    "dpu-upmem-dpurte-clang": f"{_DPU_COMPILER}\n",
    "dpu-clang": f"{_DPU_COMPILER}\n",
    "clang": _clang("clang"),
    "clang++": _clang("clang++"),
    "pva-cc": _run("cudla_sim.cupva.toolchain") + "\n",
    "dpu-pkg-config": _run("cudla_sim.tools.upmem.pkg_config") + "\n",
}
_SHELL_COMMANDS = {
    **{f"llvm-{tool}": _llvm(tool) for tool in _BINUTILS},
    "dpu_v1A_mode": 'export DPU_ARCH_VERSION=v1A\n[ $# -eq 0 ] || "$@"\n',
    "dpu_v1B_mode": 'export DPU_ARCH_VERSION=v1B\n[ $# -eq 0 ] || "$@"\n',
}

# Which interpreter: the user's word, the one of the environment this file lies in, the one a
# checkout was built with, the one whose packages these are. The library does the same
# (shim/library/boot/python/find.c).
_FIND_PYTHON = """\
file=$(readlink -f "$0")
packages=${file%/cudla_sim/*}
python=${CUDLA_SIM_PYTHON:-}
if [ -z "$python" ]; then
    folder=${file%/*}
    while [ -n "$folder" ]; do
        case $folder in
        */lib | */lib64)
            if [ -x "${folder%/*}/bin/python3" ]; then
                python=${folder%/*}/bin/python3
                break
            fi ;;
        esac
        folder=${folder%/*}
    done
fi
built_for=BUILT_FOR
if [ -z "$python" ] && [ -x "$built_for" ]; then
    python=$built_for
fi
if [ -z "$python" ]; then
    python=python3
    case $file in
    */lib/python3.*)
        version=${file##*/lib/python}
        python=python${version%%/*} ;;
    esac
fi
"""


def make(package: Path, editable: bool, python: str) -> None:
    """Fills ``package/sdk``; links in a checkout, files in a wheel, which cannot hold links."""
    sdk = package / "sdk"
    for name, target in SDK_LINKS.items():
        place = sdk / name
        _remove(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        source = (place.parent / target).resolve()
        if editable:
            place.symlink_to(target)
        elif name.endswith("lib"):
            _libraries(source, place, "libdpu*")
        else:
            _forward(source, place)
    find = _FIND_PYTHON.replace("BUILT_FOR", _quoted(python))
    _remove(sdk / "bin")
    (sdk / "bin").mkdir()
    for name, body in _COMMANDS.items():
        _script(sdk / "bin" / name, find + body)
    for name, body in _SHELL_COMMANDS.items():
        _script(sdk / "bin" / name, body)
    _toolkit(package, editable, find)


def _toolkit(package: Path, editable: bool, find: str) -> None:
    """What CUDA_PATH names where no toolkit is installed."""
    toolkit = package / "toolkit"
    _remove(toolkit)
    (toolkit / "bin").mkdir(parents=True)
    _script(toolkit / "bin" / "nvcc", find + _run("cudla_sim.cuda_kernels") + "\n")
    if editable:
        (toolkit / "include").symlink_to("../include/cuda")
    else:
        _forward(package / "include" / "cuda", toolkit / "include")
    _libraries(package / "lib" / "cuda", toolkit / "lib64", "lib*.so*")
    for name, script in _FOR_LINKERS.items():
        place = toolkit / "lib64" / name
        place.unlink(missing_ok=True)  # not written into: it may be another name of a library
        place.write_text(script)
    # CMake looks for this folder to find out where the toolkit is
    (toolkit / "nvvm" / "libdevice").mkdir(parents=True)
    (toolkit / "nvvm" / "libdevice" / "README").write_text(
        "Kernels are compiled for the host: there is no library for a GPU.\n"
    )


def _remove(place: Path) -> None:
    if place.is_symlink():
        place.unlink()
    elif place.exists():
        shutil.rmtree(place)


def _libraries(source: Path, place: Path, pattern: str) -> None:
    """The host libraries; they find libcudla_sim.so in the package's own folder."""
    place.mkdir()
    for library in sorted(source.glob(pattern)):
        shutil.copy2(library, place / library.name)


def _forward(source: Path, place: Path) -> None:
    """Headers that include the real ones: a second copy could differ. One that asks for the next of
    its name is found by the compiler itself, or it would find who included it."""
    for header in sorted(p for p in source.rglob("*") if p.is_file()):
        target = place / header.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if "#include_next" in header.read_text():
            shutil.copyfile(header, target)
        else:
            target.write_text(f'#include "{os.path.relpath(header, target.parent)}"\n')


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _script(file: Path, body: str) -> None:
    file.write_text(f"#!/bin/sh\n{body}")
    file.chmod(0o755)
