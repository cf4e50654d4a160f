"""Compiles the two shared libraries and the extension with the C compiler."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cffi import FFI

from . import dropin, parse, private

_INCLUDES = """
{includes}
#include <stdlib.h>
#include <string.h>
#include "internal.h"
#include "extension/extension.h"
"""


def _run(command: list[str]) -> None:
    if os.environ.get("CUDLA_SIM_BUILD_VERBOSE"):
        print(shlex.join(command), file=sys.stderr)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"build_ffi: {shlex.join(command)}\n{done.stdout}{done.stderr}")


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
        options = [
            *shlex.split(os.environ.get("CFLAGS", "-O2 -g")),
            "-fPIC",
            "-fvisibility=hidden",
            "-fexceptions",  # a C++ exception of the host may pass through functions of shim/
            "-ffp-contract=off",  # every level of instructions gives the same bits
            "-Wall",
            # two builds give the same bytes
            f"-ffile-prefix-map={scratch}=build",
            f"-ffile-prefix-map={root}=cudla-sim",
            *parse.include_options(include),
            f"-I{shim}",
            f"-I{shim / 'library' / 'boot'}",
            "-DCUDLA_SIM_BUILD",
        ]
        with_python = f"-I{sysconfig.get_paths()['include']}"
        common = [*shlex.split(os.environ.get("CC", "gcc")), "-std=gnu11", *options]
        shared = ["-shared", "-Wl,-z,nodelete", "-pthread", "-ldl"]
        shared += shlex.split(os.environ.get("LDFLAGS", ""))
        library = [*shared, "-Wl,-z,defs"]

        source = Path(scratch) / "_compiled.c"
        _write_extension(
            private.cdef(private.read(shim / "native" / "native.h", include, shim)), source
        )
        kernels = sorted(str(c) for c in (shim / "native").glob("*.c"))
        kernels += [str(shim / "vpu_run" / name) for name in ("dma.c", "moment.c")]
        extension = package / "native" / "_compiled.abi3.so"
        _run([*common, with_python, str(source), *kernels, "-o", str(extension), *shared])

        hand_written = sorted(str(c) for c in (shim / "library").rglob("*.c"))
        main = out / "libcudla_sim.so"
        runtime = Path(scratch) / "nvdla_runtime.o"
        cxx = [*shlex.split(os.environ.get("CXX", "g++")), "-std=c++14", *options]
        cpp = str(shim / "library" / "nvdla" / "runtime.cpp")
        _run([*cxx, "-fvisibility=default", "-c", cpp, "-o", str(runtime)])
        _run(
            [
                *common,
                f'-DCUDLA_SIM_BAKED_PYTHON="{python}"',
                str(shim / "generated" / "exports.c"),
                str(shim / "generated" / "driver_table.c"),
                *hand_written,
                str(runtime),
                # C programs must not need libstdc++ for a class they never see
                *("-Wl,-Bstatic", "-lstdc++", "-Wl,-Bdynamic"),
                "-o",
                str(main),
                "-Wl,-soname,libcudla_sim.so",
                f"-Wl,--version-script={shim / 'generated' / 'exports.map'}",
                *library,
            ]
        )
        _run(
            [
                *common,
                str(shim / "generated" / "cudart_exports.c"),
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
        _run(
            [
                *common,
                with_python,
                str(source),
                str(shim / "generated" / "bridge.c"),
                *sorted(str(c) for c in (shim / "extension").glob("*.c")),
                f"-I{shim / 'extension'}",
                "-o",
                str(package / "abi" / "_cudla_sim.abi3.so"),
                *shared,
            ]
        )

        def drop_in(source: Path, target: Path, words: list[str]) -> None:
            _run([*common, str(source), "-o", str(target), "-shared", *words])

        dropin.make(api, out, drop_in)
        confine = sorted(str(c) for c in (shim / "confine").glob("*.c"))
        _run([*common, *confine, "-o", str(out / "confine")])
        interpreter = sorted(str(c) for c in (shim / "dpu_isa").glob("*.c"))
        _run([*common, "-O2", *interpreter, "-o", str(out / "dpu_isa")])
        first_call = [str(shim / "host" / "first_call.c"), "-o", str(out / "first_call")]
        _run([*common, *first_call, f"-L{out}", "-lcudla", "-Wl,-rpath,$ORIGIN"])
