"""Inline PTX by the definitions of the PTX ISA ("cvt", "prmt", "cvt.pack", "ld.global.nc")."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import Run, compiled, nvcc

inline_ptx = compiled("inline_ptx")
WORDS = st.one_of(st.integers(-200, 300), st.integers(-(1 << 31), (1 << 31) - 1))


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def prmt(a: int, b: int, selector: int) -> int:
    """Each nibble chooses a byte of {b, a}; its highest bit has the byte's sign repeated."""
    source = (b & 0xFFFFFFFF) << 32 | a & 0xFFFFFFFF
    result = 0
    for place in range(4):
        nibble = selector >> 4 * place & 15
        byte = source >> 8 * (nibble & 7) & 0xFF
        if nibble & 8:
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << 8 * place
    return signed(result, 32)


def pack(a: int, b: int, c: int, least: int, most: int) -> int:
    """The bytes of a and b, saturated, below the two low bytes of c."""
    high, low = (min(max(value, least), most) & 0xFF for value in (a, b))
    return signed((c & 0xFFFF) << 16 | high << 8 | low, 32)


@given(f=st.floats(-300, 300, width=32), a=WORDS, b=WORDS, c=WORDS)
@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_instructions(inline_ptx: Run, f: float, a: int, b: int, c: int) -> None:
    done = inline_ptx(repr(f), a, b, c)
    assert done.returncode == 0, done.stderr
    *found, x, y, z, w = done.stdout.split()
    assert [int(word) for word in found] == [
        min(max(int(f), -128), 127),
        signed(a, 8),
        prmt(a, b, c),
        pack(a, b, c, -128, 127),
        pack(a, b, c, 0, 255),
    ]
    assert [x, y, z, w] == ["1", "2", "3", "4"]


def test_other_instructions_are_refused_with_their_line(tmp_path: Path) -> None:
    source = tmp_path / "other.cu"
    source.write_text(
        "__global__ void k(unsigned *to)\n{\n"
        '    asm("mov.u32 %0, %laneid;" : "=r"(*to));\n}\nint main() { k<<<1, 1>>>(0); }\n'
    )
    done = nvcc(source, "-o", tmp_path / "other")
    assert done.returncode != 0
    assert "mov.u32" in done.stderr
    assert "other.cu:3" in done.stderr
