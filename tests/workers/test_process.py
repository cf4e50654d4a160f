"""What DPU and VPU workers have in common: starting, ending, and never outliving the host."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cudla_sim.cupva.toolchain.build import compile_image
from cudla_sim.workers.image import Image
from cudla_sim.workers.process import WorkerError, WorkerProcess, signal_name

FORKING = """
#include <cupva_device.h>
#include <unistd.h>
CUPVA_VPU_MAIN()
{
    int child = fork();
    if (child == 0)
        for (;;)
            pause();
    return child;
}
"""

HOST = """
import os, sys, time
sys.path.insert(0, sys.argv[2])
from tests.cupva.device_side.bench import Bench
from pathlib import Path
bench = Bench(Path(sys.argv[1]).read_bytes())
result = bench.launch(allowed=7)
print(result.value, bench.worker.pid, flush=True)
time.sleep(60)
"""


def ends(pid: int, seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


@pytest.fixture(scope="module")
def forking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forking")
    (folder / "kernel.c").write_text(FORKING)
    image = folder / "image"
    image.write_bytes(compile_image([folder / "kernel.c"]))
    return image


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_worker_has_started_dies_with_the_host(forking: Path, number: int) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", HOST, str(forking), str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as host:
        assert host.stdout is not None
        child, worker = map(int, host.stdout.readline().split())
        assert child > 0
        host.send_signal(number)
        host.wait()
    assert ends(worker)
    assert ends(child)


def test_a_worker_that_is_killed_takes_its_children_with_it(forking: Path) -> None:
    from tests.cupva.device_side.bench import Bench

    bench = Bench(forking.read_bytes())
    child = bench.launch(allowed=7).value
    bench.close()
    assert ends(child)


def test_workers_start_where_memory_files_are_not_executable_by_default(
    forking: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As under the sysctl vm.memfd_noexec=1: only MFD_EXEC (0x10) makes a file executable."""
    create: Callable[[str, int], int] = os.memfd_create

    def strict(name: str, flags: int = 0) -> int:
        fd = create(name, flags)
        if not flags & 0x10:
            os.fchmod(fd, 0o666)
        return fd

    monkeypatch.setattr(os, "memfd_create", strict)
    from tests.cupva.device_side.bench import Bench

    bench = Bench(forking.read_bytes())
    assert bench.launch().status == "done"
    bench.close()


def test_a_program_that_is_no_worker_does_not_start() -> None:
    image = Image("false", Path("/bin/false").read_bytes())
    with pytest.raises(WorkerError, match="'false' did not start: exit status 1"):
        WorkerProcess(image, lambda socket: [], [])
    image.close()
    image.close()


def test_signals_have_names() -> None:
    assert signal_name(9) == "signal 9 (SIGKILL)"
    assert signal_name(99) == "signal 99"
