"""How host programs end while DPUs still run: nothing hangs, nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cudla_sim.testing import Compiler
from tests.conftest import ROOT

from .kernels import Kernel

SPIN = """
#include <stdint.h>
#include <defs.h>
__host volatile uint32_t stop;
int main(void) { while (!stop) ; return 0; }
"""

HOST = """
#include <dpu.h>
#include <string.h>
#include <dpu_runner.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct dpu_set_t set, other;
    bool done, fault;
    DPU_ASSERT(dpu_alloc(66, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    printf("begin\\n");
    fflush(stdout);
    DPU_ASSERT(dpu_launch(set, strcmp(argv[2], "wait") ? DPU_ASYNCHRONOUS : DPU_SYNCHRONOUS));
    DPU_ASSERT(dpu_status_rank(set.list.ranks[0], &done, &fault));
    printf("done %d\\n", done);
    fflush(stdout);
    if (!strcmp(argv[2], "free")) {
        DPU_ASSERT(dpu_free(set));
    }
    if (!strcmp(argv[2], "fork")) {
        pid_t child = fork();
        if (child == 0) {
            _exit(dpu_sync(set) == DPU_ERR_INVALID_DPU_SET && dpu_alloc(1, NULL, &other) == DPU_OK);
        }
        int status;
        waitpid(child, &status, 0);
        printf("child %d\\n", WEXITSTATUS(status));
    }
    return 7;
}
"""


@pytest.fixture(scope="module")
def host(sim_cc: Compiler) -> Path:
    return sim_cc.build(HOST)


def workers(program: Path) -> list[int]:
    """Processes that run a DPU program from its copy in memory; they bear its path as name."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                name = (entry / "cmdline").read_bytes().split(b"\0")[0].decode()
                if name == str(program) and "memfd" in os.readlink(entry / "exe"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def within_seconds(condition: Callable[[], bool]) -> bool:
    """It becomes true soon."""
    for _ in range(200):
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize(
    ("how", "out"),
    [
        ("exit", "begin\ndone 0\n"),
        ("free", "begin\ndone 0\n"),
        ("fork", "begin\ndone 0\nchild 1\n"),
    ],
)
def test_ends_with_its_own_status(how: str, out: str, host: Path, kernel: Kernel) -> None:
    program = kernel(SPIN)
    command = [str(host), str(program), how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (7, out)
    assert within_seconds(lambda: not workers(program))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=int)
def test_signals_end_it_as_without_us(number: int, host: Path, kernel: Kernel) -> None:
    program = kernel(SPIN)
    command = [str(host), str(program), "wait"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begin\n"
    assert within_seconds(lambda: bool(workers(program)))
    process.send_signal(number)
    assert process.wait(30) == -number
    process.stdout.close()
    assert within_seconds(lambda: not workers(program))


IN_THE_BACKGROUND = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                          sys.argv[1]])
"""


def test_these_tests_do_not_care_who_ignores_signals() -> None:
    """As with nohup, or as a job of a shell that does without job control."""
    name = f"{test_signals_end_it_as_without_us.__name__}[{int(signal.SIGINT)}]"
    command = [sys.executable, "-c", IN_THE_BACKGROUND, f"{__file__}::{name}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout
