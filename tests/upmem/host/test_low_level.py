"""The functions for single ranks and DPUs beside jobs that are queued."""

from __future__ import annotations

import ctypes
import threading

import numpy as np

import cudla_sim
from cudla_sim.capi.prototypes import dpu_set_t

from .hosting import ASYNC, MRAM, Host, pointer, status
from .kernels import Kernel
from .test_jobs import CALLBACK_ASYNC, callback

IDLE = "int main(void) { return 0; }\n"


def test_a_copy_comes_behind_the_copies_that_were_queued(host: Host) -> None:
    data, out = np.arange(8, dtype=np.uint8), np.zeros(8, np.uint8)
    with host.alloc(1) as made:
        dpu = host.api.dpu_from_set(host.dpus(made)[0])
        for _ in range(20):
            data += 1
            host.ok(host.api.dpu_broadcast_to_symbol(made, MRAM, 64, pointer(data), 8, ASYNC))
            host.ok(host.api.dpu_copy_from_mram(dpu, pointer(out), 64, 8))
            assert (out == data).all()
        host.ok(host.api.dpu_sync(made))


def test_mram_is_free_in_a_callback_between_two_launches(host: Host, kernel: Kernel) -> None:
    out = np.zeros(8, np.uint8)
    answers: list[int] = []

    def look(part: dpu_set_t, *_: object) -> int:
        dpu = host.api.dpu_from_set(host.dpus(part)[0])
        answers.append(host.api.dpu_copy_from_mram(dpu, pointer(out), 0, 8))
        return 0

    function = callback(look)
    with host.alloc(1) as made:
        host.ok(host.api.dpu_load(made, str(kernel(IDLE)).encode(), None))
        for _ in range(2):
            host.ok(host.api.dpu_launch(made, 0))
            host.ok(host.api.dpu_callback(made, function, None, CALLBACK_ASYNC))
        host.ok(host.api.dpu_launch(made, 0))
        host.ok(host.api.dpu_sync(made))
    assert answers == [0, 0]


def test_a_launch_that_is_left_out_is_over(host: Host, kernel: Kernel) -> None:
    """Its DPUs are not taken for DPUs that run: dpu_boot_rank would refuse for ever."""
    api = host.api
    go = threading.Event()
    done, fault = ctypes.c_bool(), ctypes.c_bool()

    def fail(*_: object) -> int:
        go.wait(30)
        return status("TIMEOUT")

    failing = callback(fail)
    with host.alloc(1) as made:
        rank = api.dpu_rank_from_set(host.ranks(made)[0])
        host.ok(api.dpu_load(made, str(kernel(IDLE)).encode(), None))
        host.ok(api.dpu_callback(made, failing, None, CALLBACK_ASYNC))
        host.ok(api.dpu_launch(made, 0))
        go.set()
        while not cudla_sim.upmem.ranks[0].stopped:
            pass
        assert api.dpu_launch(made, 0) & 0xFFFF == status("TIMEOUT")  # not queued at all
        assert api.dpu_sync(made) & 0xFFFF == status("TIMEOUT")
        host.ok(api.dpu_status(made, ctypes.byref(done), ctypes.byref(fault)))
        assert (done.value, fault.value) == (True, False)
        host.ok(api.dpu_boot_rank(rank))
        host.ok(api.dpu_sync(made))
