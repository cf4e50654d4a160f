"""UPMEM under load: launches, transfers and callbacks of many threads, beside busy cores."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import cudla_sim
from cudla_sim.testing import CApi
from tests.upmem.dpu_side.bench import Bench, Program, dpu_cc
from tests.upmem.host.hosting import ASYNC, FROM_DPU, TO_DPU, Host, pointer

COMPUTE = """
#include <attributes.h>
#include <stdint.h>
__host uint32_t result;
int main(void) {
    volatile uint32_t x = 1;
    for (uint32_t i = 0; i < 3000000; i++)
        x = x * 1664525u + 1013904223u;
    result = x;
    return 0;
}
"""

ADD = """
#include <attributes.h>
#include <defs.h>
#include <mram.h>
#include <barrier.h>
#include <stdint.h>
BARRIER_INIT(all, NR_TASKLETS);
__host uint32_t amount;
__mram_noinit uint32_t numbers[1024];
int main(void) {
    __dma_aligned uint32_t part[128];
    barrier_wait(&all);
    mram_read(numbers + 128 * me(), part, sizeof part);
    for (int i = 0; i < 128; i++)
        part[i] += amount;
    mram_write(part, numbers + 128 * me(), sizeof part);
    return 0;
}
"""


def compiled(text: str, tasklets: int, folder: Path) -> Path:
    source = folder / "kernel.c"
    source.write_text(text)
    done = dpu_cc("-O2", f"-DNR_TASKLETS={tasklets}", "-o", folder / "kernel", source)
    assert done.returncode == 0, done.stderr
    return folder / "kernel"


@pytest.fixture
def load() -> Iterator[None]:
    """A busy loop on every core."""
    loops = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in os.sched_getaffinity(0)
    ]
    yield
    for loop in loops:
        loop.kill()
        loop.wait()


@pytest.mark.slow
def test_no_worker_dies_beside_busy_cores(load: None, tmp_path: Path) -> None:
    """A single tasklet that computes longer than a tick gets its ticks late and in heaps."""
    bench = Bench(5)
    bench.load(Program(compiled(COMPUTE, 1, tmp_path)))
    faulted = [outcome for _ in range(100) for outcome in bench.launch().faulted]
    bench.close()
    assert [f.text for f in faulted] == []


def test_sets_of_several_threads(sim_api: CApi, tmp_path: Path) -> None:
    """Each thread allocates, loads, copies in and out asynchronously and launches, many times."""
    host = Host(sim_api)
    program = str(compiled(ADD, 8, tmp_path)).encode()
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(6):
                with host.alloc(65) as made:
                    host.ok(sim_api.dpu_load(made, program, None))
                    once(made, 10 * number + turn)
        except BaseException as error:
            failures.append(error)

    def once(made: object, amount: int) -> None:
        data = np.arange(65 * 1024, dtype=np.uint32).reshape(65, 1024)
        found = np.zeros_like(data)
        value = np.array([amount], np.uint32)
        host.ok(sim_api.dpu_broadcast_to(made, b"amount", 0, pointer(value), 4, 0))
        for array, way in ((data, TO_DPU), (found, FROM_DPU)):
            for row, dpu in zip(array, host.dpus(made), strict=True):  # type: ignore[arg-type]
                host.ok(sim_api.dpu_prepare_xfer(dpu, pointer(row)))
            host.ok(sim_api.dpu_push_xfer(made, way, b"numbers", 0, 4096, ASYNC))
            if way == TO_DPU:
                host.ok(sim_api.dpu_launch(made, 0))
        host.ok(sim_api.dpu_sync(made))
        assert (found == data + amount).all()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert failures == []
    assert cudla_sim.upmem.sets == []
