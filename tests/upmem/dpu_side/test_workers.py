"""The worker processes: many, killed, orphaned, and leaving nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cudla_sim.constants.dpu_protocol import FaultKind
from cudla_sim.upmem.workers.checks import Checks
from cudla_sim.upmem.workers.pool import Worker
from cudla_sim.workers.image import Image
from cudla_sim.workers.process import WorkerError

from .bench import STRIDE, Bench, Program
from .conftest import Build

COUNT = """
#include <attributes.h>
#include <stdint.h>
__host volatile uint32_t spin, runs;
int main(void) {
    runs++;
    while (spin)
        ;
    return 0;
}"""


def until(condition: Callable[[], object], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return bool(condition())


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_every_slot_runs_exactly_once(build: Build) -> None:
    bench = Bench(300, workers=3)
    bench.load(build(COUNT))
    for _ in range(3):
        assert not bench.launch().faulted
    assert {int(bench.var("runs", slot=s)[0]) for s in range(300)} == {3}
    assert not bench.launch(slots=[7, 250]).faulted
    assert [int(bench.var("runs", slot=s)[0]) for s in (6, 7, 250)] == [3, 4, 4]
    bench.close()


def test_launches_from_many_threads(build: Build) -> None:
    bench = Bench(64)
    bench.load(build(COUNT))
    errors: list[object] = []

    def rank(first: int) -> None:
        for _ in range(20):
            errors.extend(bench.launch(slots=list(range(first, first + 8))).faulted)

    threads = [threading.Thread(target=rank, args=(8 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert {int(bench.var("runs", slot=s)[0]) for s in range(64)} == {20}
    bench.close()


def test_a_killed_worker_costs_one_dpu(build: Build) -> None:
    bench = Bench(16)
    bench.load(build(COUNT))
    bench.var("spin", slot=5)[0] = 1
    bench.var("spin", slot=6)[0] = 1
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(bench.launch()))
    thread.start()
    assert until(lambda: bench.var("runs", slot=5)[0] and bench.var("runs", slot=6)[0])
    victim = bench.pool.pids[0]
    os.kill(victim, signal.SIGKILL)
    assert until(lambda: not alive(victim))
    for slot in (5, 6):
        bench.var("spin", slot=slot)[0] = 0
    thread.join(10)
    ended = results[0]
    assert [o.fault for o in ended.faulted] == [FaultKind.WORKER]  # type: ignore[attr-defined]
    assert "was killed by signal 9 (SIGKILL)" in ended.faulted[0].text  # type: ignore[attr-defined]
    assert {int(bench.var("runs", slot=s)[0]) for s in range(16)} == {1}
    assert not bench.launch().faulted
    bench.close()


def test_all_workers_killed(build: Build) -> None:
    bench = Bench(8)
    bench.load(build(COUNT))
    for slot in range(8):
        bench.var("spin", slot=slot)[0] = slot < 2
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(bench.launch()))
    thread.start()
    assert until(lambda: bench.var("runs", slot=0)[0] and bench.var("runs", slot=1)[0])
    for pid in bench.pool.pids:
        os.kill(pid, signal.SIGKILL)
    thread.join(10)
    faulted = results[0].faulted  # type: ignore[attr-defined]
    assert sorted(o.number for o in faulted) == [0, 1]
    assert {int(bench.var("runs", slot=s)[0]) for s in range(8)} == {1}
    bench.close()


def test_cancel_and_close_stop_a_spinning_launch(build: Build) -> None:
    for stop in ("cancel", "close"):
        bench = Bench(2)
        bench.load(build(COUNT))
        bench.var("spin")[0] = 1
        results: list[object] = []

        def run(bench: Bench = bench, results: list[object] = results) -> None:
            results.append(bench.launch())

        thread = threading.Thread(target=run)
        thread.start()
        assert until(lambda bench=bench: bench.var("runs")[0])  # type: ignore[misc]
        pids = bench.pool.pids
        if stop == "cancel":
            bench.pool.cancel([0])
        else:
            bench.pool.close()
        thread.join(10)
        assert FaultKind.CANCELLED in {o.fault for o in results[0].faulted}  # type: ignore[attr-defined]
        bench.close()
        assert until(lambda pids=pids: not any(map(alive, pids)))  # type: ignore[misc]
        with pytest.raises(WorkerError):
            bench.launch()


def test_a_busy_pool_gets_more_workers(build: Build) -> None:
    bench = Bench(4, workers=1)
    bench.load(build(COUNT))
    bench.var("spin")[0] = 1
    thread = threading.Thread(target=lambda: bench.launch(slots=[0]))
    thread.start()
    assert until(lambda: bench.var("runs")[0])
    assert not bench.launch(slots=[1, 2, 3]).faulted  # would wait for ever
    bench.var("spin")[0] = 0
    thread.join(10)
    bench.close()


def test_programs_change_and_files_vanish(build: Build, tmp_path: Path) -> None:
    bench = Bench(2)
    original = build(COUNT)
    for number in range(8):
        path = tmp_path / f"copy{number}"
        path.write_bytes(original.image + bytes([number]))
        program = Program(path)
        path.unlink()
        bench.load(program)
        assert not bench.launch(Checks()).faulted
    assert len(bench.pool.pids) <= 10
    bench.close()


def test_something_else_cannot_be_started(tmp_path: Path) -> None:
    bench = Bench(1)
    with pytest.raises(WorkerError, match=r"cannot be started|did not start"):
        bench.pool.launch("rubbish", b"\x7fELF rubbish", [0], Checks())
    true = Path("/bin/true").read_bytes()
    with pytest.raises(WorkerError, match="did not start"):
        Worker(Image("true", true), 1, bench.fd, bench.fd, STRIDE)
    bench.close()


HOST = """
import sys, time
from pathlib import Path
from tests.upmem.dpu_side.bench import Bench, Program
bench = Bench(4)
bench.load(Program(Path(sys.argv[1])))
for slot in range(4):
    bench.var("spin", slot=slot)[0] = 1
import threading
threading.Thread(target=bench.launch, daemon=True).start()
while len(bench.pool.pids) < 2 or not bench.var("runs")[0]:
    time.sleep(0.01)
print(*bench.pool.pids, flush=True)
time.sleep(60)
"""


def test_workers_die_with_a_killed_host(build: Build) -> None:
    program = build(COUNT)
    before = {p for d in ("/dev/shm", "/tmp") for p in Path(d).glob("*cudla*")}
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(program.path)], stdout=subprocess.PIPE, text=True
    )
    assert host.stdout is not None
    pids = [int(word) for word in host.stdout.readline().split()]
    assert len(pids) == 2
    assert all(map(alive, pids))
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(host.pid)], capture_output=True)
    assert not children.stdout.split()  # the host's own wait() never meets a worker
    host.kill()
    host.wait()
    host.stdout.close()
    assert until(lambda: not any(map(alive, pids)))
    assert {p for d in ("/dev/shm", "/tmp") for p in Path(d).glob("*cudla*")} == before
