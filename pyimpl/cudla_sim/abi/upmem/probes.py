"""Probes (dpu_probe.h): the program holds their state, so that it may copy and forget them."""

from __future__ import annotations

from typing import Any

from ...upmem import notices, probe
from ...upmem.machine import machine
from ..embedding import ffi
from .family import DpuError, Status, error, host_memory, upmem

_SIZE = ffi.sizeof("struct dpu_probe_t")
_IDLE, _WALL, _HARDWARE = 0x50524F42, 0x50524F43, 0x50524F44  # what no memory holds by chance


def _probe(pointer: Any) -> Any:
    found = host_memory(pointer, _SIZE, "probe")
    if found.state not in (_IDLE, _WALL, _HARDWARE):
        raise _misused("probe was not set up, or has ended; dpu_probe_init sets it up")
    return found


def _misused(text: str) -> DpuError:
    return error(Status.DPU_ERR_INTERNAL, text)


def _dpus() -> int:
    return sum(s.count for s in machine().sets)


@upmem.export("dpu_probe_init")
def init(name: Any, target: Any) -> None:
    ffi.memmove(host_memory(target, _SIZE, "probe"), bytes(_SIZE), _SIZE)
    target.state = _IDLE


@upmem.export("dpu_probe_deinit")
def deinit(target: Any) -> None:
    _probe(target).state = 0


@upmem.export("dpu_probe_start")
def start(target: Any) -> None:
    found = _probe(target)
    if found.state != _IDLE:
        raise _misused("probe runs already; dpu_probe_stop ends what dpu_probe_start began")
    begun = probe.begin(machine(), _dpus())
    found.begin, found.dpus, found.steps = begun.begin, begun.dpus, begun.steps
    found.state = _HARDWARE if begun.hardware else _WALL


@upmem.export("dpu_probe_stop")
def stop(target: Any) -> None:
    found = _probe(target)
    if found.state == _IDLE:
        raise _misused("probe does not run; dpu_probe_start begins an interval")
    begun = probe.Begun(found.state == _HARDWARE, found.begin, found.dpus, found.steps)
    seconds, joules, remark = probe.end(machine(), begun, _dpus())
    found.state = _IDLE
    found.intervals += 1
    found.seconds += seconds
    found.joules += joules
    if remark:
        notices.remark("dpu_probe_stop", remark)


@upmem.export("dpu_probe_get")
def get(target: Any, quantity: int, statistic: int, value: Any) -> None:
    found = _probe(target)
    if quantity not in (0, 1):
        raise _misused(f"quantity is {quantity}; DPU_ENERGY (0) and DPU_TIME (1) exist")
    if statistic not in (0, 1):
        raise _misused(f"statistic is {statistic}; DPU_ACCUMULATE (0) and DPU_AVERAGE (1) exist")
    host_memory(value, ffi.sizeof("double"), "value")
    total = found.seconds if quantity else found.joules
    value[0] = total / max(found.intervals, 1) if statistic else total
