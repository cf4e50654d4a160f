"""Microbenchmarks as PrIM's paper (arXiv 2105.03814) describes them, in hardware time.

Each gives the figure that the paper has, for a DPU of 350 MHz; the recorded values are in the
fixtures under the same names. The programs are our own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..dpu_side.bench import Bench, Program

MHZ = 350
TASKLETS = 16
Build = Callable[..., Program]

_BLOCKS = 8
_ROUNDS = 40
_LOOP = """
#include <stdint.h>
#include <attributes.h>
#include <barrier.h>
#include <defs.h>
#include <perfcounter.h>
typedef {type} T;
BARRIER_INIT(all, NR_TASKLETS);
__host uint64_t cycles[NR_TASKLETS];
__host T scalar;
__host T data[NR_TASKLETS][1024 / sizeof(T)];
__attribute__((noinline)) static void update(T *block, T by)
{{
    for (unsigned i = 0; i < 1024 / sizeof(T); i++)
        block[i] = block[i] {op} by;
}}
int main(void)
{{
    barrier_wait(&all);
    if (me() == 0)
        perfcounter_config(COUNT_CYCLES, true);
    barrier_wait(&all);
    for (int k = 0; k < {blocks}; k++)
        update(data[me()], scalar);
    cycles[me()] = perfcounter_get();
    return 0;
}}"""
_STREAM = """
#include <stdint.h>
#include <attributes.h>
#include <barrier.h>
#include <defs.h>
#include <perfcounter.h>
BARRIER_INIT(all, NR_TASKLETS);
__host uint64_t cycles[NR_TASKLETS];
__host int64_t scalar;
__host int64_t a[NR_TASKLETS][128], b[NR_TASKLETS][128], c[NR_TASKLETS][128];
static inline void stream(int64_t *x, int64_t *y, int64_t *z, int64_t s)
{{
    (void)z, (void)s;
#pragma unroll
    for (int i = 0; i < 128; i++)
        {body};
}}
int main(void)
{{
    barrier_wait(&all);
    if (me() == 0)
        perfcounter_config(COUNT_CYCLES, true);
    barrier_wait(&all);
    uint64_t sum = 0;
    for (int k = 0; k < {rounds}; k++) {{
        barrier_wait(&all);
        uint64_t begin = perfcounter_get();
        stream(a[me()], b[me()], c[me()], scalar);
        uint64_t end = perfcounter_get(), after = perfcounter_get();
        sum += end - begin - (after - end);
    }}
    cycles[me()] = sum;
    return 0;
}}"""
_MRAM = """
#include <stdint.h>
#include <defs.h>
#include <mram.h>
#include <perfcounter.h>
__host uint64_t cycles[NR_TASKLETS];
__mram_noinit uint8_t data[1 << 20];
__dma_aligned uint8_t buffer[2048];
int main(void)
{{
    perfcounter_config(COUNT_CYCLES, true);
    uint64_t sum = 0;
    __mram_ptr uint8_t *at = data;
    for (int i = 0; i < 256; i++) {{
        uint64_t begin = perfcounter_get();
        {call};
        uint64_t end = perfcounter_get(), after = perfcounter_get();
        sum += end - begin - (after - end);
        at += 2048;
    }}
    cycles[0] = sum;
    return 0;
}}"""
_UPDATES = """
#include <stdint.h>
#include <barrier.h>
#include <defs.h>
#include <mram.h>
#include <perfcounter.h>
BARRIER_INIT(all, NR_TASKLETS);
__host uint64_t cycles[NR_TASKLETS];
__mram_noinit uint64_t table[1 << 16];
int main(void)
{
    __dma_aligned uint64_t word;
    uint32_t state = me() * 2654435761u + 1;
    barrier_wait(&all);
    if (me() == 0)
        perfcounter_config(COUNT_CYCLES, true);
    barrier_wait(&all);
    for (int i = 0; i < 512; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        mram_read(&table[state & 0xffff], &word, 8);
        word ^= state;
        mram_write(&word, &table[state & 0xffff], 8);
    }
    cycles[me()] = perfcounter_get();
    return 0;
}"""

_TYPES = {"int32": ("int32_t", 4), "int64": ("int64_t", 8), "float": ("float", 4),
          "double": ("double", 8)}  # fmt: skip
_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_STREAMS = {  # bytes that the paper counts for an element
    "copy": ("y[i] = x[i]", 16),
    "add": ("z[i] = x[i] + y[i]", 24),
    "scale": ("y[i] = s * x[i]", 16),
    "triad": ("z[i] = x[i] + s * y[i]", 24),
}


def _cycles(bench: Bench, program: Program, **values: np.ndarray) -> int:
    bench.load(program)
    for name, value in values.items():
        bench.var(name, value.dtype.type)[:] = value
    for name in ("data", "table"):
        address, size = program.symbols.get(name, (0, 0))
        if address >= 0x0800_0000:
            bench.at(address, min(size, 1 << 18))
    assert all(o.status == "done" for o in bench.launch(slots=[0], timed=True).faulted)
    return int(bench.var("cycles", np.uint64).max())


def arithmetic(bench: Bench, build: Build, kind: str, operation: str, tasklets: int) -> float:
    """MOPS of one operation on blocks of 1 KiB in WRAM, with one scalar of 21 bits."""
    type_, size = _TYPES[kind]
    # products and quotients of integers take time by their bits: only fresh data is like PrIM's
    blocks = 1 if kind == "int32" and operation in ("mul", "div") else _BLOCKS
    text = _LOOP.format(type=type_, op=_OPERATORS[operation], blocks=blocks)
    dtype = np.dtype({"float": "float32", "double": "float64"}.get(kind, kind))
    numbers = np.random.default_rng(1)
    data = numbers.integers(1, 2**31, tasklets * 1024 // size).astype(dtype)
    cycles = _cycles(bench, build(text, tasklets), data=data, scalar=np.array([1 << 20], dtype))
    return float(tasklets * blocks * 1024 // size / cycles * MHZ)


def wram_stream(bench: Bench, build: Build, name: str) -> float:
    """MB/s of an unrolled loop over 64-bit words in WRAM."""
    body, size = _STREAMS[name]
    program = build(_STREAM.format(body=body, rounds=_ROUNDS), TASKLETS, "-DSTACK_SIZE_DEFAULT=512")
    cycles = _cycles(bench, program, scalar=np.array([1 << 17], np.int64))
    return TASKLETS * _ROUNDS * 128 * size / cycles * MHZ


def mram_stream(bench: Bench, build: Build, write: bool) -> float:
    """MB/s of one tasklet with transfers of 2 KiB; reading the counter is taken off."""
    call = "mram_write(buffer, at, 2048)"
    if not write:
        call = "mram_read(at, buffer, 2048)"
    return 256 * 2048 / _cycles(bench, build(_MRAM.format(call=call), 1)) * MHZ


def random_updates(bench: Bench, build: Build) -> float:
    """MB/s, read and written, of random updates of single words in MRAM."""
    return TASKLETS * 512 * 16 / _cycles(bench, build(_UPDATES, TASKLETS)) * MHZ


def figure(name: str, bench: Bench, build: Build) -> float:
    """The figure that is recorded under this name (``prim.arith.int32_mul``...)."""
    _, group, what = name.split(".")
    if group == "arith":
        kind, operation = what.split("_")
        return arithmetic(bench, build, kind, operation, TASKLETS)
    if group == "wram_stream":
        return wram_stream(bench, build, what)
    if what == "random_gups":
        return random_updates(bench, build)
    return mram_stream(bench, build, write=what.startswith("write"))


def names(recorded: dict[str, float]) -> list[str]:
    """The recorded figures that there is a microbenchmark for."""
    groups = ("prim.arith.", "prim.wram_stream.", "prim.mram.read_bw", "prim.mram.write_bw")
    return [n for n in recorded if n.startswith(groups) or n == "prim.mram.random_gups"]
