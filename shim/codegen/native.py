"""Compiles the two shared libraries with the C compiler and this interpreter's libpython."""

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

# Declared in shim/, used by the Python side; no vendor header knows them.
INTERNAL_CDEF = """
extern "Python+C" {
    void impl_sim_at_exit(void);
    void impl_sim_after_fork(void);
    cudlaStatus impl_etiTranslateStats(cudlaDevHandle, unsigned char *, uint32_t, uint32_t,
                                       cudlaTranslateAttributeType, cudlaTranslateCsvAttribute *);
    cudlaStatus impl_etiTranslateStatsForMultiModule(
        cudlaDevHandle, cudlaModule, unsigned char *, uint32_t, uint32_t,
        cudlaTranslateAttributeType, cudlaTranslateCsvAttribute *);
}
extern "Python+C" {
    uint32_t impl_sim_reg_read(uintptr_t, uint32_t);
    void impl_sim_reg_write(uintptr_t, uint32_t, uint32_t);
    void impl_sim_remember(const char *);
    NvDlaError impl_sim_nvdla_begin(void *, const NvDlaTask *, simNvdlaAddress *, void **,
                                    uint32_t *);
    int impl_sim_nvdla_advance(void *, int *);
    void impl_sim_nvdla_end(void *);
    int impl_sim_engine_next(void *, uint64_t *, uint32_t *, void **);
    void impl_sim_engine_answer(void *, int64_t);
    int32_t impl_sim_engine_result(void *);
    uint64_t impl_sim_nvdla_handler(uint32_t);
    int impl_sim_nvdla_wait(uint32_t, uint64_t);
    NvDlaError impl_sim__nvdla_create(void **);
    NvDlaError impl_sim__nvdla_destroy(void *);
    NvDlaError impl_sim__nvdla_cores(uint16_t *);
    NvDlaError impl_sim__nvdla_emulator(void *, int);
    NvDlaError impl_sim__nvdla_load(void *, const uint8_t *, uint32_t *);
    NvDlaError impl_sim__nvdla_memory(void *, uint32_t, uint64_t *, int *);
    NvDlaError impl_sim__nvdla_place(void *, uint32_t, void *, void *);
    NvDlaError impl_sim__nvdla_loaded(void *);
    NvDlaError impl_sim__nvdla_unload(void *);
    NvDlaError impl_sim__nvdla_freed(void *, void **, void **, uint64_t *);
    NvDlaError impl_sim__nvdla_bind(void *, int, int, void *, void *, uint64_t);
    NvDlaError impl_sim__nvdla_count(void *, int, int *);
    NvDlaError impl_sim__nvdla_tensor(void *, int, int, void *);
    NvDlaError impl_sim__nvdla_set_tensor(void *, int, int, const void *);
    NvDlaError impl_sim__nvdla_begin(void *);
    NvDlaError impl_sim__nvdla_next(void *, NvDlaTask *, int *);
}
int sim_nvdla_foreign_port(void);
const cudlaExternalEtbl *sim_external_table(void);
void sim_run_callback(void (*fn)(void *), void *arg);
void sim_run_stream_callback(void *fn, void *stream, int status, void *user);
int sim_in_callback(void);
int sim_started_python(void);
void sim_write(int to_stderr, const char *text, size_t size);
void sim_fp16_mac(const uint16_t *frame, const int64_t *pixels, size_t pixel_count,
                  const int64_t *offsets, const int64_t *starts, size_t steps,
                  const int32_t *packed, const uint16_t *raw, const uint8_t *odd, size_t kernels,
                  int64_t *mantissas, int32_t *exponents, uint32_t *results);
struct sim_dpu_place { uint64_t base, offset, size; int to_dpu; };
struct sim_dpu_sg {
    get_block_func_t function;
    void *arguments;
    uint32_t max_blocks;
    int check_length;
};
struct sim_dpu_sg_result { uint32_t dpu, block; uint64_t found; };
int64_t sim_dpu_transfer(const struct sim_dpu_place *place, const uint32_t *slots,
                         const uint64_t *hosts, size_t count);
int sim_dpu_scatter_gather(const struct sim_dpu_place *place, const uint32_t *slots,
                           const uint32_t *indexes, size_t count, const struct sim_dpu_sg *sg,
                           struct sim_dpu_sg_result *result);
int sim_dpu_callback(void *function, const struct dpu_set_t *set, uint32_t number,
                     void *arguments, uint64_t token);
uint64_t sim_dpu_token(void);
int sim_dpu_print(void *function, void *argument, const char *text);
size_t sim_dpu_write(FILE *stream, const char *text, size_t size);
struct sim_dpu_fast_set { uint64_t ranks, first_member; uint32_t rank_count, member_count; };
void sim_dpu_fast_enable(int on);
int sim_dpu_fast_tables(const uint64_t *handles, const uint64_t *buffers, size_t count,
                        const struct sim_dpu_fast_set *sets, size_t set_count,
                        const uint64_t *members, size_t member_count);
void sim_dpu_fast_after_fork(void);
struct pva_side { int64_t space, at, pitch, n[3], adv[3], ring, ring_size; };
struct pva_descriptor {
    int64_t tx, ty, bpp, left, right, top, bottom, pad_mode, pad_value;
    struct pva_side src, dst;
    int64_t copy_at, tiles, per_trigger, chained;
};
struct pva_memory { uint8_t *base[3]; uint64_t size[3]; };
struct pva_cursor { uint64_t descriptor, tile, triggers; };
int pva_dma_trigger(const struct pva_descriptor *list, uint64_t count, struct pva_cursor *cursor,
                    const struct pva_memory *memory);
int pva_dma_run(const struct pva_descriptor *list, uint64_t count, struct pva_cursor *cursor,
                const struct pva_memory *memory);
void *memcpy(void *to, const void *from, size_t size);
void *malloc(size_t size);
void free(void *memory);
"""

_SOURCE = """
{includes}
#include <stdlib.h>
#include <string.h>
#include "boot.h"
int sim_started_python(void);
void sim_write(int to_stderr, const char *text, size_t size);
void sim_fp16_mac(const uint16_t *frame, const int64_t *pixels, size_t pixel_count,
                  const int64_t *offsets, const int64_t *starts, size_t steps,
                  const int32_t *packed, const uint16_t *raw, const uint8_t *odd, size_t kernels,
                  int64_t *mantissas, int32_t *exponents, uint32_t *results);
const cudlaExternalEtbl *sim_external_table(void);
int sim_nvdla_foreign_port(void);
#include "upmem_copy.h"
#include "vpu_run/dma.h"
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


def _cffi_source(cdef: str, headers: list[str], target: Path) -> None:
    ffi = FFI()
    ffi.cdef(cdef)
    ffi.cdef(INTERNAL_CDEF)
    ffi.embedding_api("")
    ffi.embedding_init_code(_INIT)
    includes = "\n".join(f'#include "{h}"' for h in headers)
    ffi.set_source("_cudla_sim", _SOURCE.format(includes=includes))
    with contextlib.redirect_stdout(io.StringIO()):  # cffi announces what it writes
        ffi.emit_c_code(str(target))


def compile_all(root: Path, headers: list[str], out: Path, python: str) -> None:
    """Writes ``out/libcudla_sim.so`` and ``out/libcudart_sim.so``.

    ``python`` is baked in as the last resort of the boot code's search for an interpreter.
    """
    shim = root / "shim"
    out.mkdir(parents=True, exist_ok=True)
    options = [
        *shlex.split(os.environ.get("CFLAGS", "-O2 -g")),
        "-fPIC",
        "-fvisibility=hidden",
        "-fexceptions",  # a C++ exception of the host may pass through nvdla_engine.c
        "-Wall",
        f"-I{root / 'include'}",
        f"-I{root / 'include' / 'cuda'}",
        f"-I{root / 'include' / 'upmem'}",
        f"-I{root / 'include' / 'cupva'}",
        f"-I{shim}",
        f"-I{sysconfig.get_paths()['include']}",
        f'-DCUDLA_SIM_BAKED_PYTHON="{python}"',
    ]
    common = [*shlex.split(os.environ.get("CC", "gcc")), "-std=gnu11", *options]
    library = ["-shared", "-Wl,-z,nodelete", "-Wl,-z,defs", "-pthread", "-ldl"]
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "_cudla_sim.c"
        _cffi_source((shim / "generated" / "cdef.h").read_text(), headers, source)
        hand_written = sorted(str(c) for c in shim.glob("*.c"))
        hand_written.append(str(shim / "vpu_run" / "dma.c"))
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
