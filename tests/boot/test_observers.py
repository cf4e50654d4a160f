"""Who only watches (traces, logs, observers of Python) never disturbs the program."""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import ModuleType

import pytest

from cudla_sim.core.events import Event
from cudla_sim.testing import CApi, Compiler

from . import programs

MANY_CALLS = (
    programs.HEAD
    + r"""
int main(void)
{
    int failed = 0;
    for (int i = 0; i < 400; i++) {
        uint64_t n;
        failed += cudlaDeviceGetCount(&n) != cudlaSuccess;
    }
    printf("failed %d\n", failed);
    return 0;
}
"""
)


def test_a_full_disk_ends_the_trace_and_nothing_else(sim_cc: Compiler) -> None:
    program = sim_cc.build(MANY_CALLS)
    result = sim_cc.run(program, settings={"CUDLA_SIM_TRACE": "/dev/full"})
    assert result.out == "failed 0\n"
    assert len(result.err.splitlines()) == 1, result.err
    assert "No space left" in result.err


def test_a_trace_that_cannot_be_written_is_named_once(sim_cc: Compiler, tmp_path: Path) -> None:
    path = tmp_path / "absent" / "trace.json"
    result = sim_cc.run(sim_cc.build(MANY_CALLS), settings={"CUDLA_SIM_TRACE": str(path)})
    assert result.out == "failed 0\n"
    assert result.err == (
        f"cudla-sim: no trace: {path} cannot be written: No such file or directory\n"
    )


def test_an_observer_that_raises_is_dropped_and_named(
    sim: ModuleType, sim_api: CApi, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[str] = []

    def breaks(event: Event) -> None:
        calls.append(event.name)
        raise ValueError("what it was about")

    sim.process.events.subscribe(breaks)
    count = ctypes.c_uint64()
    for _ in range(3):
        assert sim_api.cudlaDeviceGetCount(ctypes.byref(count)) == 0
    assert calls == ["cudlaDeviceGetCount"]
    assert capsys.readouterr().err == "cudla-sim: breaks stops: what it was about\n"


def test_an_observer_can_leave_after_a_reset(sim: ModuleType, sim_api: CApi) -> None:
    seen: list[str] = []
    leave = sim.process.events.subscribe(lambda event: seen.append(event.name))
    sim.reset()
    count = ctypes.c_uint64()
    sim_api.cudlaDeviceGetCount(ctypes.byref(count))
    leave()
    sim_api.cudlaDeviceGetCount(ctypes.byref(count))
    assert seen == ["cudlaDeviceGetCount"]


def test_watching_does_not_change_what_calls_answer(sim: ModuleType, sim_api: CApi) -> None:
    """Texts that come back, and texts that are no memory, are arguments like others."""
    shown: list[str] = []
    sim.process.events.subscribe(lambda event: shown.append(event.details["arguments"]))
    text = ctypes.c_char_p()
    assert sim_api.cuGetErrorName(0, ctypes.byref(text)) == 0
    assert text.value == b"CUDA_SUCCESS"
    sim_api.CupvaGetLastError(ctypes.byref(text))
    assert sim_api.CupvaStreamSetName(None, 0x10) != 0
    assert [s.split("=")[0] for s in shown] == ["error", "message", "stream"]
    assert shown[-1] == "stream=NULL, name=0x10"
