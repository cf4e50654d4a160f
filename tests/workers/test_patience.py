"""A worker that is stopped, or does not end: what the host says, and when it gives up."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cudla_sim.cupva.toolchain.build import compile_image
from cudla_sim.cupva.workers.protocol import LaunchRequest, LaunchResult
from cudla_sim.cupva.workers.worker import VpuWorker
from cudla_sim.workers import patience
from tests.cupva.device_side.bench import DRAM_SIZE, L2_SIZE
from tests.cupva.device_side.bench import Bench as VpuBench
from tests.upmem.dpu_side.bench import Bench, Program, dpu_cc

pytestmark = pytest.mark.slow

KERNEL = """
#include <cupva_device.h>
VMEM(A, int, spin);
CUPVA_VPU_MAIN()
{
    for (volatile int i = 0; spin != 0; i++)
        ;
    return 7;
}
"""
DPU = """
#include <defs.h>
#include <stdint.h>
__host uint32_t spin;
int main(void)
{
    for (volatile uint32_t i = 0; *(volatile uint32_t *)&spin; i++)
        ;
    return 0;
}
"""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "TELL_AFTER_S", 0.2)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    source = tmp_path_factory.mktemp("vpu") / "kernel.c"
    source.write_text(KERNEL)
    return compile_image([source])


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("dpu")
    (folder / "main.c").write_text(DPU)
    made = dpu_cc("-DNR_TASKLETS=1", "-o", folder / "main", folder / "main.c")
    assert made.returncode == 0, made.stderr
    return Program(folder / "main")


@pytest.fixture
def vpu(image: bytes) -> Iterator[VpuBench]:
    bench = VpuBench(image)
    yield bench
    bench.close()


def with_limit(bench: VpuBench, image: bytes, limit_s: float) -> VpuWorker:
    bench.worker.close()
    bench.worker = VpuWorker(image, *bench._files, DRAM_SIZE, L2_SIZE, limit_s)
    return bench.worker


def test_a_stopped_dpu_worker_is_told_and_goes_on(
    program: Program, capfd: pytest.CaptureFixture[str]
) -> None:
    bench = Bench(dpus=1, workers=1)
    bench.load(program)
    assert not bench.launch().faulted
    (pid,) = bench.pool.pids
    os.kill(pid, signal.SIGSTOP)
    later = threading.Timer(1.0, os.kill, (pid, signal.SIGCONT))
    later.start()
    assert not bench.launch().faulted
    later.join()
    bench.close()
    told = capfd.readouterr().err
    assert told.count("has waited") == 1
    assert f"process {pid}, which is stopped: kill -CONT {pid} lets it go on" in told
    assert patience.SETTING in told


def test_a_dpu_program_is_given_up(program: Program) -> None:
    bench = Bench(dpus=2, workers=2)
    bench.pool._limit_s = 0.5
    bench.load(program)
    bench.var("spin", slot=1)[:] = 1
    ended = bench.launch()
    assert [outcome.number for outcome in ended.faulted] == [1]
    assert ended.faulted[0].text == "it did not end in 0.5 s (CUDLA_SIM_WORKER_TIMEOUT)"
    bench.var("spin", slot=1)[:] = 0
    assert not bench.launch().faulted, "the next launch has workers of its own"
    bench.close()


def test_a_stopped_vpu_worker_is_told_and_goes_on(
    vpu: VpuBench, capfd: pytest.CaptureFixture[str]
) -> None:
    assert vpu.launch(spin=0).value == 7
    pid = vpu.worker.pid
    for _ in range(2):  # nothing of the first wait is left in the second
        os.kill(pid, signal.SIGSTOP)
        later = threading.Timer(0.7, os.kill, (pid, signal.SIGCONT))
        later.start()
        assert vpu.launch(deadline_s=None, spin=0).value == 7
        later.join()
        assert vpu.launch(spin=0).value == 7
        told = capfd.readouterr().err
        assert told.count("has waited") == 1
        assert f"a VPU program (process {pid}, which is stopped" in told


@pytest.mark.parametrize("stopped", [False, True])
def test_a_vpu_program_is_given_up(vpu: VpuBench, image: bytes, stopped: bool) -> None:
    worker = with_limit(vpu, image, 0.5)
    assert vpu.launch(deadline_s=None, spin=0).value == 7
    if stopped:
        os.kill(worker.pid, signal.SIGSTOP)
    result = vpu.launch(deadline_s=None, spin=int(not stopped))
    assert result.status == "timeout"
    assert "did not end in 0.5 s (CUDLA_SIM_WORKER_TIMEOUT)" in result.text
    assert vpu.launch(deadline_s=None, spin=0).value == 7


@pytest.mark.parametrize("helped", [False, True])
def test_a_posted_launch_is_given_up(vpu: VpuBench, image: bytes, helped: bool) -> None:
    worker = with_limit(vpu, image, 0.5)
    assert vpu.launch(deadline_s=None, spin=0).value == 7
    os.kill(worker.pid, signal.SIGSTOP)
    found: list[LaunchResult] = []
    assert worker.post(LaunchRequest([vpu.parameter("spin", 0)]), found.append)
    if helped:
        worker.help(-1)
    end = time.monotonic() + 20
    while not found and time.monotonic() < end:
        time.sleep(0.01)
    assert [result.status for result in found] == ["timeout"]
    assert vpu.launch(deadline_s=None, spin=0).value == 7


def test_the_setting_is_checked() -> None:
    from cudla_sim.core.config import from_environment
    from cudla_sim.core.errors import ConfigError

    assert from_environment({patience.SETTING: "2.5"}).worker_timeout == 2.5
    with pytest.raises(ConfigError, match="0: none"):
        from_environment({patience.SETTING: "-1"})


def test_a_process_that_is_gone_has_no_state() -> None:
    assert patience.process_state(1 << 22) == f"process {1 << 22}"
    assert not Path(f"/proc/{1 << 22}").exists()
