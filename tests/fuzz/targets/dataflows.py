"""Properties of dataflows that nobody would set."""

from __future__ import annotations

import ctypes
from random import Random
from typing import Any

from cudla_sim.constants import cupva
from cudla_sim.testing import prototypes as p

from ..mutate import INTERESTING
from .common import api, documented, pointer


def dataflow(random: Random) -> None:
    """Sets properties of dataflows to anything, compiles, and runs what compiles: it may not write
    beside the buffer that it was given."""
    c, size = api(), 4096
    memory = []
    for _ in range(3):
        device, host = pointer(), pointer()
        assert c.CupvaMemAlloc(ctypes.byref(device), size, 3, 1) == 0
        assert c.CupvaMemGetHostPointer(ctypes.byref(host), device) == 0
        ctypes.memset(host.value, len(memory) + 1, size)
        memory.append((device.value, host.value))
    guard, source, target = memory
    program, flow, stream = p.cupvaCmd_t(), pointer(), pointer()
    assert c.CupvaCmdProgramCreate(ctypes.byref(program), None) == 0
    kind = random.choice((1, 1, 1, 1, 4, 5, 6, 7, 0, 2, 9))
    words = (ctypes.byref(program), ctypes.byref(flow), kind, 0, 1.0)
    status = c.CupvaCmdProgramAddDataFlowHead(*words)
    if documented(status, cupva.cupvaError_t, "CupvaCmdProgramAddDataFlowHead") == 0:
        _set(c, flow, 6, source[0], 0)
        _set(c, flow, 7, target[0], 0)
        _set(c, flow, 2, random.choice((1, 8, 64)), random.choice((1, 4, 64)))
        for _ in range(random.randrange(12)):
            few = (0, 1, 2, 3, 4, 8, 16, 64, 100, -1, source[0], target[0] + 100)
            values = [
                random.choice(few) if random.random() < 0.7 else random.choice(INTERESTING)
                for _ in range(random.randrange(1, 8))
            ]
            _set(c, flow, random.randrange(0, 28), *values)
        status = c.CupvaCmdProgramCompileDataFlows(ctypes.byref(program))
        if documented(status, cupva.cupvaError_t, "CupvaCmdProgramCompileDataFlows") == 0:
            assert c.CupvaStreamCreate(ctypes.byref(stream), 1, 3) == 0
            array = (ctypes.c_void_p * 1)(ctypes.addressof(program))
            status = c.CupvaStreamSubmit(stream, array, None, 1, 1, -1, -1)
            documented(status, cupva.cupvaError_t, "CupvaStreamSubmit")
            assert c.CupvaStreamSynchronize(stream) == 0
            assert c.CupvaStreamDestroy(stream) == 0
    assert ctypes.string_at(guard[1], size) == b"\1" * size, "a dataflow wrote beside its buffer"
    assert c.CupvaCmdDestroy(ctypes.byref(program)) == 0
    for device, _ in memory:
        assert c.CupvaMemFree(device) == 0


def _set(c: Any, flow: Any, which: int, *values: int) -> None:
    signed = [((v + (1 << 63)) % (1 << 64)) - (1 << 63) for v in values]
    array = (ctypes.c_int64 * len(signed))(*signed)
    status = c.CupvaSimDataFlowSet(flow, which, array, len(signed))
    documented(status, cupva.cupvaError_t, "CupvaSimDataFlowSet")
