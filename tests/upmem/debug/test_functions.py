"""The debugger's C functions against the naive model."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref
from pathlib import Path
from random import Random
from time import sleep
from typing import Any

import numpy as np
import pytest

import cudla_sim
from cudla_sim.capi.prototypes import dpu_context_t, dpu_set_t
from cudla_sim.upmem.machine import machine
from tests.upmem.dpu_side.bench import dpu_cc
from tests.upmem.host.hosting import Host, pointer, status
from tests.upmem.isa import naive
from tests.upmem.vendor.test_c_api import from_memory

from .programs import AGAIN, BREAKPOINT, ENDLESS, LOCKS, SUMMING, SUMS, TOTAL, elf, model

ALL, INTERNAL = 0x1B, 1
DONE = 0xFF


KINDS = {
    "registers": ctypes.c_uint32,
    "pcs": ctypes.c_uint16,
    "scheduling": ctypes.c_uint8,
    "zero_flags": ctypes.c_bool,
    "carry_flags": ctypes.c_bool,
    "atomic_register": ctypes.c_bool,
}


def array(context: dpu_context_t, name: str) -> Any:
    """One of its arrays, shared with C."""
    return ctypes.cast(getattr(context, name), ctypes.POINTER(KINDS[name]))


class Debugged:
    """One DPU and its context."""

    def __init__(self, host: Host, dpu: dpu_set_t) -> None:
        self.host, self.set = host, dpu
        self.dpu = host.api.dpu_from_set(dpu)
        self.context = dpu_context_t()
        rank = host.api.dpu_get_rank(self.dpu)
        host.ok(host.api.dpu_context_fill_from_rank(byref(self.context), rank))

    def array(self, name: str) -> Any:
        return array(self.context, name)

    def call(self, name: str, *words: object) -> int:
        function = getattr(self.host.api, f"dpu_{name}_for_dpu")
        return int(function(self.dpu, *words))

    def stop(self) -> None:
        """And reads everything."""
        self.host.ok(self.call("initialize_fault_process", byref(self.context), 0))
        self.host.ok(self.call("extract_context", byref(self.context)))

    def step(self, thread: int) -> None:
        given = byref(self.context)
        self.host.ok(self.call("execute_thread_step_in_fault", thread, given))
        self.host.ok(self.call("extract_context", given))

    def go_on(self) -> None:
        self.context.bkp_fault = False
        self.host.ok(self.call("finalize_fault_process", byref(self.context)))

    def instruction(self, index: int, word: int | None = None) -> int:
        """What was there; *word* is there from now on."""
        kept, new = (ctypes.c_uint64 * 1)(), (ctypes.c_uint64 * 1)(word or 0)
        self.host.ok(self.call("copy_from_iram", kept, index, 1))
        if word is not None:
            self.host.ok(self.call("copy_to_iram", index, new, 1))
        return int(kept[0])

    @property
    def running(self) -> list[int]:
        places = [self.array("scheduling")[n] for n in range(24)]
        order = sorted((n for n in range(24) if places[n] != DONE), key=places.__getitem__)
        assert len(order) == self.context.nr_of_running_threads
        return order

    def words(self, count: int = 1, at: int = 0) -> list[int]:
        """Of the variable ``shared``."""
        found = np.zeros(count, np.uint32)
        api = self.host.api
        self.host.ok(api.dpu_copy_from(self.set, b"shared", at, pointer(found), 4 * count))
        return [int(n) for n in found]

    def is_like(self, expected: naive.Dpu, open_flags: frozenset[int] = frozenset()) -> None:
        """``open_flags``: tasklets whose zero flag nobody knows."""
        for t in expected.tasklets:
            at = t.number
            assert self.array("registers")[24 * at : 24 * at + 24] == t.registers, at
            assert self.array("pcs")[at] == t.pc
            assert self.array("carry_flags")[at] == t.c
            assert at in open_flags or self.array("zero_flags")[at] == t.z
        assert self.array("atomic_register")[:256] == expected.atomic
        assert sorted(self.running) == [t.number for t in expected.tasklets if t.running]


@contextmanager
def debugged(host: Host, text: str, tasklets: int = 1, dpus: int = 1) -> Iterator[list[Debugged]]:
    with host.alloc(dpus) as made:
        from_memory(host, made, elf(text, tasklets))
        found = [Debugged(host, dpu) for dpu in host.dpus(made)]
        yield found
        for one in found:
            host.api.dpu_free_dpu_context(byref(one.context))


@contextmanager
def at_start(host: Host, text: str, tasklets: int = 1, dpus: int = 1) -> Iterator[list[Debugged]]:
    """As a debugger boots: a breakpoint instead of the first instruction."""
    with debugged(host, text, tasklets, dpus) as found:
        for one in found:
            first = one.instruction(0, BREAKPOINT)
            assert host.api.dpu_launch(one.set, 1) == status("DPU_FAULT")
            one.stop()
            assert one.context.bkp_fault
            assert (one.context.bkp_fault_thread_index, one.context.bkp_fault_id) == (0, 0)
            one.instruction(0, first)
        yield found


@pytest.mark.parametrize("seed", range(3))
def test_single_steps_of_any_tasklet(host: Host, seed: int) -> None:
    random = Random(seed)
    expected = model(SUMS)
    open_flags: frozenset[int] = frozenset()
    with at_start(host, SUMS, 4) as (one,):
        one.is_like(expected)
        for _ in range(150):
            chosen = random.choice(one.running)
            at = expected.tasklets[chosen].pc
            one.step(chosen)
            expected.step(expected.tasklets[chosen])
            if at in LOCKS:
                open_flags |= {chosen}
            elif at in SUMMING:
                open_flags -= {chosen}
            one.is_like(expected, open_flags)
        one.go_on()
        host.ok(host.api.dpu_sync(one.set))
        assert one.words() == [TOTAL]


def test_a_breakpoint_is_hit_by_each_tasklet(host: Host) -> None:
    hits = []
    with debugged(host, SUMS, 4) as (one,):
        kept = one.instruction(AGAIN, BREAKPOINT)
        assert host.api.dpu_launch(one.set, 1) == status("DPU_FAULT")
        for _ in range(8):
            one.stop()
            who = one.context.bkp_fault_thread_index
            hits.append(who)
            assert one.array("pcs")[who] == AGAIN
            assert one.array("registers")[24 * who + 1] == who + 1
            one.instruction(AGAIN, kept)
            one.step(who)
            assert one.array("pcs")[who] == AGAIN + 1
            one.instruction(AGAIN, BREAKPOINT)
            one.go_on()
            assert host.api.dpu_sync(one.set) & 0xFFFF == status("DPU_FAULT")
        one.stop()
        one.instruction(AGAIN, kept)
        one.go_on()
        host.ok(host.api.dpu_sync(one.set))
        assert one.words() == [TOTAL]
    assert set(hits) == {0, 1, 2, 3}


def test_registers_and_program_counters_can_be_changed(host: Host) -> None:
    text = "move r1, 7\n nop\n sw zero, 256, r1\n stop\n sw zero, 260, r1\n stop\n"
    with at_start(host, text) as (one,):
        one.array("registers")[1] = 99
        one.array("pcs")[0] = 4
        host.ok(one.call("restore_context", byref(one.context)))
        one.go_on()
        host.ok(host.api.dpu_sync(one.set))
        assert one.words(2) == [0, 99]


def test_a_dpu_that_runs_is_stopped_and_goes_on(host: Host) -> None:
    with debugged(host, ENDLESS) as (one,):
        host.ok(host.api.dpu_launch(one.set, 0))
        seen = 0
        for _ in range(3):
            one.stop()
            assert one.running == [0]
            assert one.array("pcs")[0] in (0, 1)
            assert not one.context.bkp_fault
            one.go_on()
            assert one.array("registers")[0] >= seen
            seen = one.array("registers")[0]
        one.stop()
        one.instruction(1, 0x7EF3_2000_0000)  # stop
        one.go_on()
        host.ok(host.api.dpu_sync(one.set))


def test_a_dpu_is_stopped_whose_going_on_is_still_queued(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The launch that it stopped in has not been put away yet: it is no news of the next one."""
    from cudla_sim.upmem.workers import pool

    slow = pool.WorkerPool._give_back

    def later(self: Any, program: Any, worker: Any, **how: Any) -> None:
        sleep(0.05)
        slow(self, program, worker, **how)

    monkeypatch.setattr(pool.WorkerPool, "_give_back", later)
    with debugged(host, ENDLESS) as (one,):
        host.ok(host.api.dpu_launch(one.set, 0))
        one.stop()
        one.go_on()
        one.stop()
        (rank,) = machine().ranks
        for _ in range(100):
            if not rank.launches:
                break
            sleep(0.05)
        assert not rank.launches, "it runs, although it was stopped"
        assert one.array("pcs")[0] in (0, 1)
        one.instruction(1, 0x7EF3_2000_0000)  # stop
        one.go_on()
        host.ok(host.api.dpu_sync(one.set))


@pytest.mark.parametrize("through_bytes", [False, True])
def test_a_checkpoint_continues_bit_by_bit(host: Host, through_bytes: bool) -> None:
    api = host.api
    with debugged(host, SUMS, 4, dpus=2) as (one, other):
        kept = one.instruction(AGAIN + 4, BREAKPOINT)
        assert api.dpu_launch(one.set, 1) == status("DPU_FAULT")
        one.stop()
        one.instruction(AGAIN + 4, kept)
        for _ in range(40):
            one.step(one.running[0])
        saved = dpu_context_t()
        host.ok(api.dpu_checkpoint_save(one.set, ALL, byref(saved)))
        if through_bytes:
            saved = _through_bytes(host, saved)
        saved.bkp_fault = False
        one.go_on()
        host.ok(api.dpu_sync(one.set))
        host.ok(api.dpu_checkpoint_restore(other.set, ALL, byref(saved)))
        host.ok(other.call("finalize_fault_process", byref(saved)))
        host.ok(api.dpu_sync(other.set))
        host.ok(api.dpu_checkpoint_free(byref(saved)))
        assert one.words(200) == other.words(200)
        assert one.words() == [TOTAL]
        one.stop()
        other.stop()
        assert one.array("registers")[: 4 * 24] == other.array("registers")[: 4 * 24]


def _through_bytes(host: Host, saved: dpu_context_t) -> dpu_context_t:
    size = host.api.dpu_checkpoint_get_serialized_context_size(byref(saved))
    # head, IRAM, MRAM, WRAM, registers, pcs, bits, flags, threads, order, faults
    assert size == 40 + 32768 + (64 << 20) + 65536 + 24 * 24 * 4 + 48 + 256 + 48 + 1 + 24 + 10
    data, length = ctypes.POINTER(ctypes.c_uint8)(), ctypes.c_uint32()
    host.ok(host.api.dpu_checkpoint_serialize(byref(saved), byref(data), byref(length)))
    host.ok(host.api.dpu_checkpoint_free(byref(saved)))
    assert length.value == size
    words = ctypes.cast(data, ctypes.POINTER(ctypes.c_uint32))
    assert words[:4] == [0xFABDDBAF, 18, 3, 0xFABDDBAF]
    made = dpu_context_t()
    host.ok(host.api.dpu_checkpoint_deserialize(data, length, byref(made)))
    again = dpu_context_t()
    for short in (0, 39, 41, 1000):
        answer = host.api.dpu_checkpoint_deserialize(data, short, byref(again))
        assert answer == status("ELF_INVALID_FILE")
    ctypes.CDLL(None).free(data)
    return made


def test_faults_of_memory_and_dma(host: Host) -> None:
    with debugged(host, "move r0, 0x10000\n lw r1, r0, 0\n stop\n") as (one,):
        assert host.api.dpu_launch(one.set, 1) == status("DPU_FAULT")
        one.stop()
        assert (one.context.mem_fault, one.context.dma_fault) == (True, False)
        assert one.array("pcs")[0] == 1
        one.go_on()  # by its context it is still in fault
        assert host.api.dpu_launch(one.set, 1) == status("DPU_FAULT")
        one.context.mem_fault = False
        one.array("registers")[0] = 256
        host.ok(one.call("restore_context", byref(one.context)))
        one.go_on()
        host.ok(host.api.dpu_sync(one.set))
        host.ok(host.api.dpu_launch(one.set, 1) and 0)
    with debugged(host, "move r0, 0xfff8\n ldma r0, r1, 1\n stop\n") as (one,):
        assert host.api.dpu_launch(one.set, 1) == status("DPU_FAULT")
        one.stop()
        assert (one.context.mem_fault, one.context.dma_fault) == (False, True)


def test_wrong_calls(host: Host) -> None:
    with at_start(host, SUMS, 4) as (one,):
        given = byref(one.context)
        step = "execute_thread_step_in_fault"
        assert one.call(step, 24, given) == status("INVALID_THREAD_ID")
        assert one.call(step, 5, given) == status("INTERNAL")
        assert "thread 5 does not run" in str(cudla_sim.last_explanation())
        words = (ctypes.c_uint64 * 2)()
        assert one.call("copy_from_iram", words, 4095, 2) == status("INVALID_IRAM_ACCESS")
        assert one.call("copy_from_iram", None, 0, 2) == status("INVALID_MEMORY_TRANSFER")
        assert one.call("copy_from_iram", 64, 0, 2) == status("INVALID_MEMORY_TRANSFER")
        assert one.call("copy_to_iram", 0, 64, 2) == status("INVALID_MEMORY_TRANSFER")
        assert one.call("extract_context", None) == status("INTERNAL")
        empty = dpu_context_t()
        empty.info.nr_threads, empty.info.nr_registers = 24, 24
        assert one.call("extract_context", byref(empty)) == status("INTERNAL")
        assert "dpu_context_fill_from_rank" in str(cudla_sim.last_explanation())
        whole = dpu_set_t(kind=0)
        assert host.api.dpu_checkpoint_save(whole, ALL, given) == status("INVALID_DPU_SET")
        kept = dpu_context_t()
        host.ok(host.api.dpu_checkpoint_save(one.set, INTERNAL, byref(kept)))
        assert host.api.dpu_checkpoint_restore(one.set, ALL, byref(kept)) == status("INTERNAL")
        assert "DPU_CHECKPOINT_IRAM" in str(cudla_sim.last_explanation())
        host.ok(host.api.dpu_checkpoint_free(byref(kept)))


def test_a_native_program_says_why_not(host: Host, tmp_path: Path) -> None:
    source, binary = tmp_path / "task.c", tmp_path / "task"
    source.write_text("int main(void) { return 0; }\n")
    assert dpu_cc(source, "-o", binary).returncode == 0
    with host.alloc(1) as made:
        host.ok(host.api.dpu_load(made, str(binary).encode(), None))
        one = Debugged(host, host.dpus(made)[0])
        assert one.call("initialize_fault_process", byref(one.context), 0) == status("INTERNAL")
        assert "UnsupportedOperation" in str(cudla_sim.last_explanation())
        assert "cudla-sim dpu debug" in str(cudla_sim.last_explanation())
        host.api.dpu_free_dpu_context(byref(one.context))


def test_checkpoints_of_the_python_package(tmp_path: Path) -> None:
    from dpu import DpuContext, DpuError, DpuSet

    binary = tmp_path / "task"
    binary.write_bytes(elf("add r1, zero, 5\n sw zero, 256, r1\n fault 9\n", 1).image())
    with DpuSet(nr_dpus=1, binary=str(binary)) as dpus:
        with pytest.raises(DpuError):
            dpus.exec()
        (one,) = dpus.dpus()
        saved = DpuContext.from_buffer(one.checkpoint(mram=False).serialize())
        assert saved.bkp_fault() == (0, 9)
        assert (saved.mem_fault(), saved.dma_fault(), saved.mram()) == (None, None, None)
        assert saved.threads[0].regs()[:2] == [0, 5]
        assert [t.pc() for t in saved.threads[:2]] == [2, 0]
        assert (saved.threads[0].zf(), saved.threads[0].cf()) == (False, False)
        assert (saved.wram() or [])[64] == 5
        assert (saved.iram() or [])[3] == 0
        assert not any(saved.atomic_bits())
        one.restore(saved, mram=False)
        with pytest.raises(DpuError):
            one.restore(saved)


def test_functions_of_older_releases(host: Host) -> None:
    api = host.api
    running = ctypes.c_bool()
    with debugged(host, ENDLESS) as (one,):
        host.ok(api.dpu_launch(one.set, 0))
        host.ok(api.dpu_trigger_fault_on_dpu(one.dpu))
        host.ok(api.dpu_get_thread_status_on_dpu(one.dpu, 0, byref(running)))
        assert running.value
        host.ok(api.dpu_get_thread_status_on_dpu(one.dpu, 1, byref(running)))
        assert not running.value
        wrong = api.dpu_get_thread_status_on_dpu(one.dpu, 24, byref(running))
        assert wrong == status("INVALID_THREAD_ID")
        host.ok(api.dpu_stop_threads_for_dpu(one.dpu, byref(one.context)))
        assert one.running == [0]
        host.ok(api.dpu_clear_fault_on_dpu(one.dpu))
        rank = api.dpu_get_rank(one.dpu)
        data, length = ctypes.POINTER(ctypes.c_uint8)(), ctypes.c_uint32()
        host.ok(api.dpu_serialize_context(rank, byref(one.context), byref(data), byref(length)))
        again = dpu_context_t()
        host.ok(api.dpu_deserialize_context(rank, byref(again), data, length.value))
        ctypes.CDLL(None).free(data)
        assert array(again, "pcs")[0] == one.array("pcs")[0]
        one.instruction(1, 0x7EF3_2000_0000)  # stop
        host.ok(api.dpu_resume_threads_for_dpu(one.dpu, byref(again)))
        host.ok(api.dpu_sync(one.set))
        api.dpu_free_dpu_context(byref(again))


@pytest.mark.parametrize("workers", [0, 1])
def test_one_dpu_stops_while_another_runs(host: Host, workers: int) -> None:
    """Also one that has no worker yet, because the other one's never ends."""
    cudla_sim.configure(upmem_workers=workers)
    with host.alloc(2) as made:
        from_memory(host, made, elf(ENDLESS))
        other, one = (Debugged(host, dpu) for dpu in host.dpus(made))
        host.ok(host.api.dpu_launch(made, 0))
        one.stop()
        assert one.running == [0]
        pc = one.array("pcs")[0]
        one.step(0)
        assert one.array("pcs")[0] == 1 - pc
        assert one.running == [0]
        other.stop()
        assert other.running == [0]
        for each in (one, other):
            each.instruction(1, 0x7EF3_2000_0000)  # stop
            each.go_on()
        host.ok(host.api.dpu_sync(made))
        for each in (one, other):
            host.api.dpu_free_dpu_context(byref(each.context))
