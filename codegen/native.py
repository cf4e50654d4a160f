"""Compiles the two shared libraries and the extension with the C compiler."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cffi import FFI

from . import dropin, parse, private, python_headers
from .objects import Objects, run

_INCLUDES = """
{includes}
#include <stdlib.h>
#include <string.h>
#include "internal.h"
#include "extension/extension.h"
"""


def _write_bridge(cdef: str, headers: Sequence[str], target: Path) -> None:
    """The C file that connects the exports with ``abi/``."""
    ffi = FFI()
    ffi.cdef(cdef + "int sim_bridge_connected(void);\n")
    includes = "\n".join(f'#include "{h}"' for h in headers)
    ffi.set_source("cudla_sim.abi._cudla_sim", _INCLUDES.format(includes=includes))
    _emit(ffi, target)


def _write_extension(cdef: str, target: Path) -> None:
    """The C file of ``cudla_sim.native._compiled``."""
    ffi = FFI()
    ffi.cdef(cdef)
    ffi.set_source(
        "cudla_sim.native._compiled",
        '#include <stdlib.h>\n#include <string.h>\n#include "native/native.h"',
    )
    _emit(ffi, target)


def _emit(ffi: FFI, target: Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()):  # cffi announces what it writes
        ffi.emit_c_code(str(target))


def compiler() -> list[str]:
    return [*shlex.split(os.environ.get("CC", "gcc")), "-std=gnu11"]


def moving(root: Path, scratch: Path) -> list[Path]:
    """Folders that no object knows the name of."""
    return [scratch, root / "pyimpl" / "cudla_sim"]


def options_of(root: Path, scratch: Path) -> list[str]:
    """What every C file of shim/ is compiled with."""
    return [
        *shlex.split(os.environ.get("CFLAGS", "-O2 -g")),
        "-fPIC",
        "-fvisibility=hidden",
        "-fexceptions",  # a C++ exception of the host may pass through functions of shim/
        "-ffp-contract=off",  # every level of instructions gives the same bits
        "-Wall",
        "-Werror=implicit-function-declaration",  # as newer compilers have it by themselves
        # two builds give the same bytes
        f"-ffile-prefix-map={scratch}=build",
        f"-ffile-prefix-map={root}=cudla-sim",
        *parse.include_options(root / "include"),
        f"-I{root / 'shim'}",
        f"-I{root / 'shim' / 'library' / 'boot'}",
        "-DCUDLA_SIM_BUILD",
    ]


def objects_of(root: Path, sources: Sequence[Path], scratch: Path) -> list[str]:
    """Objects of files of ``shim/native`` as a build compiles them, mostly those that it made."""
    objects = Objects(root, moving(root, scratch))
    return objects.compile([*compiler(), *options_of(root, scratch)], sources)


def compile_all(
    root: Path, headers: Sequence[str], package: Path, api: parse.Api, python: str = ""
) -> None:
    """Writes the libraries of ``lib/`` and the extensions ``abi/_cudla_sim`` and
    ``native/_compiled``.

    The libraries know no Python; the extensions use the stable ABI and run on CPython 3.10 and
    later. ``python`` is baked in as the last resort of the search for an interpreter: where one
    works in a checkout, the package does not lie in its environment.
    """
    shim, include, out = root / "shim", root / "include", package / "lib"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        options = options_of(root, Path(scratch))
        common = [*compiler(), *options]
        with_python = [*common, *python_headers.include_options(Path(scratch))]
        objects = Objects(root, moving(root, Path(scratch)))
        shared = ["-shared", "-Wl,-z,nodelete", "-pthread", "-ldl"]
        shared += shlex.split(os.environ.get("LDFLAGS", ""))
        library = [*shared, "-Wl,-z,defs"]

        source = Path(scratch) / "_compiled.c"
        _write_extension(
            private.cdef(private.read(shim / "native" / "native.h", include, shim)), source
        )
        kernels = sorted((shim / "native").glob("*.c"))
        kernels += [shim / "vpu_run" / name for name in ("dma.c", "moment.c")]
        parts = objects.compile(common, kernels) + objects.compile(with_python, [source])
        run([*common, *parts, "-o", str(package / "native" / "_compiled.abi3.so"), *shared])

        main = out / "libcudla_sim.so"
        cxx = [*shlex.split(os.environ.get("CXX", "g++")), "-std=c++14", *options]
        parts = objects.compile(
            [*cxx, "-fvisibility=default"], [shim / "library" / "nvdla" / "runtime.cpp"]
        )
        generated = [shim / "generated" / name for name in ("exports.c", "driver_table.c")]
        parts += objects.compile(
            [*common, f'-DCUDLA_SIM_BAKED_PYTHON="{python}"'],
            [*generated, *sorted((shim / "library").rglob("*.c"))],
        )
        run(
            [
                *common,
                *parts,
                # C programs must not need libstdc++ for a class they never see
                *("-Wl,-Bstatic", "-lstdc++", "-Wl,-Bdynamic"),
                "-o",
                str(main),
                "-Wl,-soname,libcudla_sim.so",
                f"-Wl,--version-script={shim / 'generated' / 'exports.map'}",
                *library,
            ]
        )
        run(
            [
                *common,
                *objects.compile(common, [shim / "generated" / "cudart_exports.c"]),
                "-o",
                str(out / "libcudart_sim.so"),
                "-Wl,-soname,libcudart_sim.so",
                f"-Wl,--version-script={shim / 'generated' / 'cudart_exports.map'}",
                "-Wl,-rpath,$ORIGIN",
                str(main),
                *library,
            ]
        )
        source = Path(scratch) / "_cudla_sim.c"
        cdef = (shim / "generated" / "cdef.h").read_text()
        cdef += private.cdef(private.read(shim / "internal.h", include, shim))
        _write_bridge(cdef, headers, source)
        bridge = [source, shim / "generated" / "bridge.c"]
        parts = objects.compile(
            [*with_python, f"-I{shim / 'extension'}"],
            [*bridge, *sorted((shim / "extension").glob("*.c"))],
        )
        run([*common, *parts, "-o", str(package / "abi" / "_cudla_sim.abi3.so"), *shared])

        def drop_in(source: Path, target: Path, words: list[str]) -> None:
            run([*common, str(source), "-o", str(target), "-shared", *words])

        dropin.make(api, out, drop_in)
        parts = objects.compile(common, sorted((shim / "confine").glob("*.c")))
        run([*common, *parts, "-o", str(out / "confine")])
        parts = objects.compile([*common, "-O2"], sorted((shim / "dpu_isa").glob("*.c")))
        run([*common, *parts, "-o", str(out / "dpu_isa")])
        first_call = objects.compile(common, [shim / "host" / "first_call.c"])
        run(
            [
                *(*common, *first_call, "-o", str(out / "first_call")),
                *(f"-L{out}", "-lcudla", "-Wl,-rpath,$ORIGIN"),
            ]
        )
        objects.forget_others()
