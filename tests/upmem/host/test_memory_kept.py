"""Memory that is fresh, used again, or mapped since an earlier launch: the bytes are right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cudla_sim
from cudla_sim.testing import Compiler

from .hosting import FROM_DPU, MRAM, TO_DPU, Host, pointer
from .kernels import Kernel

ADD_ONE = """
#include <stdint.h>
#include <mram.h>
__mram_noinit uint64_t values[1 << 18];
__dma_aligned uint64_t cache[256];
int main(void)
{
    for (uint32_t i = 0; i < 1 << 18; i += 256) {
        mram_read(values + i, cache, sizeof cache);
        for (uint32_t k = 0; k < 256; k++) cache[k]++;
        mram_write(cache, values + i, sizeof cache);
    }
    return 0;
}
"""

CLOSES_ALL = r"""
#include <dpu.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct dpu_set_t set;
    struct dpu_symbol_t mram = {.address = 0x08000000, .size = 64 << 20};
    size_t size = 1 << 20;
    unsigned char *data = malloc(size), *back = malloc(size);
    memset(data, 0x5a, size);
    DPU_ASSERT(dpu_alloc(2, NULL, &set));
    for (int fd = 3; fd < 256; fd++) close(fd);
    for (int fd = 3; fd < 64; fd++) { /* the program's own files get the numbers */
        if (open(argv[1], O_RDWR | O_CREAT, 0600) < 0) return 2;
    }
    DPU_ASSERT(dpu_copy_to_symbol(set, mram, 4096, data, size));
    struct dpu_set_t dpu;
    DPU_FOREACH(set, dpu) {
        memset(back, 0, size);
        DPU_ASSERT(dpu_copy_from_symbol(dpu, mram, 4096, back, size));
        if (memcmp(back, data, size) != 0) return 3;
    }
    struct stat about;
    if (stat(argv[1], &about) != 0 || about.st_size != 0) return 4;
    puts("right");
    return 0;
}
"""


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.tuples(st.integers(0, 7 << 17), st.integers(1, 5 << 17)), min_size=1, max_size=4),
    st.integers(0, 1 << 30),
)
def test_copies_into_fresh_memory(host: Host, copies: list[tuple[int, int]], seed: int) -> None:
    """Of words at any word, over pages and blocks, twice over some; what lies beside stays 0."""
    random = np.random.default_rng(seed)
    expected = np.zeros((3, 12 << 17), np.uint64)
    with host.alloc(3) as made:
        for first, count in copies:
            data = random.integers(1, 1 << 62, (3, count), np.uint64)
            expected[:, first : first + count] = data
            for i, dpu in enumerate(host.dpus(made)):
                host.ok(host.api.dpu_prepare_xfer(dpu, pointer(data[i])))
            host.ok(host.api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 8 * first, 8 * count, 0))
        back = np.ones_like(expected)
        for i, dpu in enumerate(host.dpus(made)):
            host.ok(host.api.dpu_prepare_xfer(dpu, pointer(back[i])))
        host.ok(host.api.dpu_push_xfer_symbol(made, FROM_DPU, MRAM, 0, back[0].nbytes, 0))
        assert (back == expected).all()


@pytest.mark.parametrize("most", [0, 1 << 40])
def test_the_next_set_finds_zeros(
    host: Host, kernel: Kernel, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether freed memory was kept or given back."""
    monkeypatch.setattr("cudla_sim.upmem.memory.MOST_KEPT", most)
    data = np.full(1 << 18, 7, np.uint64)
    for _ in range(2):
        with host.alloc(70) as made:
            for dpu in cudla_sim.upmem.sets[0].dpus[::23]:
                assert not dpu.bytes(0, 4 << 20).any()
                assert not dpu.wram.any()
            host.ok(host.api.dpu_load(made, str(kernel(ADD_ONE)).encode(), None))
            host.ok(host.api.dpu_copy_to(made, b"values", 0, pointer(data), data.nbytes))
            host.ok(host.api.dpu_launch(made, 1))
            assert (cudla_sim.upmem.sets[0].dpus[69].symbols["values"].view(np.uint64) == 8).all()


def test_launches_in_turn_see_what_lies_there(host: Host, kernel: Kernel) -> None:
    """DPUs alone and together, one worker and two, the host writing between the launches."""
    random = np.random.default_rng(3)
    for workers in (1, 2):
        cudla_sim.configure(upmem_workers=workers)
        with host.alloc(4) as made:
            host.ok(host.api.dpu_load(made, str(kernel(ADD_ONE)).encode(), None))
            expected = random.integers(0, 1 << 60, (4, 1 << 18), np.uint64)
            for i, dpu in enumerate(host.dpus(made)):
                host.ok(host.api.dpu_prepare_xfer(dpu, pointer(expected[i])))
            size = expected[0].nbytes
            host.ok(host.api.dpu_push_xfer(made, TO_DPU, b"values", 0, size, 0))
            for turn in range(12):
                number = turn * 5 % 7
                if number < 4:
                    host.ok(host.api.dpu_launch(host.dpus(made)[number], 1))
                    expected[number] += np.uint64(1)
                else:
                    host.ok(host.api.dpu_launch(made, 1))
                    expected += np.uint64(1)
                word = random.integers(0, 1 << 60, 1, np.uint64)
                host.ok(host.api.dpu_copy_to(made, b"values", 8 * turn, pointer(word), 8))
                expected[:, turn] = word
            for dpu, row in zip(cudla_sim.upmem.sets[0].dpus, expected, strict=True):
                assert (dpu.symbols["values"].view(np.uint64) == row).all()


def test_a_program_that_closes_everything(sim_cc: Compiler, tmp_path: object) -> None:
    """Its own files, which get the numbers, stay as they are."""
    done = sim_cc.run(sim_cc.build(CLOSES_ALL), f"{tmp_path}/own")
    assert (done.status, done.out) == (0, "right\n"), done.err
