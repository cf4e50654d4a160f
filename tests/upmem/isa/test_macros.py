"""Macros, repetitions, conditions and expressions beside GNU as, which knows no DPU but has the
same directives for data."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudla_sim.upmem.assembler import macros
from cudla_sim.upmem.assembler.assembling import Assembler
from cudla_sim.upmem.assembler.expressions import AsmError
from cudla_sim.upmem.assembler.program import build
from cudla_sim.upmem.assembler.start import Options
from cudla_sim.upmem.assembler.statements import LineError

DATA = """
.macro sum a, b=5, c:req
first\\@:
.if \\b > 4
    .quad \\a + \\b, \\c
.else
    .quad 99
    .exitm
    .quad 100
.endif
.endm
.macro twice word, more:vararg
    .quad \\word, \\word
    .ifnb \\more
    twice \\more
    .endif
.endm
.macro make name, value
    .macro get_\\name
    .quad \\value
    .endm
.endm
    .data
    sum 1, c=3
    sum 1, 2, 3
    sum 7 8 9
begin:
    .rept 3
    .quad first1 - first0
    .irp v, 2, 3, "4", (1 + 4)
    .quad \\v
    .endr
    .endr
    .irpc digit, 123
    .byte 0x\\digit\\()f
    .endr
    .balign 8
    twice 1, 2, 3
    make seven, 7
    get_seven
    .purgem get_seven
get_seven = 70
    .quad get_seven
    .ifdef nothing
    .quad -1
    .elseif get_seven == 71
    .quad -2
    .else
    .ifndef nothing
    .quad -3
    .endif
    .endif
COUNT = 0
    .rept 4
    .quad COUNT
COUNT = COUNT + 1
    .endr
    .ifc a b, a b
    .quad 5
    .endif
    .ifeqs "x", "y"
    .quad 6
    .endif
    .ifnes "x", "y"
    .quad 7
    .endif
    .iflt COUNT - 5
    .quad 8
    .endif
    .text
    .previous
    .quad 9
    .pushsection .text
    .popsection
    .quad 10
"""

SIGNS = ("+", "-", "*", "&", "|", "^", "==", "!=", "<>", "<", ">", "<=", ">=", "&&", "||")


def ours(text: str) -> bytes:
    assembler = Assembler()
    assembler.read(text, "t.S")
    assembler.finish()
    return assembler.bytes_of(assembler.sections[".data"])


def of_gnu_as(text: str, folder: Path) -> bytes:
    if not shutil.which("as") or not shutil.which("objcopy"):
        pytest.skip("there is no GNU as")
    (folder / "t.s").write_text(text)
    subprocess.run(["as", "t.s", "-o", "t.o"], cwd=folder, check=True)
    subprocess.run(
        ["objcopy", "-O", "binary", "-j", ".data", "t.o", "t.bin"], cwd=folder, check=True
    )
    return (folder / "t.bin").read_bytes()


def test_data_of_macros_is_that_of_gnu_as(tmp_path: Path) -> None:
    assert ours(DATA) == of_gnu_as(DATA, tmp_path)


NUMBERS = st.integers(0, 20).map(str)
EXPRESSIONS = st.recursive(
    NUMBERS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(SIGNS), inner).map(" ".join),
        st.tuples(inner, st.sampled_from(("<<", ">>")), st.integers(0, 8).map(str)).map(" ".join),
        st.tuples(inner, st.sampled_from(("/", "%")), st.integers(1, 9).map(str)).map(" ".join),
        inner.map("({})".format),
        inner.map("-({})".format),
        inner.map("~({})".format),
        inner.map("!({})".format),
    ),
    max_leaves=6,
)


@given(st.lists(EXPRESSIONS, min_size=30, max_size=60))
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_expressions_are_those_of_gnu_as(tmp_path: Path, expressions: list[str]) -> None:
    text = "\n".join(["    .data", *(f"    .quad {e}" for e in expressions), ""])
    assert ours(text) == of_gnu_as(text, tmp_path)


def test_instructions_of_macros() -> None:
    with_macros = """
    .macro push reg, at=0
    sw r22, \\at, \\reg
    .endm
main:
    .rept 2
    push r0
    push r1, at=4
    .endr
    jump r23
"""
    plain = "main:\n" + 2 * " sw r22, 0, r0\n sw r22, 4, r1\n" + " jump r23\n"
    assert build([(with_macros, "t.S")], Options()) == build([(plain, "t.S")], Options())


def test_include_is_found_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "seven.inc").write_text(".quad 7\n")
    assembler = Assembler()
    assembler.read('.data\n .include "seven.inc"\n', str(tmp_path / "t.S"))
    assembler.finish()
    assert assembler.bytes_of(assembler.sections[".data"]) == (7).to_bytes(8, "little")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (".macro f\n nop\n", "t.S:1: error: .macro has no .endm"),
        (".rept 3\n nop\n .endm\n", "t.S:3: error: .endm inside .rept"),
        (".endr\n", "t.S:1: error: .endr without .rept or .irp"),
        (".if 1\n", "t.S:1: error: this condition has no .endif"),
        (".else\n", "t.S:1: error: .else without .if"),
        (".if 0\n.else\n.elseif 1\n.endif\n", "t.S:3: error: .elseif after .else"),
        (".macro f a:req\n.endm\n f\n", "t.S:3: error: the macro 'f' needs its argument 'a'"),
        (".macro f a\n.endm\n f 1, 2\n", "t.S:3: error: the macro 'f' takes 1 arguments: '2'"),
        (".macro f\n frob\n.endm\n f\n", "(in a macro that is used at t.S:4)"),
        (".macro f\n f\n.endm\n f\n", "nested more than 100 deep"),
        (".rept 1 << 22\n.byte 1\n.endr\n", "give more than 1000 lines"),
        (".rept -1\n.endr\n", "-1 is -1: it cannot be repeated so often"),
        ('.error "not for v1B"\n', "t.S:1: error: not for v1B"),
        (".exitm\n", "t.S:1: error: .exitm outside a macro"),
        ('.include "none.inc"\n', "t.S:1: error: 'none.inc' cannot be read"),
        (".popsection\n", "t.S:1: error: .popsection without .pushsection"),
        (".macro f\n.if 1\n.endm\n f\n", "this condition has no .endif in its macro"),
    ],
)
def test_errors_name_the_line(text: str, complaint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(macros, "MOST", 1000)
    with pytest.raises(AsmError) as raised:
        ours(text)
    assert complaint in str(raised.value)


WORDS = (
    *(".macro f a", ".endm", ".rept 2", ".endr", ".if 1", ".if 0", ".else", ".endif", ".exitm"),
    *(" f 1", " .byte 1", ".irp x, 1, 2", ".irpc x, ab", ' .byte "\\x"', " .byte \\a", ".elseif 1"),
)


@given(st.lists(st.sampled_from(WORDS), max_size=14))
@settings(max_examples=300, deadline=None)
def test_any_order_is_assembled_or_refused(lines: list[str]) -> None:
    with contextlib.suppress(LineError):
        ours("\n".join([".data", *lines, ""]))
