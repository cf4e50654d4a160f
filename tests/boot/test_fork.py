"""A Python host that forks; C hosts are in test_boot.py."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from cudla_sim.testing import Compiler

from . import programs

HOST = """
import ctypes, os, sys, threading
from cudla_sim.testing import load
api = load()
device, stream = ctypes.c_void_p(), ctypes.c_void_p()
assert api.cudlaCreateDevice(0, ctypes.byref(device), 1) == 0
assert api.cudaStreamCreate(ctypes.byref(stream)) == 0
memory = ctypes.c_void_p()
assert api.cudaMalloc(ctypes.byref(memory), 4096) == 0
assert api.cudaMemsetAsync(memory, 0, 4096, stream) == 0
over = threading.Event()
{parent}
child = os.fork()
if child == 0:
    {child}
    os._exit(0)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
over.set()
sys.exit(status)
"""


def run(parent: str, child: str, **settings: str) -> subprocess.CompletedProcess[str]:
    text = HOST.format(parent=parent, child="\n    ".join(child.splitlines()))
    return subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        env={**os.environ, **settings},
        timeout=60,
        check=False,
    )


def test_handles_of_the_parent_are_stale_in_a_child_of_python() -> None:
    child = """
import cudla_sim
print(api.cudlaDestroyDevice(device), "fork" in cudla_sim.last_explanation())
print(api.cudaStreamSynchronize(stream), cudla_sim.dla.devices)
own = ctypes.c_void_p()
print(api.cudlaCreateDevice(0, ctypes.byref(own), 1), api.cudlaDestroyDevice(own))
sys.stdout.flush()
"""
    done = run("", child)
    assert done.stdout.splitlines() == ["8 True", "400 []", "0 0"], done.stderr
    assert done.returncode == 0


def test_locks_that_other_threads_hold_are_free_in_the_child() -> None:
    """Every lock that belongs to a module, not to a simulated process."""
    parent = """
import cudla_sim.cudla.memory as memory_of_handles
from cudla_sim.core import pages, process
from cudla_sim.obs import trace
held = threading.Event()
def hold():
    with (memory_of_handles._cursor_lock, process._Current.lock, trace._Trace.writer._lock,
          process.current().handles._lock, process.current().events._lock,
          pages._Pages.retired._lock):
        held.set()
        over.wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
"""
    child = """
own, memory, registered = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
answers = [api.cudlaCreateDevice(0, ctypes.byref(own), 0)]
answers.append(api.cudaMalloc(ctypes.byref(memory), 4096))
answers.append(api.cudlaMemRegister(own, memory, 4096, ctypes.byref(registered), 0))
answers += [api.cudaFree(memory), api.simReset()]
print(answers, flush=True)
"""
    trace = {"CUDLA_SIM_TRACE": "/dev/null"}
    done = run(parent, child, **trace)
    assert done.stdout == "[0, 0, 0, 0, 0]\n", done.stderr


def records(path: Path) -> list[dict[str, object]]:
    return [record for record in json.loads(path.read_text()) if record]


def test_a_child_of_python_writes_a_trace_of_its_own(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    child = "api.cudlaDestroyDevice(None)\nprint(os.getpid(), flush=True)\nimport cudla_sim.obs"
    child += "\ncudla_sim.obs.at_exit()"
    done = run("", child, CUDLA_SIM_TRACE=str(trace))
    number = int(done.stdout)
    names = [r["name"] for r in records(trace) if r["ph"] == "X"]
    assert names.count("cudlaCreateDevice") == 1, "no record of the parent is written twice"
    assert "cudlaDestroyDevice" not in names
    own = records(tmp_path / f"trace.{number}.json")
    assert {r["pid"] for r in own} == {number}
    assert [r["name"] for r in own if r["ph"] == "X"] == ["cudlaDestroyDevice"]


FORK_WITH_TRACE = (
    programs.HEAD
    + r"""
int main(void)
{
    uint64_t n;
    cudlaGetVersion(&n);
    pid_t child = fork();
    if (child == 0) {
        cudlaDeviceGetCount(&n);
        exit(0);
    }
    int how = 0;
    waitpid(child, &how, 0);
    cudlaGetVersion(&n);
    printf("%d %d\n", (int)child, how);
    return 0;
}
"""
)


def test_a_child_of_a_c_program_writes_a_trace_of_its_own(sim_cc: Compiler, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    settings = {"CUDLA_SIM_TRACE": str(trace)}
    result = sim_cc.run(sim_cc.build(FORK_WITH_TRACE), settings=settings)
    child, how = result.out.split()
    assert how == "0", result.err
    names = [r["name"] for r in records(trace) if r["ph"] == "X"]
    assert names == ["cudlaGetVersion", "cudlaGetVersion"]
    own = [r["name"] for r in records(tmp_path / f"trace.{child}.json") if r["ph"] == "X"]
    assert own == ["cudlaDeviceGetCount"]
