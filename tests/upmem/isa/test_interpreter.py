"""The interpreter against the naive model: every form with every condition, and programs."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.upmem.isa.forms import Form
from cudla_sim.upmem.isa.table import FORMS

from . import naive, words
from .interpreter import FAULTS, STOP, Bench, Interpreter, interpreter

PATTERN = bytes(range(1, 256)) * 260
OPEN_FLAGS = {"MOVD", "SWAPD", "DIV_STEP", "ACQUIRE", "RELEASE"}
"""What these leave in the zero flag is not known."""


def outcome(dpu: naive.Dpu) -> list[object]:
    """State of tasklet 0."""
    first = dpu.tasklets[0]
    return [first.registers, first.pc, first.c]


def told(state: Bench) -> list[object]:
    return [list(state.registers[0]), state.pc[0], bool(state.carry[0])]


def compare(form: Form, one: words.Case, bench: Interpreter) -> None:
    """One word, then ``stop`` wherever it goes."""
    program = [one.word, *[STOP] * 4095]
    wram, mram = PATTERN[:65536], PATTERN[100 : 100 + 32768].ljust(1 << 16, b"\7")
    fault = None
    dpu = naive.Dpu(list(program))
    dpu.wram[:], dpu.mram[:] = wram, mram
    first = dpu.tasklets[0]
    first.registers[:] = one.registers
    first.z, first.c, first.running = one.z, one.c, True
    try:
        while first.running:
            dpu.step(first)
    except naive.Fault as error:
        fault = error
    state = bench.run([one.word], one.registers, wram, mram, z=one.z, c=one.c)
    what = f"{form.name} {one}"
    assert FAULTS[state.fault] == (fault.kind if fault else None), what
    if fault is not None and fault.kind == "software":
        assert state.code == fault.number
    assert told(state) == outcome(dpu), what
    if form.operation not in OPEN_FLAGS:
        assert bool(state.zero[0]) == first.z, what
    assert [bool(x) for x in state.atomic] == dpu.atomic, what
    assert bench.wram == bytes(dpu.wram), what
    assert bench.mram == bytes(dpu.mram), what


TESTABLE = [form for form in FORMS if words.testable(form)]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_every_form_with_every_condition(part: int) -> None:
    random = Random(part)
    bench = interpreter()
    for form in TESTABLE[part::4]:
        for number in sorted(form.conditions) or [None]:
            for _ in range(2):
                compare(form, words.case(random, form, number), bench)


@given(st.sampled_from(TESTABLE), st.randoms(use_true_random=False))
@settings(max_examples=300)
def test_any_form(form: Form, random: Random) -> None:
    compare(form, words.case(random, form), interpreter())
