"""Instructions of inline PTX that compute, against Python's integers and numpy's roundings."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Decimal, localcontext

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from cudla_sim.cuda_kernels.ptx import CannotTranslate, translate
from cudla_sim.cuda_kernels.ptx.statements import Statement

from .conftest import Run, compiled

ptx_numbers = compiled("ptx_numbers")
WORD, WIDE = (1 << 32) - 1, (1 << 64) - 1


def signed(x: int, bits: int = 32) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def held(x: int, least: int, most: int) -> int:
    return max(least, min(most, x))


def sat(x: int) -> int:
    return held(x, -(1 << 31), (1 << 31) - 1)


def cut24(x: int) -> int:
    return signed(x, 24)


def bytes_of(x: int, width: int = 8, sign: bool = False) -> list[int]:
    parts = [x >> i & (1 << width) - 1 for i in range(0, 32, width)]
    return [signed(p, width) for p in parts] if sign else parts


def chosen(a: int, b: int, places: list[int]) -> int:
    every = bytes_of(a) + bytes_of(b)
    return int.from_bytes(bytes(every[p % 8] for p in places), "little")


def funnel_left(low: int, high: int, n: int) -> int:
    return ((high << 32 | low) << (n & 31)) >> 32


def bfind(x: int) -> int:
    return x.bit_length() - 1 if x else WORD


def zero_extended(x: int, n: int) -> int:
    return x if n >= 32 else signed(x, n) if n else 0


def divided(a: int, b: int) -> int:
    """Towards zero; PTX leaves open what a division by zero gives, which is all bits here."""
    if b == 0:
        return WORD
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def pairs(found: Callable[[int, int], int], sign: bool = False) -> Callable[[int, int], int]:
    """Of both halves."""

    def both(a: int, b: int) -> int:
        low, high = map(found, bytes_of(a, 16, sign), bytes_of(b, 16, sign))
        return (high & 0xFFFF) << 16 | low & 0xFFFF

    return both


WORDS: dict[str, Callable[..., int]] = {
    "add.u16x2": pairs(lambda a, b: a + b),
    "min.s16x2": pairs(min, sign=True),
    "max.u16x2": pairs(max),
    "min.relu.s16x2": pairs(lambda a, b: max(min(a, b), 0), sign=True),
    "div.s32": lambda a, b: divided(signed(a), signed(b)),
    "rem.s32": lambda a, b: signed(a) - signed(b) * divided(signed(a), signed(b)) if b else WORD,
    "rem.u32": lambda a, b: a % b if b else WORD,
    "add.u32": lambda a, b: a + b,
    "sub.s32": lambda a, b: a - b,
    "mul.lo.u32": lambda a, b: a * b,
    "mul.hi.s32": lambda a, b: signed(a) * signed(b) >> 32,
    "add.sat.s32": lambda a, b: sat(signed(a) + signed(b)),
    "sub.sat.s32": lambda a, b: sat(signed(a) - signed(b)),
    "min.s32": lambda a, b: min(signed(a), signed(b)),
    "max.u32": max,
    "mul24.lo.s32": lambda a, b: cut24(a) * cut24(b),
    "mul24.hi.u32": lambda a, b: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 16,
    "bmsk.clamp.b32": lambda a, b: ((1 << min(b, 32)) - 1) << min(a, 32),
    "bmsk.wrap.b32": lambda a, b: ((1 << (b & 31)) - 1) << (a & 31),
    "szext.clamp.s32": zero_extended,
    "shl.b32": lambda a, b: a << min(b, 32),
    "shr.u32": lambda a, b: a >> min(b, 32),
    "shr.s32": lambda a, b: signed(a) >> min(b, 32),
    "set.lt.u32.s32": lambda a, b: WORD if signed(a) < signed(b) else 0,
    "mad.lo.s32": lambda a, b, c: a * b + c,
    "mad24.lo.u32": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c,
    "sad.s32": lambda a, b, c: c + abs(signed(a) - signed(b)),
    "dp4a.u32.s32": lambda a, b, c: c + int(np.dot(bytes_of(a), bytes_of(b, 8, True))),
    "dp2a.lo.s32.s32": lambda a, b, c: (
        c + int(np.dot(bytes_of(a, 16, True), bytes_of(b, 8, True)[:2]))
    ),
    "dp2a.hi.u32.u32": lambda a, b, c: c + int(np.dot(bytes_of(a, 16), bytes_of(b)[2:])),
    "shf.l.wrap.b32": funnel_left,
    "shf.r.clamp.b32": lambda low, high, n: (high << 32 | low) >> min(n, 32),
    "prmt.b32.f4e": lambda a, b, c: chosen(a, b, [(c & 3) + i for i in range(4)]),
    "prmt.b32.b4e": lambda a, b, c: chosen(a, b, [(c & 3) - i for i in range(4)]),
    "prmt.b32.rc16": lambda a, b, c: chosen(a, b, [2 * (c & 1), 2 * (c & 1) + 1] * 2),
    "prmt.b32.ecl": lambda a, b, c: chosen(a, b, [max(i, c & 3) for i in range(4)]),
    "slct.u32.s32": lambda a, b, c: a if signed(c) >= 0 else b,
    "vadd.u32.u32.u32.add": lambda a, b, c: a + b + c,
    "vabsdiff.s32.s32.s32.sat.max": lambda a, b, c: max(sat(abs(signed(a) - signed(b))), signed(c)),
    "vshr.u32.u32.u32.clamp.add": lambda a, b, c: (a >> min(b, 32)) + c,
    "abs.s32": lambda a: abs(signed(a)),
    "neg.s32": lambda a: -a,
    "not.b32": lambda a: ~a,
    "cnot.b32": lambda a: int(a == 0),
    "popc.b32": lambda a: a.bit_count(),
    "clz.b32": lambda a: 32 - a.bit_length(),
    "brev.b32": lambda a: int(f"{a:032b}"[::-1], 2),
    "bfind.s32": lambda a: bfind(a if signed(a) >= 0 else ~a & WORD),
    "bfind.shiftamt.u32": lambda a: 31 - bfind(a) if a else WORD,
    "cvt.s32.s8": lambda a: signed(a, 8),
    "cvt.sat.u8.s32": lambda a: held(signed(a), 0, 255),
    "cvt.u16.u32": lambda a: a & 0xFFFF,
    "cvt.sat.s16.u32": lambda a: held(a, 0, (1 << 15) - 1),
    "popc.b64": lambda a: a.bit_count(),
    "clz.b64": lambda a: 64 - a.bit_length(),
}
WIDES: dict[str, Callable[..., int]] = {
    "mul.hi.u64": lambda a, b: a * b >> 64,
    "mul.wide.s32": lambda a, b: signed(a) * signed(b),
}


def lines(done: str) -> list[tuple[str, list[int], int]]:
    found = []
    for line in done.splitlines():
        name, _, rest = line.partition(": ")
        given, _, result = rest.partition(" = ")
        found.append((name, [int(g, 16) for g in given.split()], int(result, 16)))
    return found


def test_integers(ptx_numbers: Run) -> None:
    done = ptx_numbers("words")
    assert (done.returncode, done.stderr) == (0, "cudaSuccess\n")
    seen = set()
    for name, given, result in lines(done.stdout):
        seen.add(name)
        want = WIDES[name](*given) & WIDE if name in WIDES else WORDS[name](*given) & WORD
        assert result == want, (name, [hex(g) for g in given], hex(result), hex(want))
    assert seen == {*WORDS, *WIDES}


def real(bits: int) -> np.float32:
    return np.float32(struct.unpack("<f", struct.pack("<I", bits))[0])


def exact(sign: str, a: np.float32, b: np.float32) -> Decimal:
    x, y = Decimal(float(a)), Decimal(float(b))
    return x + y if sign == "add" else x * y if sign == "mul" else x / y


def rounded(value: Decimal, way: str) -> np.float32:
    """The single below or above a real number."""
    near = np.float32(float(value))
    found = Decimal(float(near)) if np.isfinite(near) else Decimal("Infinity").copy_sign(value)
    down = way == ROUND_FLOOR or (way == ROUND_DOWN and value > 0)
    if found > value and down:
        return np.float32(np.nextafter(near, np.float32(-np.inf)))
    if found < value and not down:
        return np.float32(np.nextafter(near, np.float32(np.inf)))
    return near


def half(x: np.float32 | float) -> int:
    with np.errstate(over="ignore"):
        return int(np.float16(x).view(np.uint16))


def half_towards_zero(x: np.float32) -> int:
    value = np.float16(held_real(float(x)))
    if abs(float(value)) > abs(float(x)):
        value = np.nextafter(value, np.float16(0))
    return int(np.float16(value).view(np.uint16)) | (0x8000 if np.signbit(x) else 0)


def held_real(x: float) -> float:
    return max(-65504.0, min(65504.0, x))


def bfloat(x: np.float32) -> int:
    bits = int(np.float32(x).view(np.uint32))
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


def pair(bits: int) -> list[np.float16]:
    return [np.float16(v) for v in np.array([bits], np.uint32).view(np.float16)]


def joined(values: list[float]) -> int:
    return half(values[0]) | half(values[1]) << 16


def single(x: float) -> int:
    with np.errstate(over="ignore"):
        return int(np.float32(x).view(np.uint32))


def flushes(x: float) -> float:
    """A subnormal single is a zero of its sign."""
    small = abs(np.float32(x)) < np.finfo(np.float32).tiny
    return float(np.copysign(0.0, x)) if small else float(x)


def flushed(x: float) -> int:
    with np.errstate(over="ignore", under="ignore"):
        return single(flushes(float(np.float32(x))))


ROUNDED = {"add.rz.f32": ROUND_DOWN, "mul.rm.f32": ROUND_FLOOR, "div.rp.f32": ROUND_CEILING}


def of_reals(name: str, given: list[int]) -> int | None:
    """What the instruction gives; None where nobody says."""
    if "f16x2" in name and not name.startswith("cvt"):
        sides = list(zip(*(pair(g) for g in given), strict=True))
        with np.errstate(over="ignore", invalid="ignore"):
            do: dict[str, Callable[..., float]] = {
                "add": lambda a, b: float(a) + float(b),
                "mul": lambda a, b: float(a) * float(b),
                "max": lambda a, b: max(float(a), float(b)),
                "fma": lambda a, b, c: float(a) * float(b) + float(c),
                "neg": lambda a: -float(a),
            }
            found_pair = [do[name.partition(".")[0]](*side) for side in sides]
            return None if np.isnan(found_pair).any() else joined(found_pair)
    a, *more = (real(g) for g in given)
    if name in ROUNDED:
        b = more[0]
        if name.startswith("div") and b == 0:
            return None
        with localcontext() as context:
            context.prec = 200
            value = exact(name[:3], a, b)
            return single(float(rounded(value, ROUNDED[name]))) if value else None
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        found: dict[str, Callable[[], int | None]] = {
            "add.rn.f32": lambda: single(float(a + more[0])),
            "min.f32": lambda: single(float(min(a, more[0]))) if a != more[0] else None,
            "max.NaN.f32": lambda: single(float(max(a, more[0]))) if a != more[0] else None,
            "copysign.f32": lambda: given[0] & 1 << 31 | given[1] & (1 << 31) - 1,
            "add.sat.f32": lambda: single(max(0.0, min(1.0, float(a + more[0])))),
            "mul.ftz.f32": lambda: flushed(float(flushes(a)) * float(flushes(more[0]))),
            "add.ftz.f32": lambda: flushed(float(flushes(a)) + float(flushes(more[0]))),
            "cvt.rzi.f32.f32": lambda: single(float(np.trunc(a))),
            "cvt.rn.f16.f32": lambda: half(a),
            "cvt.rz.f16.f32": lambda: half_towards_zero(a),
            "cvt.rna.tf32.f32": lambda: given[0] + 0x1000 & ~0x1FFF & WORD,
            "cvt.rzi.s64.f32": lambda: int(a) & WIDE if abs(a) < 2.0**63 else (1 << 63) - 1,
            "cvt.rpi.u32.f32": lambda: held(int(np.ceil(a)), 0, WORD),
            "cvt.rn.f16x2.f32": lambda: half(more[0]) | half(a) << 16,
            "cvt.rn.bf16x2.f32": lambda: bfloat(more[0]) | bfloat(a) << 16,
        }
        return found[name]()


def test_real_numbers(ptx_numbers: Run) -> None:
    done = ptx_numbers("reals")
    assert (done.returncode, done.stderr) == (0, "cudaSuccess\n")
    checked = dict.fromkeys((name for name, _, _ in lines(done.stdout)), 0)
    for name, given, result in lines(done.stdout):
        want = of_reals(name, given)
        if want is not None:
            assert result == want, (name, [hex(g) for g in given], hex(result), hex(want))
            checked[name] += 1
    assert len(checked) == 23
    assert min(checked.values()) > 20


def test_a_carry_goes_from_statement_to_statement(ptx_numbers: Run) -> None:
    done = ptx_numbers("carries")
    assert (done.returncode, done.stderr) == (0, "cudaSuccess\n")
    for line in done.stdout.splitlines():
        a, b, total, rest, product = (int(word, 16) for word in line.split())
        assert total == a + b
        assert rest == a - b & (1 << 128) - 1
        assert product == a * (b & WORD)
    assert len(done.stdout.splitlines()) == 40


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("wgmma.fence.sync.aligned.b32", "wgmma.fence.sync.aligned.b32"),
        ("add.u32 %0, nobody, 1;", "nobody"),
        ("mov.u32 %0, %%envreg3;", "the special register %envreg3"),
        ("mov.u32 %7, 1;", "%7: there are 1 operands"),
        (".reg .b77 x; mov.u32 %0, 1;", ".reg .b77 x"),
        ("mov.u32 %0;", "mov.u32 %0"),
        ("redux.sync.add %0, 1, 2;.u32", "redux.sync.add %0, 1, 2"),
    ],
)
def test_what_is_not_known_is_said(text: str, said: str) -> None:
    from cudla_sim.cuda_kernels.rewrite import rewrite

    made = rewrite(f'__device__ void f(unsigned x) {{ asm("{text}" : "=r"(x)); }}\n')
    assert f'error("inline PTX: {said} is not known here")' in made


PIECES = [
    *(
        "mov.b32",
        "setp.lt.and.s32",
        "ld.shared.v2.u32",
        "shfl.sync.up.b32",
        "mma.sync",
        "cvt.u8.u32",
    ),
    *("bar.sync", "atom.add.u32", "@p", "{", "}", ";", ",", "%0", "%%tid.x", "[%1+4]", "{%0, %1}"),
    *(".reg .pred p;", "L:", "bra L;", "0f3f800000", "1", "|", "!p", "vote.sync.all.pred", "%"),
]


@hypothesis.given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_nothing_but_cannot_translate_is_raised(pieces: list[str]) -> None:
    statement = Statement(0, 0, " ".join(pieces), ("a", "b"), 1)
    with contextlib.suppress(CannotTranslate):
        assert translate(statement, 1).startswith("do { ")
