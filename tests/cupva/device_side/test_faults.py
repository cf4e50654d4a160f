"""What goes wrong in a kernel is told with its cause, variable, function, file and line."""

from __future__ import annotations

import re
from platform import machine
from time import monotonic

import pytest

from cudla_sim.cupva.dma import Move
from cudla_sim.cupva.workers.protocol import Cause
from cudla_sim.cupva.workers.worker import LaunchRequest

from .bench import KERNELS, Bench, dram
from .bench import modes as names
from .test_launch import copying

M = names("modes.h")


def line(file: str, text: str) -> int:
    """The number of the first line of a kernel that has a text."""
    lines = (KERNELS / file).read_text().splitlines()
    return next(n for n, content in enumerate(lines, 1) if text in content)


@pytest.mark.parametrize(
    ("mode", "cause", "text", "where"),
    [
        ("READ_NULL", Cause.MEMORY, r"NULL pointer \(address 0x0\)", "(volatile int32_t *)(uint"),
        ("READ_WILD", Cause.MEMORY, r"VMEM offset 0x30000 \(superbank A\)", "0x10030000"),
        ("DIVIDE", Cause.DIVISION, "division by zero; in divide", "return a / *b"),
        ("NAN_IS_AN_ERROR", Cause.NAN, "made a NaN; in root", "difference = *x - *x"),
        ("ILLEGAL", Cause.INSTRUCTION, "illegal instruction", "__builtin_trap"),
        ("ASSERT", Cause.ABORT, "assertion failed", "CUPVA_VPU_ASSERT"),
    ],
)
def test_fault(modes: Bench, mode: str, cause: Cause, text: str, where: str) -> None:
    result = modes.launch(mode=M[mode])
    assert (result.status, result.cause) == ("fault", cause)
    assert re.search(text, result.text)
    assert f"(modes.c:{line('modes.c', where)})" in result.text
    assert modes.launch(mode=M["RETURN"], answer=3).value == 3, "the next launch is a fresh one"


@pytest.mark.skipif(machine() != "x86_64", reason="arm64 does not report invalid operations")
def test_a_nan_is_an_error_until_it_is_allowed(modes: Bench) -> None:
    """For each launch anew."""
    assert modes.launch(mode=M["NAN_IS_A_VALUE"]).value == 1
    result = modes.launch(mode=M["NAN_AT_FIRST"])
    assert (result.status, result.cause) == ("fault", Cause.NAN)


def test_invalid_operations_that_make_no_nan(modes: Bench) -> None:
    """x86-64 gives the least integer for what no integer can be."""
    result = modes.launch(mode=M["INVALID_WITHOUT_NAN"])
    assert (result.status, result.text) == ("done", "")
    assert machine() != "x86_64" or result.value == 4


def test_the_head_of_a_ring_behind_its_end(modes: Bench) -> None:
    """A vector from byte 126 of a ring of 128: 126, 127, 0, 1 ...; 64 bytes are copied."""
    assert modes.launch(mode=M["RINGS"]).value == 127_001_192


def test_stack_overflow(modes: Bench) -> None:
    result = modes.launch(mode=M["RECURSE"])
    assert (result.status, result.cause) == ("fault", Cause.STACK)
    assert "stack overflow; in deeper" in result.text


def test_kernel_that_exits(modes: Bench) -> None:
    assert modes.launch(mode=M["EXIT"]).status == "died"
    assert modes.launch(mode=M["RETURN"], answer=3).value == 3


def test_overrun_names_the_variable(modes: Bench) -> None:
    result = modes.launch(mode=M["OVERRUN"])
    assert (result.status, result.cause) == ("fault", Cause.OVERRUN)
    assert result.text.startswith("guarded was overrun")
    assert "0 bytes behind the end of guarded (100 bytes)" in result.text


def test_overrun_by_a_dataflow(modes: Bench) -> None:
    """The engine is told to write one byte more than the variable has."""
    side = modes.side("guarded")
    side.limits = (0, 1 << 20)
    flow = modes.static("", Move(101, 1, 1, dram(0), side))
    modes.dram[:101] = 255
    result = modes.launch([flow], mode=M["RETURN"])
    assert result.text.startswith("guarded was overrun")


def test_hang_is_ended_at_the_deadline(modes: Bench) -> None:
    begin = monotonic()
    result = modes.launch(mode=M["HANG"], deadline_s=0.2)
    assert result.status == "timeout"
    assert monotonic() - begin < 2
    assert "did not end in 0.2 s" in result.text
    assert "CUPVA_VPU_MAIN (modes.c:" in result.text
    assert modes.launch(mode=M["RETURN"], answer=3).value == 3


def test_a_deadline_of_the_program_is_not_taken_for_a_setting(modes: Bench) -> None:
    for deadline_s in (0.0, 0.0499976):
        text = modes.launch(mode=M["HANG"], deadline_s=deadline_s).text
        assert text.startswith(f"the kernel did not end in {deadline_s:.3g} s")
        assert "CUDLA_SIM_WORKER_TIMEOUT" not in text


def test_sync_without_trigger_is_told_at_once(modes: Bench) -> None:
    begin = monotonic()
    result = modes.launch(copying(modes), mode=M["SYNC_FIRST"])
    assert monotonic() - begin < 2
    assert (result.status, result.cause, result.flow) == ("dma_timeout", Cause.SYNC, 0)
    assert "dataflow 0 (handler 'source')" in result.text
    assert "0 of 4 triggers were given, 0 syncs done before" in result.text
    assert "would wait 60 s" in result.text


def test_triggers_beyond_the_end(modes: Bench) -> None:
    result = modes.launch(copying(modes), mode=M["COPY_WITH_TWO_TOO_MANY"])
    assert (result.status, result.cause) == ("fault", Cause.TRIGGER)
    assert "(handler 'source') was triggered 6 times; it has 4 triggers" in result.text


def test_dataflow_left_unfinished(modes: Bench) -> None:
    result = modes.launch(copying(modes), mode=M["LEAVE_EARLY"])
    assert (result.status, result.flow, result.triggers) == ("unfinished", 0, (1, 0))
    assert "dataflow 0 (handler 'source') did not: 1 of 4 triggers" in result.text


def test_handler_without_dataflow(modes: Bench) -> None:
    result = modes.launch(copying(modes), mode=M["NO_HANDLER"])
    assert (result.status, result.cause) == ("fault", Cause.HANDLER)
    assert "handler without a dataflow" in result.text


def test_descriptor_that_leaves_memory(modes: Bench) -> None:
    away = dram((16 << 20) - 4)
    away.limits = (0, 1 << 40)
    flow = modes.static("", Move(8, 1, 1, away, modes.side("in")))
    result = modes.worker.launch(LaunchRequest(flows=[flow]), 5)
    assert (result.status, result.cause) == ("fault", Cause.RANGE)
    assert "dataflow 0 leaves its memory" in result.text
