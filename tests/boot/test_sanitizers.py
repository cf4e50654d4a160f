"""Programs below AddressSanitizer, valgrind and limits of address space: their own mistakes are
found, and nothing else is."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from cudla_sim import flags
from cudla_sim.testing import Compiler

pytestmark = pytest.mark.slow

CALLS = {
    "cudla": """
        cudlaDevHandle device;
        if (cudlaCreateDevice(0, &device, CUDLA_STANDALONE) != cudlaSuccess) return 2;
        if (cudlaDestroyDevice(device) != cudlaSuccess) return 3;""",
    "upmem": """
        struct dpu_set_t set;
        if (dpu_alloc(64, NULL, &set) != DPU_OK) return 2;
        if (dpu_free(set) != DPU_OK) return 3;""",
    "cupva": """
        void *memory;
        if (CupvaMemAlloc(&memory, 4096, CUPVA_READ_WRITE, CUPVA_ALLOC_DRAM)) return 2;
        if (CupvaMemFree(memory)) return 3;""",
}


def source(calls: str, own: str = "") -> str:
    return f"""
#include <stdlib.h>
#include <cudla.h>
#include <dpu.h>
#include <cupva_host.h>
void *volatile kept;
int main(void)
{{
    {own}
    {calls}
    return 0;
}}
"""


@pytest.mark.parametrize("name", CALLS)
def test_nothing_of_python_counts_as_a_leak(sim_cc: Compiler, name: str) -> None:
    options = ["-g", "-fsanitize=address"]
    clean = sim_cc.run(sim_cc.build(source(CALLS[name]), options=options))
    assert clean.status == 0, clean.err
    leaky = source(CALLS[name], "kept = malloc(123); kept = NULL;")
    found = sim_cc.run(sim_cc.build(leaky, options=options))
    assert found.status != 0
    assert "SUMMARY: AddressSanitizer: 123 byte(s) leaked in 1 allocation(s)." in found.err


THREADS = """
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include <cudla.h>
#include <cuda_runtime.h>

static sem_t done;

static void *calls(void *argument)
{
    uint64_t count;
    if (cudlaDeviceGetCount(&count) == cudlaSuccess)
        sem_post(&done);
    for (;;)
        pause();
    return argument;
}

int main(void)
{
    static int from[64], *to;
    uint64_t version;
    cudlaGetVersion(&version);
    if (cudaMalloc((void **)&to, sizeof from) != cudaSuccess ||
        cudaMemcpyAsync(to, from, sizeof from, cudaMemcpyHostToDevice, 0) != cudaSuccess)
        return 1;
    sem_init(&done, 0, 0);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, calls, NULL);
        sem_wait(&done);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""


def test_threads_that_are_there_at_the_end(sim_cc: Compiler) -> None:
    found = sim_cc.run(sim_cc.build(THREADS, options=["-g", "-fsanitize=address"]))
    assert (found.status, found.err) == (0, "")


def below_valgrind(program: Path, *options: str) -> subprocess.CompletedProcess[str]:
    suppressions = flags.answer("--valgrind-suppressions", cuda=True)
    return subprocess.run(
        ["valgrind", "--error-exitcode=9", *options, f"--suppressions={suppressions}", program],
        env={**os.environ, **flags.environment(cuda=True)},
        capture_output=True,
        text=True,
        check=False,
    )


needs_valgrind = pytest.mark.skipif(
    not shutil.which("valgrind"), reason="no valgrind on this machine"
)


@needs_valgrind
def test_valgrind_sees_the_programs_own_leak(sim_cc: Compiler) -> None:
    program = sim_cc.build(source(CALLS["cudla"], "kept = malloc(123); kept = NULL;"))
    done = below_valgrind(program, "--leak-check=full")
    assert done.returncode == 9, done.stderr
    assert "definitely lost: 123 bytes in 1 blocks" in done.stderr
    assert "ERROR SUMMARY: 1 errors from 1 contexts" in done.stderr


@needs_valgrind
def test_valgrind_has_addresses_for_the_dpus_that_are_asked_for(sim_cc: Compiler) -> None:
    """64 of them; for 2,560 it has too few. It would look for leaks in all of their memory."""
    done = below_valgrind(sim_cc.build(source(CALLS["upmem"])), "--leak-check=no")
    assert done.returncode == 0, done.stderr
    assert "ERROR SUMMARY: 0 errors from 0 contexts" in done.stderr


def limited(program: Path, size: int) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (size, size))

    return subprocess.run(
        [str(program)],
        env={**os.environ, **flags.environment(cuda=True)},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )


GROWING = """
    struct dpu_set_t first, second, third;
    unsigned char sent[16] = "in the last rank", got[16];
    if (dpu_alloc(64, NULL, &first) != DPU_OK) return 2;
    if (dpu_alloc(64, NULL, &second) != DPU_OK) return 3;
    struct dpu_set_t dpu;
    DPU_FOREACH(second, dpu) {
        if (dpu_copy_to_mram(dpu.dpu, 0x3fffff0, sent, 16) != DPU_OK) return 4;
        if (dpu_copy_from_mram(dpu.dpu, got, 0x3fffff0, 16) != DPU_OK) return 5;
        if (memcmp(sent, got, 16)) return 6;
    }
    if (dpu_alloc(64 * 38, NULL, &third) != DPU_ERR_ALLOCATION) return 7;
    if (dpu_free(second) != DPU_OK || dpu_free(first) != DPU_OK) return 8;
"""


def test_dpus_take_addresses_as_they_are_asked_for(sim_cc: Compiler) -> None:
    """Two ranks have 8.3 GiB of addresses, all forty 165."""
    text = source(GROWING).replace("#include <dpu.h>", "#include <dpu.h>\n#include <string.h>")
    text = text.replace("<dpu.h>", "<dpu.h>\n#include <dpu_memory.h>", 1)
    done = limited(sim_cc.build(text), 12 << 30)
    assert done.returncode == 0, done.stderr
    reason = "dpu_alloc: the system gives no address space for 2560 DPUs (168960 MiB"
    assert reason in done.stderr, "said without any setting"


def test_the_pva_takes_less_memory_where_there_are_fewer_addresses(sim_cc: Compiler) -> None:
    done = limited(sim_cc.build(source(CALLS["cupva"])), 12 << 30)
    assert done.returncode == 0, done.stderr
