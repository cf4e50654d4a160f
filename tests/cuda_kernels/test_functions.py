"""Functions of the CUDA Math API that the C library has not, against Python's numbers."""

from __future__ import annotations

import math
import struct
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from .conftest import PROGRAMS, nvcc

REALS: dict[str, Callable[[float, float, float, float], float]] = {
    "sinpi": lambda x, *_: math.sin(math.pi * math.remainder(x, 2)),
    "cospi": lambda x, *_: math.cos(math.pi * math.remainder(x, 2)),
    "sincospi": lambda x, *_: (
        math.sin(math.pi * math.remainder(x, 2)) + 2 * math.cos(math.pi * math.remainder(x, 2))
    ),
    "normcdf": lambda x, *_: 0.5 * math.erfc(-x / math.sqrt(2)),
    "erfcx": lambda x, *_: math.exp(x * x) * math.erfc(x),
    "rcbrt": lambda x, *_: math.copysign(abs(x) ** (-1 / 3), x),
    "rhypot": lambda a, b, *_: 1 / math.hypot(a, b),
    "norm3d": lambda a, b, c, _: math.hypot(a, b, c),
    "rnorm4d": lambda *x: 1 / math.hypot(*x),
    "norm": lambda *x: math.hypot(*x),
    "normf": lambda a, b, *_: math.hypot(a, b),
    # the integrals that define them, by the midpoint rule, which is exact for periodic functions
    "cyl_bessel_i0": lambda x, *_: sum(math.exp(x * math.cos(t)) for t in MIDDLES) / len(MIDDLES),
    "cyl_bessel_i1f": lambda x, *_: (
        sum(math.exp(x * math.cos(t)) * math.cos(t) for t in MIDDLES) / len(MIDDLES)
    ),
}
MIDDLES = [math.pi * (i + 0.5) / 64 for i in range(64)]
INVERSES: dict[str, Callable[[float], float]] = {
    "erfinv": math.erf,
    "erfinvf": math.erf,
    "erfcinv": math.erfc,
    "normcdfinv": lambda y: 0.5 * math.erfc(-y / math.sqrt(2)),
}
Line = tuple[str, list[float], list[int]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("functions") / "functions"
    done = nvcc("-O1", PROGRAMS / "functions.cu", "-o", target)
    assert done.returncode == 0, done.stderr
    return target


def told(program: Path, lines: list[Line]) -> tuple[list[tuple[float, int]], list[str]]:
    text = "".join(
        " ".join([name, *(repr(float(a)) for a in (reals + 4 * [0.0])[:4])])
        + "".join(f" {n}" for n in (whole + 3 * [0])[:3])
        + "\n"
        for name, reals, whole in lines
    )
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    found = done.stdout.splitlines()
    values = [line.split() for line in found[: len(lines)]]
    return [(float(a), int(b)) for a, b in values], found[len(lines) :]


def test_real_functions(program: Path) -> None:
    random = Random(1)
    lines: list[Line] = [
        (name, [random.uniform(-5, 5) for _ in range(4)], []) for name in REALS for _ in range(20)
    ]
    for (name, reals, _), (found, _) in zip(lines, told(program, lines)[0], strict=True):
        near = 1e-6 if name in ("normf", "cyl_bessel_i1f") else 4e-14
        assert found == pytest.approx(REALS[name](*reals), rel=near, abs=1e-14), (name, reals)


def test_inverses(program: Path) -> None:
    random = Random(2)
    lines: list[Line] = []
    for name in INVERSES:
        for _ in range(40):
            x = random.uniform(-1, 1) if name.startswith("erfinv") else random.uniform(0, 1)
            lines.append((name, [x * 10.0 ** random.choice((0, 0, -3, -12))], []))
    for (name, (x, *_), _), (found, _) in zip(lines, told(program, lines)[0], strict=True):
        near = 1e-6 if name == "erfinvf" else 1e-13
        assert INVERSES[name](found) == pytest.approx(x, rel=near), (name, x)
    ends: list[Line] = [("erfinv", [1.0], []), ("erfcinv", [2.0], []), ("erfinv", [2.0], [])]
    (one, _), (two, _), (none, _) = told(program, ends)[0]
    assert (one, two) == (math.inf, -math.inf)
    assert math.isnan(none)


def test_roundings(program: Path) -> None:
    lines: list[Line] = [
        ("double2float_rz", [-1.00000007], []),
        ("double2float_ru", [1.00000001], []),
        ("ll2float_rd", [], [(1 << 40) + 1]),
        ("ull2double_ru", [], [(1 << 60) + 1]),
        ("uint2float_rz", [], [0xFFFFFFFF]),
        ("hiloint2double", [], [0x3FF80000, 1]),
    ]
    found = [value for value, _ in told(program, lines)[0]]
    assert found[0] == -1.0
    assert found[1] == 1.0 + 2.0**-23
    assert Fraction(found[2]) == 1 << 40
    assert Fraction(found[3]) == (1 << 60) + (1 << 8)
    assert found[4] == 2.0**32 - 2.0**8
    assert found[5] == struct.unpack("<d", struct.pack("<Ii", 1, 0x3FF80000))[0]


def signed(x: int, bits: int = 32) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def parts(word: int, bits: int, sign: bool) -> list[int]:
    found = [word >> at & ((1 << bits) - 1) for at in range(0, 32, bits)]
    return [signed(x, bits) for x in found] if sign else found


def nth(mask: int, base: int, offset: int) -> int:
    """By the words of the guide."""
    if offset == 0:
        return base if mask >> base & 1 else 0xFFFFFFFF
    places = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [at for at in places if mask >> at & 1]
    return found[abs(offset) - 1] if len(found) >= abs(offset) else 0xFFFFFFFF


def dot(x: list[int], y: list[int], z: int) -> int:
    return sum(a * b for a, b in zip(x, y, strict=True)) + z


WHOLE: dict[str, Callable[[int, int, int], int]] = {
    "dp4a": lambda x, y, z: signed(dot(parts(x, 8, True), parts(y, 8, True), z)),
    "dp4a_u": lambda x, y, z: dot(parts(x, 8, False), parts(y, 8, False), z) % 2**32,
    "dp2a_lo": lambda x, y, z: signed(dot(parts(x, 16, True), parts(y, 8, True)[:2], z)),
    "dp2a_hi_u": lambda x, y, z: dot(parts(x, 16, False), parts(y, 8, False)[2:], z) % 2**32,
    "hadd": lambda x, y, _: signed(x) + signed(y) >> 1,
    "rhadd": lambda x, y, _: signed(x) + signed(y) + 1 >> 1,
    "uhadd": lambda x, y, _: x + y >> 1,
    "urhadd": lambda x, y, _: x + y + 1 >> 1,
    "funnelshift_lc": lambda x, y, z: (y << 32 | x) << min(z, 32) >> 32 & 0xFFFFFFFF,
    "funnelshift_rc": lambda x, y, z: (y << 32 | x) >> min(z, 32) & 0xFFFFFFFF,
    "popcll": lambda x, *_: x.bit_count(),
    "brevll": lambda x, *_: signed(int(f"{x:064b}"[::-1], 2), 64),
}


def test_integers(program: Path) -> None:
    random = Random(3)
    words = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
    lines: list[Line] = []
    for name in WHOLE:
        for _ in range(30):
            x, y, z = (random.choice([*words, random.getrandbits(32)]) for _ in range(3))
            z = random.randrange(70) if name.startswith("funnel") else z
            lines.append((name, [], [x, y, z]))
    found = [value for _, value in told(program, lines)[0]]
    for (name, _, whole), value in zip(lines, found, strict=True):
        assert value == WHOLE[name](*whole), (name, whole)
    places: list[Line] = [
        ("fns", [], [random.getrandbits(32), random.randrange(32), random.randrange(-9, 10)])
        for _ in range(60)
    ]
    for (_, _, whole), (_, value) in zip(places, told(program, places)[0], strict=True):
        assert value == nth(*whole), whole


def test_numbers_that_no_integer_is(program: Path) -> None:
    """PTX ISA, cvt: held at the ends; a NaN is 0, or the highest bit where one side has 64 bits."""
    lines: list[Line] = [
        ("float2int_rn", [math.nan], []),
        ("float2ll_rd", [math.nan], []),
        ("double2int_ru", [math.nan], []),
        ("double2uint_rz", [math.nan], []),
        ("double2int_ru", [1e30], []),
        ("double2ull_rn", [-5.0], []),
        ("float2uint_ru", [-0.5], []),
        ("float2ll_rd", [-2.5], []),
        ("double2int_ru", [-2.5], []),
    ]
    found = [value for _, value in told(program, lines)[0]]
    low = -(1 << 63)
    assert found == [0, low, -(1 << 31), 1 << 31, (1 << 31) - 1, 0, 0, -3, -2]


def test_lanes_and_halves(program: Path) -> None:
    _, rest = told(program, [])
    assert rest == ["1 1 1 1 64 128 -256", "0000ffff ffffffff 1"]
