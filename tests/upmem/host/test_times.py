"""Hardware times through the C functions: launches, transfers, reports."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
from ctypes import byref
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import cudla_sim
from cudla_sim.testing import Compiler
from cudla_sim.tools import schemas
from cudla_sim.upmem.timing.host import Host as Machine
from cudla_sim.upmem.timing.ledger import Ledger
from tests import warm
from tests.conftest import FIXTURES

from .hosting import FROM_DPU, MRAM, TO_DPU, Host, pointer
from .kernels import Kernel

RECORDED = FIXTURES / "upmem" / "timing.json"

PROGRAM = """
#include <stdint.h>
#include <defs.h>
#include <perfcounter.h>
__host uint32_t rounds, sum[NR_TASKLETS];
__host uint64_t cycles;
int main(void)
{
    if (me() == 0)
        perfcounter_config(COUNT_CYCLES, true);
    for (uint32_t i = 0; i < rounds; i++)
        sum[me()] += i ^ me();
    if (me() == 0)
        cycles = perfcounter_get();
    return 0;
}
"""


@pytest.fixture
def timed(kernel: Kernel) -> Path:
    """The program, counted."""
    if shutil.which("clang") is None:
        pytest.skip("counting needs clang")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDLA_SIM_UPMEM_TIMING", "model")
        return kernel(PROGRAM + "/* counted */", 11)


def launched(host: Host, path: Path, dpus: int, profile: str = "") -> None:
    """Loads, gives each DPU other rounds, launches."""
    rounds = np.arange(1, dpus + 1, dtype=np.uint32).repeat(2) * 100
    with host.alloc(dpus, profile) as made:
        host.ok(host.api.dpu_load(made, str(path).encode(), None))
        for n, one in enumerate(host.dpus(made)):
            host.ok(host.api.dpu_prepare_xfer(one, pointer(rounds, 8 * n)))
        host.ok(host.api.dpu_push_xfer(made, TO_DPU, b"rounds", 0, 4, 0))
        host.ok(host.api.dpu_launch(made, 0))
        last = host.dpus(made)[-1]
        cycles = ctypes.c_uint64()
        host.ok(host.api.dpu_copy_from(last, b"cycles", 0, byref(cycles), 8))
        exact = cudla_sim.upmem.launches[-1].cycles
        if exact is not None:
            assert 0 < exact - cycles.value < 2000


def test_a_launch_takes_as_long_as_its_slowest_dpu(host: Host, timed: Path) -> None:
    cudla_sim.configure(upmem_timing="model")
    launched(host, timed, 5)
    launch = cudla_sim.upmem.hardware.launches[-1]
    record = cudla_sim.upmem.launches[-1]
    assert launch.slowest.endswith("0.4") or launch.slowest.endswith("4.0")
    assert record.cycles == launch.cycles
    assert launch.cycles / launch.least_cycles == pytest.approx(5, rel=0.2)
    assert launch.clock_mhz == 350
    assert launch.seconds == pytest.approx(launch.cycles / 350e6 + 0.16e-3)
    assert launch.utilisation == pytest.approx(1, abs=0.1)  # 11 tasklets fill the pipeline
    assert launch.dpus == 5


def test_a_block_is_timed(host: Host, timed: Path) -> None:
    """Nothing asked for times before and after it."""
    launched(host, timed, 1)
    assert cudla_sim.upmem.launches[-1].cycles is None
    with cudla_sim.time() as found:
        launched(host, timed, 2)
    cycles = cudla_sim.upmem.launches[-1].cycles
    assert cycles is not None
    assert found.cycles == cycles
    assert found.milliseconds == pytest.approx(1e3 * cudla_sim.upmem.hardware.seconds)
    assert [s.name for s in found.steps][:-1] == ["copy to", f"launch {timed.name}"]
    launched(host, timed, 1)
    assert cudla_sim.upmem.launches[-1].cycles is None


def test_two_runs_take_the_same_cycles(host: Host, timed: Path) -> None:
    cudla_sim.configure(time="hardware")
    launched(host, timed, 3)
    launched(host, timed, 3)
    first, second = cudla_sim.upmem.hardware.launches
    assert first == second


def test_the_profile_asks_for_times_and_says_the_clock(host: Host, timed: Path) -> None:
    launched(host, timed, 1, "timing=model,fckFrequency=267")
    launch = cudla_sim.upmem.hardware.launches[-1]
    assert launch.cycles is not None
    assert launch.seconds == pytest.approx(launch.cycles / 267e6 + 0.16e-3)


def test_without_counting_the_launch_says_why(host: Host, kernel: Kernel) -> None:
    cudla_sim.configure(upmem_timing="model")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDLA_SIM_UPMEM_TIMING", "off")
        plain = kernel(PROGRAM, 11)
    launched(host, plain, 1)
    assert cudla_sim.upmem.launches[-1].cycles is None
    assert cudla_sim.upmem.hardware.launches[-1].seconds is None


def test_transfers_are_noted(host: Host) -> None:
    cudla_sim.configure(upmem_timing="model")
    rows = np.zeros((70, 4096), np.uint8)
    with host.alloc(70) as made:
        host.ok(host.api.dpu_broadcast_to_symbol(made, MRAM, 0, pointer(rows), 4096, 0))
        for way in (TO_DPU, FROM_DPU):
            for one, row in zip(host.dpus(made), rows, strict=True):
                host.ok(host.api.dpu_prepare_xfer(one, pointer(row)))
            host.ok(host.api.dpu_push_xfer_symbol(made, way, MRAM, 0, 4096, 0))
        host.ok(host.api.dpu_copy_from_symbol(host.dpus(made)[3], MRAM, 0, pointer(rows), 8))
    kinds = [(t.kind, t.dpus, t.ranks, t.bytes) for t in cudla_sim.upmem.hardware.transfers]
    size = 70 * 4096
    assert kinds == [
        ("broadcast", 70, 2, size),
        ("to", 70, 2, size),
        ("from", 70, 2, size),
        ("from", 1, 1, 8),
    ]


def test_ranks_that_work_at_the_same_time_count_once(host: Host, timed: Path) -> None:
    """Queued work takes the time of the slowest rank, and as long as calls that wait for all."""
    cudla_sim.configure(upmem_timing="model")
    rounds = ctypes.c_uint32(5000)
    elapsed = []
    for asynchronous in (0, 1):
        before = cudla_sim.upmem.hardware.seconds
        with cudla_sim.time() as found, host.alloc(128) as made:
            host.ok(host.api.dpu_load(made, str(timed).encode(), None))
            flags = 2 * asynchronous  # DPU_XFER_ASYNC
            size = ctypes.sizeof(rounds)
            host.ok(host.api.dpu_broadcast_to(made, b"rounds", 0, byref(rounds), size, flags))
            host.ok(host.api.dpu_launch(made, 0 if asynchronous else 1))
            host.ok(host.api.dpu_sync(made))
        elapsed.append(cudla_sim.upmem.hardware.seconds - before)
        assert found.seconds == pytest.approx(elapsed[-1])
    waited, queued = elapsed
    assert queued == pytest.approx(waited, rel=1e-9)
    steps = cudla_sim.upmem.hardware.steps
    assert [s.dpus for s in steps] == [128, 128, 64, 64, 64, 64]
    assert cudla_sim.upmem.hardware.launches[-1].seconds > 0.16e-3


def test_the_host_and_the_ranks_have_clocks() -> None:
    ledger = Ledger(Machine(push_ms=1, launch_ms=1, to_one=1, to_rank=64, to_all=1e9))
    first, second, both = [0], [1], [0, 1]
    ledger.transfer(True, 1_000_000, 128, both, False)  # 1 ms and 1 ms a DPU, all together
    assert ledger.seconds == pytest.approx(2e-3)
    called = ledger.now
    one = ledger.transfer(True, 1_000_000, 64, first, False, called)
    two = ledger.transfer(True, 3_000_000, 64, second, False, called)
    assert (one.begin_s, two.begin_s) == (pytest.approx(2e-3), pytest.approx(2e-3))
    assert ledger.seconds == pytest.approx(6e-3), "the longer one"
    assert ledger.now == called, "the host has not waited"
    three = ledger.transfer(False, 0, 64, first, False)
    assert three.begin_s == pytest.approx(4e-3), "waits for its rank, not for the other"
    ledger.wait(both)
    assert ledger.now == pytest.approx(6e-3)
    overlaps = [s.overlap_s for s in ledger.steps]
    assert sum(s.seconds or 0 for s in ledger.steps) - sum(overlaps) == pytest.approx(6e-3)


@pytest.mark.usefixtures("fixtures")
def test_bandwidths_of_the_published_machine() -> None:
    recorded = {m["id"]: m["value"] for m in json.loads(RECORDED.read_text())["measurements"]}
    machine, size = Machine(push_ms=0), 32 << 20

    def rate(to_dpu: bool, dpus: int, same: bool = False) -> float:
        return size * dpus / machine.transfer_seconds(to_dpu, size, dpus, 1, same) / 1e9

    assert rate(True, 64) == pytest.approx(recorded["prim.xfer.parallel_to_dpu_64"])
    assert rate(False, 64) == pytest.approx(recorded["prim.xfer.parallel_from_dpu_64"])
    assert rate(True, 64, same=True) == pytest.approx(recorded["prim.xfer.broadcast_64"])
    assert rate(True, 1) == pytest.approx(recorded["prim.xfer.serial_to_dpu"])
    scaling = rate(True, 64) / rate(True, 1), rate(False, 64) / rate(False, 1)
    assert scaling[0] == pytest.approx(recorded["prim.xfer.scaling_to_dpu_1_to_64"], rel=0.02)
    assert scaling[1] == pytest.approx(recorded["prim.xfer.scaling_from_dpu_1_to_64"], rel=0.03)


def test_only_transfers_to_several_dpus_have_a_fixed_cost() -> None:
    """A copy to one DPU takes its bytes at the rate of one; a push 3 ms more here."""
    machine = Machine(push_ms=3, to_one=0.5, from_one=0.25)
    size = 1 << 20
    assert machine.transfer_seconds(True, size, 1, 1) == pytest.approx(size / 0.5e9)
    assert machine.transfer_seconds(False, size, 1, 1) == pytest.approx(size / 0.25e9)
    for dpus in (2, 3, 64):
        rate = machine.bandwidth(True, dpus, 1) * 1e9
        moving = machine.transfer_seconds(True, size, dpus, 1)
        assert moving == pytest.approx(3e-3 + size * dpus / rate)


def test_bandwidth_grows_with_dpus_and_ranks() -> None:
    machine = Machine()
    for to_dpu in (True, False):
        rates = [machine.bandwidth(to_dpu, 64 * n, n) for n in range(1, 41)]
        assert rates == sorted(rates)
        assert rates[-1] == (machine.to_all if to_dpu else machine.from_all)
        inside = [machine.bandwidth(to_dpu, n, 1) for n in range(1, 65)]
        assert inside == sorted(inside)


@pytest.mark.parametrize("text", ["to_rank", "to_rank=0", "speed=3", "launch_ms=-1", "to_all=nan"])
def test_what_is_no_host(text: str) -> None:
    with pytest.raises(ValueError, match="is not one of"):
        Machine.parse(text)
    assert Machine.parse("to_rank=3.5, launch_ms=0") == Machine(to_rank=3.5, launch_ms=0)


HOST = r"""
#include <dpu.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    struct dpu_set_t set;
    uint32_t rounds = 1000;
    (void)argc;
    DPU_ASSERT(dpu_alloc(4, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    for (int i = 0; i < 3; i++)
        DPU_ASSERT(dpu_broadcast_to(set, "rounds", 0, &rounds, 4, DPU_XFER_DEFAULT));
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_ASSERT(dpu_free(set));
    puts("done");
    return 3;
}
"""


def test_the_command_runs_a_program_and_shows_its_times(
    timed: Path, tmp_path: Path, sim_cc: Compiler
) -> None:
    program = sim_cc.build(HOST)
    base = [warm.python(), "-m", "cudla_sim", "upmem", "time"]
    command = [*base, "--json", "--host", "launch_ms=1", "--", str(program), str(timed)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CUDLA_SIM_UPMEM")}
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 3, done.stderr
    assert "done" in done.stderr
    found = json.loads(done.stdout)
    jsonschema.validate(found, schemas.read("upmem-time"))
    assert [s["step"] for s in found["steps"]] == ["transfer"] * 3 + ["launch"]
    launch = found["steps"][3]
    assert launch["seconds"] == pytest.approx(launch["cycles"] / 350e6 + 1e-3)
    assert len(launch["tasklets"]) == 11
    (tmp_path / "times.json").write_text(done.stdout)
    shown = subprocess.run(
        [*base, "--tasklets", "times.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"{launch['cycles']:,}" in shown
    assert "bound by instructions" in shown
    assert len(shown.splitlines()) == 1 + 3 + 1 + 12 + 1 + 1
