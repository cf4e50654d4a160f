"""A worker that dies: a status that names its machine, never zeros that nobody wrote."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from ctypes import byref
from pathlib import Path

import numpy as np
import pytest

import cudla_sim
from cudla_sim.capi import CApi
from cudla_sim.capi.prototypes import dpu_set_t
from cudla_sim.upmem.machine import machine
from tests import mortal_cluster
from tests.upmem.host.hosting import FROM_DPU, MRAM, TO_DPU, Host, pointer, status
from tests.upmem.host.kernels import Kernel
from tests.upmem.host.test_programs import SILENT

SPIN = """
#include <stdint.h>
#include <defs.h>
__host volatile uint32_t go, done;
int main(void) { while (!go) __asm__ volatile("" ::: "memory"); done = 1; return 0; }
"""


@pytest.fixture
def mortal(sim_api: CApi) -> Iterator[Host]:
    """Two workers, of which the tests may kill some."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        cudla_sim.configure(upmem_cluster=cluster.scheduler_address, upmem_ranks=4, upmem_workers=1)
        yield Host(sim_api)
        cudla_sim.reset()


def kill(number: int) -> str:
    """The worker with odd (1) or even (0) ranks; its address."""
    victim = machine().store.machines[number]  # type: ignore[attr-defined]
    _, _, pid = victim._actor.hello().result()
    os.kill(pid, signal.SIGKILL)
    return str(victim.address)


def test_copies_say_who_is_lost(mortal: Host, capfd: pytest.CaptureFixture[str]) -> None:
    api, data = mortal.api, np.arange(64, dtype=np.uint64)
    with mortal.alloc(128) as made:
        first, second = mortal.ranks(made)
        mortal.ok(api.dpu_copy_to_symbol(made, MRAM, 0, pointer(data), 512))
        address = kill(1)
        back = np.zeros((128, 64), np.uint64)
        for i, dpu in enumerate(mortal.dpus(made)):
            mortal.ok(api.dpu_prepare_xfer(dpu, pointer(back[i])))
        assert api.dpu_push_xfer_symbol(made, FROM_DPU, MRAM, 0, 512, 1) == status("SYSTEM")
        said = cudla_sim.last_explanation()
        assert f"machine {socket.gethostname()} ({address}), which holds the ranks 1, 3" in said
        assert (back[:64] == data).all()  # what is not lost came back
        for _ in range(2):
            assert api.dpu_copy_to_symbol(second, MRAM, 0, pointer(data), 512) == status("SYSTEM")
        mortal.ok(api.dpu_copy_to_symbol(first, MRAM, 0, pointer(data), 512))
    assert capfd.readouterr().err.count("is lost") == 1
    with mortal.alloc(128) as made:  # the ranks that are left
        assert [r.id for r in cudla_sim.upmem.sets[0].ranks] == [0, 2]
    assert api.dpu_alloc(192, b"", byref(dpu_set_t())) == status("ALLOCATION")


def test_launches_end_in_fault(
    mortal: Host, kernel: Kernel, capfd: pytest.CaptureFixture[str]
) -> None:
    """DPUs of the lost machine; the others end, and go on."""
    api, one = mortal.api, np.ones(1, np.uint32)
    with mortal.alloc(128) as made:
        mortal.ok(api.dpu_load(made, str(kernel(SPIN)).encode(), None))
        answers: list[int] = []
        launching = threading.Thread(target=lambda: answers.append(api.dpu_launch(made, 1)))
        launching.start()
        first, second = mortal.ranks(made)
        time.sleep(0.3)
        address = kill(1)
        write_go(mortal, one)
        launching.join(60)
        assert answers == [status("DPU_FAULT")]
        dpus = cudla_sim.upmem.sets[0].dpus
        assert [bool(d.fault) for d in dpus] == [False] * 64 + [True] * 64
        assert address in dpus[64].fault.text
        told = [line for line in capfd.readouterr().err.splitlines() if "in fault" in line]
        assert len(told) == 1
        assert told[0].startswith(f"cudla-sim: DPU {dpus[64].name} and 63 more")
        assert api.dpu_load(second, str(kernel(SILENT)).encode(), None) == status("SYSTEM")
        mortal.ok(api.dpu_load(first, str(kernel(SILENT)).encode(), None))
        mortal.ok(api.dpu_launch(first, 1))


def write_go(mortal: Host, one: np.ndarray) -> None:  # type: ignore[type-arg]
    """What the host may not do while DPUs run, and a test may: straight into their memory."""
    from cudla_sim.native.dpu_memory import Place
    from cudla_sim.upmem.memory import WRAM_OFFSET

    dpus = cudla_sim.upmem.sets[0].dpus[:64]
    assert dpus[0].program is not None
    symbol = dpus[0].program.symbol("go")
    slots = np.array([d.slot for d in dpus], np.uint32)
    hosts = np.full(64, one.ctypes.data, np.uint64)
    place = Place(0, WRAM_OFFSET + symbol.address, 4, to_dpu=True)
    assert machine().store.transfer(place, slots, hosts) == -1


@pytest.mark.slow
def test_a_scheduler_that_dies_is_told_once(
    sim_api: CApi, kernel: Kernel, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """As itself, not as a machine, and not once for each DPU."""
    with mortal_cluster.started(tmp_path, 1) as cluster:
        cudla_sim.configure(upmem_cluster=cluster.address, upmem_ranks=2, upmem_workers=1)
        host = Host(sim_api)
        with host.alloc(128) as made:
            host.ok(host.api.dpu_load(made, str(kernel(SPIN)).encode(), None))
            assert capfd.readouterr().err == f"cudla-sim: connecting to {cluster.address}\n"
            answers: list[int] = []
            launching = threading.Thread(
                target=lambda: answers.append(host.api.dpu_launch(made, 1))
            )
            launching.start()
            cluster.kill_scheduler()
            launching.join(60)
            assert answers == [status("DPU_FAULT")]
            gone = f"the scheduler {cluster.address} is gone"
            told, faults = capfd.readouterr().err.splitlines()
            assert told.startswith(f"cudla-sim: {gone}")
            assert faults.startswith("cudla-sim: DPU 0.0.0 and 127 more")
            assert faults.endswith(f"are in fault: {gone}")
        cudla_sim.reset()


def test_all_are_lost(mortal: Host) -> None:
    api, data = mortal.api, np.arange(64, dtype=np.uint64)
    with mortal.alloc(128) as made:
        for number in (0, 1):
            kill(number)
        assert api.dpu_copy_to_symbol(made, MRAM, 0, pointer(data), 512) == status("SYSTEM")
        assert api.dpu_push_xfer_symbol(made, TO_DPU, MRAM, 0, 512, 0) == 0  # no buffer is set
