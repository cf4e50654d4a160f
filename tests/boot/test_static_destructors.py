"""Objects of C++ that outlive the interpreter of a Python host."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cudla_sim.testing import Compiler

MODULE = """
#include <stdio.h>
#include <dpu>
#include <cudla.h>
#include <cuda_runtime.h>
using namespace dpu;
struct Raw {
    dpu_set_t set;
    cudlaDevHandle device;
    void *memory;
    ~Raw() {
        printf("sync %d free %d\\n", dpu_sync(set), dpu_free(set));
        printf("device %d memory %d wait %d\\n", cudlaDestroyDevice(device), cudaFree(memory),
               cudaDeviceSynchronize());
        uint32_t count;
        printf("work %d\\n", dpu_get_nr_dpus(set, &count) == DPU_OK);
        fflush(stdout);
    }
} raw;
DpuSet *kept;
struct Keeper {
    ~Keeper() { delete kept; }  /* throws where dpu_free fails, which ends the process */
} keeper;
extern "C" int begin(void)
{
    if (dpu_alloc(1, nullptr, &raw.set) != DPU_OK ||
        cudlaCreateDevice(0, &raw.device, CUDLA_CUDA_DLA) != cudlaSuccess ||
        cudaMalloc(&raw.memory, 64) != cudaSuccess)
        return 1;
    kept = new DpuSet(DpuSet::allocate(1));
    return 0;
}
"""

HOST = """
import ctypes, sys
module = ctypes.CDLL(sys.argv[1])
assert module.begin() == 0
print("begun", flush=True)
"""


@pytest.mark.slow
def test_releasing_behind_the_interpreter_succeeds(sim_cc: Compiler, tmp_path: Path) -> None:
    """As dpu_kmeans does it: the destructors of an extension module free what it holds."""
    module = sim_cc.build(MODULE, language="c++", options=["-shared", "-fPIC"])
    done = subprocess.run(
        [sys.executable, "-c", HOST, str(module)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "begun",
        "sync 0 free 0",
        "device 0 memory 0 wait 0",
        "work 0",
    ]
