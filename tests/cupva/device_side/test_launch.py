"""Launches: parameters, VMEM set up anew each time, return values, printing, static dataflows."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import threading
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest

from cudla_sim.cupva.dma import Move
from cudla_sim.cupva.executable import Kind
from cudla_sim.cupva.workers.worker import FlowRequest, LaunchRequest, VpuWorker, WorkerError
from tests.conftest import ROOT

from .bench import DRAM_SIZE, L2_SIZE, Bench, dram, l2
from .bench import modes as names

M = names("modes.h")


def copying(bench: Bench) -> list[FlowRequest]:
    """256 bytes in four tiles of 64, to byte 4096."""
    row, fours = (1, 0), (4, 64)
    into = Move(64, 1, 1, dram(0, 64, (row, fours)), bench.side("in", 64, (row, (4, 0))))
    away = Move(64, 1, 1, bench.side("out", 64, (row, fours)), dram(4096, 64, (row, fours)))
    into.per_trigger = away.per_trigger = 1
    return [bench.static("source", into), bench.static("target", away)]


def test_return_value_reaches_the_host(modes: Bench) -> None:
    result = modes.launch(mode=M["RETURN"], answer=-7)
    assert (result.status, result.value, result.text) == ("done", -7, "")


def test_main_without_return_is_success(modes: Bench) -> None:
    result = modes.launch(mode=M["ADDRESSES"])
    assert (result.status, result.value) == ("done", 0)
    grid = modes.array(result, "grid").tolist()
    assert grid[:4] == [modes.symbol("out").offset, modes.symbol("out").offset, 1 << 20, 0x42]


def test_nothing_survives_from_one_launch_to_the_next(modes: Bench) -> None:
    """VMEM and all other variables of the kernel start as the executable holds them."""
    for _ in range(3):
        result = modes.launch(mode=M["STATE"], guarded=bytes(99) + b"\x05")
        assert result.value == 11 * 1000 + 42 * 10 + 6
        assert modes.array(result, "second_of_pair").tolist() == [-4]
        assert modes.array(result, "grid").tolist() == [0] * 11 + [11]


def test_exported_symbols(modes: Bench) -> None:
    symbols = modes.executable.symbols
    assert "table" not in symbols
    assert "inner" not in symbols
    assert symbols["pointer"].kind is Kind.POINTER
    assert symbols["grid"].size == 48
    assert symbols["in"].offset % 64 == symbols["grid"].offset % 64 == 0
    assert symbols["mode"].offset >= 64, "the first 64 bytes of superbank A are reserved"
    assert 0x40000 <= symbols["out"].offset < 0x60000
    assert 0x80000 <= symbols["source"].offset < 0xA0000


@pytest.mark.parametrize("mode", ["COPY", "COPY_WITH_SURPLUS"])
def test_static_dataflows_by_trigger_and_sync(modes: Bench, mode: str) -> None:
    """One trigger too many, and one sync on an output before its first trigger, are harmless."""
    modes.dram[:256] = np.arange(256)
    modes.dram[4096:4352] = 0
    result = modes.launch(copying(modes), mode=M[mode])
    assert (result.status, result.triggers) == ("done", (4, 4))
    assert (modes.dram[4096:4352] == (np.arange(256) + 1) % 256).all()


def test_dataflow_without_handler_runs_before_the_kernel(modes: Bench) -> None:
    modes.l2[100:104] = np.frombuffer(struct.pack("<i", 77), np.uint8)
    flow = modes.static("", Move(4, 1, 1, l2(100), modes.side("answer")))
    assert modes.launch([flow], mode=M["RETURN"]).value == 77


def test_only_dataflows(modes: Bench) -> None:
    """A launch without the kernel."""
    modes.dram[:8] = range(8)
    request = LaunchRequest(flows=[modes.static("", Move(8, 1, 1, dram(0), l2(0)))])
    assert modes.worker.launch(request, 5, kernel=False).status == "done"
    assert modes.l2[:8].tolist() == list(range(8))


def test_printf_reaches_standard_output(image: object, capfd: pytest.CaptureFixture[str]) -> None:
    """A worker prints where the host prints at the time it starts."""
    bench = Bench(image("modes"))  # type: ignore[operator]
    try:
        request = LaunchRequest(
            [bench.parameter("mode", M["PRINT"]), bench.parameter("answer", 42)], vpu=1
        )
        bench.worker.launch(request, 5)
    finally:
        bench.close()
    assert capfd.readouterr().out == "vpu 1 says 42\n"


def test_many_threads_share_a_worker(modes: Bench) -> None:
    found: list[bool] = []

    def run(number: int) -> None:
        for _ in range(50):
            found.append(modes.launch(mode=M["RETURN"], answer=number).value == number)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 200


def test_parameter_outside_vmem(modes: Bench) -> None:
    with pytest.raises(ValueError, match="VMEM offset 0xbffff"):
        modes.worker.launch(LaunchRequest([(0xBFFFF, b"12")]))


def test_unknown_device_information(modes: Bench) -> None:
    flow = copying(modes)[0]
    wrong = FlowRequest(0, flow.handler_offset, flow.descriptors, {"pitch": 3})
    with pytest.raises(ValueError, match="pitch"):
        modes.worker.launch(LaunchRequest(flows=[wrong]))


def test_worker_ends_when_it_is_closed(image: object) -> None:
    files = [os.memfd_create("dram"), os.memfd_create("l2")]
    for fd, size in zip(files, (DRAM_SIZE, L2_SIZE), strict=True):
        os.ftruncate(fd, size)
    worker = VpuWorker(image("modes"), *files, DRAM_SIZE, L2_SIZE)  # type: ignore[operator]
    assert worker.pid == 0, "it starts with the first launch"
    worker.launch(LaunchRequest([]))
    pid = worker.pid
    worker.close()
    worker.close()
    end = monotonic() + 5
    while os.path.exists(f"/proc/{pid}/exe") and monotonic() < end:
        pass
    assert not os.path.exists(f"/proc/{pid}/exe")
    with pytest.raises(WorkerError):
        worker.launch(LaunchRequest([]))
    for fd in files:
        os.close(fd)


def test_close_ends_a_kernel_that_hangs(image: object) -> None:
    """A host program can end although a kernel without a deadline does not."""
    bench = Bench(image("modes"))  # type: ignore[operator]
    found: list[str] = []
    thread = threading.Thread(
        target=lambda: found.append(bench.launch(mode=M["HANG"], deadline_s=None).status)
    )
    thread.start()
    while bench.worker.pid == 0:
        sleep(0.01)
    sleep(0.05)
    bench.worker.close()
    thread.join(5)
    assert found == ["died"]


def test_worker_ends_with_its_host(image: object, tmp_path: Path) -> None:
    """Also in the middle of a kernel, and when the host is killed."""
    (tmp_path / "image").write_bytes(image("modes"))  # type: ignore[operator]
    code = (
        "import sys, threading, time; sys.path.insert(0, sys.argv[1])\n"
        "from tests.cupva.device_side.bench import Bench, modes\n"
        "bench = Bench(open(sys.argv[2], 'rb').read()); m = modes('modes.h')\n"
        "run = lambda: bench.launch(mode=m['HANG'], deadline_s=None)\n"
        "threading.Thread(target=run, daemon=True).start()\n"
        "while not bench.worker.pid: time.sleep(0.01)\n"
        "print(bench.worker.pid, flush=True); time.sleep(60)\n"
    )
    words = [sys.executable, "-c", code, str(ROOT), str(tmp_path / "image")]
    host = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    pid = int(host.stdout.readline())
    sleep(0.1)
    host.kill()
    host.wait()
    host.stdout.close()
    end = monotonic() + 5
    while os.path.exists(f"/proc/{pid}/exe") and monotonic() < end:
        sleep(0.02)
    assert not os.path.exists(f"/proc/{pid}/exe")


def test_not_an_executable() -> None:
    worker = VpuWorker(b"no program", 0, 0, 0, 0)
    with pytest.raises(WorkerError, match="cannot be started"):
        worker.launch(LaunchRequest())
    worker.close()
