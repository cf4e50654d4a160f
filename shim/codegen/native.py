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
from pathlib import Path

from cffi import FFI

from . import parse, private

_SOURCE = """
{includes}
#include <stdlib.h>
#include "internal.h"
static int cffi_start_python(void);
int sim_cffi_start(void) {{ return cffi_start_python(); }}
"""

_INIT = "import cudla_sim.abi.attach"


def libpython_flags() -> list[str]:
    """Linker flags for the shared libpython of this interpreter."""
    libdir = sysconfig.get_config_var("LIBDIR") or "/usr/lib"
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    version = sysconfig.get_config_var("LDVERSION")
    for folder in (Path(libdir), Path(libdir) / multiarch):
        if list(folder.glob(f"libpython{version}.so*")):
            flags = [f"-L{folder}", f"-lpython{version}"]
            if str(folder) not in ("/usr/lib", f"/usr/lib/{multiarch}"):
                flags.append(f"-Wl,-rpath,{folder}")
            return flags
    raise SystemExit(
        f"build_ffi: {sys.executable} has no shared libpython{version}.so in {libdir}; on Debian "
        "install python3-dev, otherwise use a Python configured with --enable-shared"
    )


def _run(command: list[str]) -> None:
    if os.environ.get("CUDLA_SIM_BUILD_VERBOSE"):
        print(shlex.join(command), file=sys.stderr)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"build_ffi: {shlex.join(command)}\n{done.stdout}{done.stderr}")


def _write_embedding(cdef: str, headers: list[str], target: Path) -> None:
    """The C file that connects the exports with ``abi/``."""
    ffi = FFI()
    ffi.cdef(cdef)
    ffi.embedding_api("")
    ffi.embedding_init_code(_INIT)
    includes = "\n".join(f'#include "{h}"' for h in headers)
    ffi.set_source("_cudla_sim", _SOURCE.format(includes=includes))
    _emit(ffi, target)


def _write_extension(cdef: str, target: Path) -> None:
    """The C file of ``cudla_sim.native._compiled``."""
    ffi = FFI()
    ffi.cdef(cdef)
    ffi.set_source("cudla_sim.native._compiled", '#include <stdlib.h>\n#include "native/native.h"')
    _emit(ffi, target)


def _emit(ffi: FFI, target: Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()):  # cffi announces what it writes
        ffi.emit_c_code(str(target))


def compile_all(root: Path, headers: list[str], package: Path, python: str) -> None:
    """Writes ``lib/libcudla_sim.so``, ``lib/libcudart_sim.so`` and ``native/_compiled.abi3.so``.

    ``python`` is baked in as the last resort of the boot code's search for an interpreter.
    """
    shim, include, out = root / "shim", root / "include", package / "lib"
    out.mkdir(parents=True, exist_ok=True)
    options = [
        *shlex.split(os.environ.get("CFLAGS", "-O2 -g")),
        "-fPIC",
        "-fvisibility=hidden",
        "-fexceptions",  # a C++ exception of the host may pass through functions of shim/
        "-Wall",
        *parse.include_options(include),
        f"-I{shim}",
        f"-I{sysconfig.get_paths()['include']}",
        f'-DCUDLA_SIM_BAKED_PYTHON="{python}"',
    ]
    common = [*shlex.split(os.environ.get("CC", "gcc")), "-std=gnu11", *options]
    shared = ["-shared", "-Wl,-z,nodelete", "-pthread", "-ldl"]
    library = [*shared, "-Wl,-z,defs"]
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "_compiled.c"
        _write_extension(
            private.cdef(private.read(shim / "native" / "native.h", include, shim)), source
        )
        kernels = sorted(str(c) for c in (shim / "native").glob("*.c"))
        kernels.append(str(shim / "vpu_run" / "dma.c"))
        extension = package / "native" / "_compiled.abi3.so"
        _run([*common, str(source), *kernels, "-o", str(extension), *shared])

        source = Path(scratch) / "_cudla_sim.c"
        cdef = (shim / "generated" / "cdef.h").read_text()
        cdef += private.cdef(private.read(shim / "internal.h", include, shim))
        _write_embedding(cdef, headers, source)
        hand_written = sorted(str(c) for c in shim.glob("*.c"))
        main = out / "libcudla_sim.so"
        runtime = Path(scratch) / "nvdla_runtime.o"
        cxx = [*shlex.split(os.environ.get("CXX", "g++")), "-std=c++14", *options]
        cpp = str(shim / "nvdla_runtime.cpp")
        _run([*cxx, "-fvisibility=default", "-c", cpp, "-o", str(runtime)])
        _run(
            [
                *common,
                str(source),
                str(shim / "generated" / "exports.c"),
                *hand_written,
                str(runtime),
                # C programs must not need libstdc++ for a class they never see
                *("-Wl,-Bstatic", "-lstdc++", "-Wl,-Bdynamic"),
                "-o",
                str(main),
                "-Wl,-soname,libcudla_sim.so",
                f"-Wl,--version-script={shim / 'generated' / 'exports.map'}",
                *library,
                *libpython_flags(),
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
