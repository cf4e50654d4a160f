"""dpu_probe.h, as PrIM's hosts use it where they are built with ENERGY=1."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_double
from pathlib import Path

import numpy as np
import pytest

import cudla_sim
from cudla_sim.capi.prototypes import dpu_probe_t
from cudla_sim.constants.upmem import dpu_probe_quantity_t, dpu_probe_statistic_t
from cudla_sim.testing import Compiler

from .hosting import MRAM, Host, pointer, status
from .kernels import Kernel

PRIM_WATTS, PRIM_DPUS = 383, 2556  # table 4 of arXiv 2105.03814
ENERGY, TIME = dpu_probe_quantity_t.DPU_ENERGY, dpu_probe_quantity_t.DPU_TIME
ALL, ONE = dpu_probe_statistic_t.DPU_ACCUMULATE, dpu_probe_statistic_t.DPU_AVERAGE

KERNEL = "int main(void) { return 0; }\n"

# The order of calls in PrIM's NW: values are asked for before anything was measured, too.
HOST = r"""
#include <dpu.h>
#include <dpu_probe.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    struct dpu_set_t set;
    struct dpu_probe_t probe;
    double energy, joules, time, seconds;
    DPU_ASSERT(dpu_probe_init("energy_probe", &probe));
    DPU_ASSERT(dpu_alloc(2, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    for (int rep = 0; rep < 3; rep++) {
        if (rep >= 1)
            DPU_ASSERT(dpu_probe_start(&probe));
        DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
        if (rep >= 1)
            DPU_ASSERT(dpu_probe_stop(&probe));
        DPU_ASSERT(dpu_probe_get(&probe, DPU_ENERGY, DPU_ACCUMULATE, &joules));
        DPU_ASSERT(dpu_probe_get(&probe, DPU_ENERGY, DPU_AVERAGE, &energy));
        DPU_ASSERT(dpu_probe_get(&probe, DPU_TIME, DPU_ACCUMULATE, &seconds));
        DPU_ASSERT(dpu_probe_get(&probe, DPU_TIME, DPU_AVERAGE, &time));
        printf("%d %d %d\n", joules > 0, joules == energy * (rep ? rep : 1),
               seconds == time * (rep ? rep : 1));
    }
    DPU_ASSERT(dpu_free(set));
    DPU_ASSERT(dpu_probe_deinit(&probe));
    return 0;
}
"""


def test_a_host_that_measures_energy_runs_to_its_end(sim_cc: Compiler, kernel: Kernel) -> None:
    done = sim_cc.run(sim_cc.build(HOST), str(kernel(KERNEL)))
    assert done.status == 0, done.err
    assert done.out.splitlines() == ["0 1 1", "1 1 1", "1 1 1"]
    (line,) = done.err.splitlines()  # of two intervals
    assert line.startswith("cudla-sim: dpu_probe_stop: DPU_ENERGY is the rated power")


@pytest.fixture
def probe(host: Host) -> dpu_probe_t:
    made = dpu_probe_t()
    host.ok(host.api.dpu_probe_init(b"energy_probe", byref(made)))
    return made


@pytest.fixture
def value(host: Host, probe: dpu_probe_t) -> Callable[[int, int], float]:
    def read(quantity: int, statistic: int) -> float:
        found = c_double()
        host.ok(host.api.dpu_probe_get(byref(probe), quantity, statistic, byref(found)))
        return found.value

    return read


def test_hardware_time_and_rated_power(
    host: Host, probe: dpu_probe_t, value: Callable[[int, int], float]
) -> None:
    cudla_sim.configure(upmem_timing="model")
    data = np.zeros(4096, np.uint8)
    with host.alloc(10) as made:
        for measured in (True, False, True):
            if measured:
                host.ok(host.api.dpu_probe_start(byref(probe)))
            host.ok(host.api.dpu_broadcast_to_symbol(made, MRAM, 0, pointer(data), 4096, 0))
            if measured:
                host.ok(host.api.dpu_probe_stop(byref(probe)))
    first, _, last = (t.seconds for t in cudla_sim.upmem.hardware.transfers)
    assert value(TIME, ALL) == pytest.approx(first + last)
    assert value(TIME, ONE) == pytest.approx((first + last) / 2)
    watts = PRIM_WATTS / PRIM_DPUS * 10
    assert value(ENERGY, ALL) == pytest.approx(watts * (first + last))
    assert value(ENERGY, ONE) == pytest.approx(watts * (first + last) / 2)


def test_launches_that_do_not_count_are_named(
    host: Host, kernel: Kernel, probe: dpu_probe_t, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDLA_SIM_UPMEM_TIMING", "off")
        plain: Path = kernel(KERNEL)
    cudla_sim.configure(upmem_timing="model")
    with host.alloc(1) as made:
        host.ok(host.api.dpu_load(made, str(plain).encode(), None))
        host.ok(host.api.dpu_probe_start(byref(probe)))
        host.ok(host.api.dpu_launch(made, 1))
        host.ok(host.api.dpu_probe_stop(byref(probe)))
    said = capfd.readouterr().err
    assert str(plain) in said
    assert "CUDLA_SIM_UPMEM_TIMING=model" in said


def test_misuse_is_explained(host: Host, probe: dpu_probe_t) -> None:
    api, found = host.api, c_double()
    assert api.dpu_probe_stop(byref(probe)) == status("INTERNAL")
    assert "dpu_probe_start" in cudla_sim.last_explanation()
    host.ok(api.dpu_probe_start(byref(probe)))
    assert api.dpu_probe_start(byref(probe)) == status("INTERNAL")
    assert "dpu_probe_stop" in cudla_sim.last_explanation()
    assert api.dpu_probe_get(byref(probe), 2, ONE, byref(found)) == status("INTERNAL")
    assert "DPU_ENERGY" in cudla_sim.last_explanation()
    assert api.dpu_probe_get(byref(probe), TIME, 2, byref(found)) == status("INTERNAL")
    assert "DPU_AVERAGE" in cudla_sim.last_explanation()
    host.ok(api.dpu_probe_deinit(byref(probe)))
    assert api.dpu_probe_start(byref(probe)) == status("INTERNAL")
    assert "dpu_probe_init" in cudla_sim.last_explanation()
    assert api.dpu_probe_init(b"energy_probe", None) == status("INVALID_MEMORY_TRANSFER")
