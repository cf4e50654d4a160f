"""Allocators, seqread and unaligned MRAM against naive models in Python."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .bench import Bench
from .conftest import Build

MODEL = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)

# Runs a script of (operation, argument, argument); answers one word each.
ALLOCATORS = """
#include <alloc.h>
#include <stdint.h>
__host uint32_t script[256 * 3], answer[256], length, heap;
int main(void) {
    mem_reset();
    buddy_init(4096);
    fsb_allocator_t blocks = fsb_alloc(24, 7);
    heap = (uint32_t)(uintptr_t)mem_alloc(0);
    for (uint32_t i = 0; i < length; i++) {
        uint32_t a = script[3 * i + 1], b = script[3 * i + 2];
        void *p = (void *)(uintptr_t)a;
        switch (script[3 * i]) {
        case 0: answer[i] = (uint32_t)(uintptr_t)buddy_alloc(b); break;
        case 1: buddy_free((void *)(uintptr_t)answer[a]); answer[i] = 0; break;
        case 2: answer[i] = (uint32_t)(uintptr_t)fsb_get(blocks); break;
        case 3: fsb_free(blocks, (void *)(uintptr_t)answer[a]); answer[i] = 0; break;
        default: answer[i] = p != 0; break;
        }
    }
    return 0;
}"""


class Buddies:
    """First fit over aligned power-of-two parts of 4096 bytes."""

    def __init__(self) -> None:
        self.used: dict[int, int] = {}

    def alloc(self, size: int) -> int | None:
        wanted = 16
        while wanted < size:
            wanted *= 2
        if not 0 < size <= 4096:
            return None
        for start in range(0, 4096, wanted):
            if all(start + wanted <= s or s + n <= start for s, n in self.used.items()):
                self.used[start] = wanted
                return start
        return None


@MODEL
@given(st.integers(0, 2**32))
def test_buddies_and_blocks(bench: Bench, build: Build, seed: int) -> None:
    bench.load(build(ALLOCATORS))
    rng = random.Random(seed)
    model, live, blocks = Buddies(), [], []
    script: list[tuple[int, int, int]] = []
    wanted: dict[int, int | None] = {}
    for i in range(rng.randrange(1, 200)):
        operation = rng.choice([0, 0, 0, 1, 2, 2, 3])
        if operation == 0:
            size = rng.choice([0, 1, 16, 17, 100, 512, 1024, 4096, 4097, rng.randrange(1, 3000)])
            script.append((0, 0, size))
            wanted[i] = model.alloc(size)
            if wanted[i] is not None:
                live.append(i)
        elif operation == 1 and live:
            freed = live.pop(rng.randrange(len(live)))
            script.append((1, freed, 0))
            del model.used[wanted[freed]]  # type: ignore[arg-type]
        elif operation == 2:
            script.append((2, 0, 0))
            if len(blocks) < 7:
                blocks.append(i)
        elif operation == 3 and blocks:
            script.append((3, blocks.pop(rng.randrange(len(blocks))), 0))
        else:
            script.append((9, 0, 0))
    bench.var("length")[0] = len(script)
    bench.var("script")[: 3 * len(script)] = np.array(script, np.uint32).ravel()
    assert not bench.launch(slots=[0]).faulted
    answers = bench.var("answer").tolist()
    area = bench.program.symbols["__sys_heap_pointer_reset"][0]
    for i, place in wanted.items():
        assert answers[i] == (0 if place is None else area + place)
    held = [answers[i] for i in blocks]
    assert 0 not in held
    assert len(set(held)) == len(held)
    assert all(b % 8 == 0 and area + 4096 < b < bench.var("heap")[0] for b in held)


SEQREAD = """
#include <seqread.h>
#include <stdint.h>
__host uint32_t steps[200], length, start;
__host uint8_t seen[200];
__host uint32_t told[200];
__mram_noinit uint8_t data[16384];
int main(void) {
    seqreader_t reader;
    seqreader_buffer_t cache = seqread_alloc();
    if (cache % SEQREAD_CACHE_SIZE)
        return 1;
    uint8_t *p = seqread_init(cache, &data[start], &reader);
    for (uint32_t i = 0; i < length; i++) {
        if (steps[i] & 0x80000000u)
            p = seqread_seek(&data[steps[i] & 0x7fffffff], &reader);
        else
            p = seqread_get(p, steps[i], &reader);
        seen[i] = *p;
        told[i] = (uint32_t)(uintptr_t)seqread_tell(p, &reader);
    }
    return 0;
}"""


@pytest.mark.parametrize("cache", [32, 256, 1024])
def test_seqread(cache: int, bench: Bench, build: Build) -> None:
    program = build(SEQREAD, 1, f"-DSEQREAD_CACHE_SIZE={cache}")
    bench.load(program)
    base = program.symbols["data"][0]
    data = np.random.default_rng(cache).integers(0, 256, 16384, np.uint8)
    bench.at(base, 16384)[:] = data
    rng = random.Random(cache)
    for _ in range(20):
        position = start = rng.randrange(4096)
        steps, places = [], []
        for _ in range(rng.randrange(1, 200)):
            if rng.random() < 0.1:
                position = rng.randrange(12000)
                steps.append(0x80000000 | position)
            else:
                step = rng.choice([0, 1, 4, 8, cache - 1, rng.randrange(cache)])
                if position + step >= 16384:
                    break
                position += step
                steps.append(step)
            places.append(position)
        bench.var("start")[0], bench.var("length")[0] = start, len(steps)
        bench.var("steps")[: len(steps)] = steps
        address = program.symbols["__sys_heap_pointer"][0]
        bench.at(address, 4)[:] = np.frombuffer(
            program.symbols["__sys_heap_pointer_reset"][0].to_bytes(4, "little"), np.uint8
        )
        assert not bench.launch(slots=[0]).faulted
        assert bench.var("seen", np.uint8)[: len(places)].tolist() == data[places].tolist()
        assert (bench.var("told")[: len(places)] - base).tolist() == places


UNALIGNED = """
#include <mram_unaligned.h>
#include <stdint.h>
__host uint32_t mram, size, shift;
__host uint8_t out[2064];
__dma_aligned uint8_t buffer[2080];
__mram_noinit uint8_t data[8192];
int main(void) {
    uint8_t *p = mram_read_unaligned(&data[mram], buffer, size);
    for (uint32_t i = 0; i < size; i++)
        out[i] = p[i];
    for (uint32_t i = 0; i < size; i++)
        p[i] = (uint8_t)~p[i];
    mram_write_unaligned(p, &data[mram + 4096], size);
    return 0;
}"""


@MODEL
@given(mram=st.integers(0, 1500), size=st.integers(1, 2048))
def test_unaligned_copies(bench: Bench, build: Build, mram: int, size: int) -> None:
    program = build(UNALIGNED)
    bench.load(program)
    base = program.symbols["data"][0]
    data = np.random.default_rng(size).integers(0, 256, 8192, np.uint8)
    bench.at(base, 8192)[:] = data
    bench.var("mram")[0], bench.var("size")[0] = mram, size
    assert not bench.launch(slots=[0]).faulted
    assert (bench.var("out", np.uint8)[:size] == data[mram : mram + size]).all()
    data[mram + 4096 : mram + 4096 + size] = ~data[mram : mram + size]
    assert (bench.at(base, 8192) == data).all()
