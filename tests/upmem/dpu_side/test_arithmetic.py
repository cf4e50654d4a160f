"""Division and floating point as the DPU's library has them, also where C leaves them open."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cudla_sim.upmem.toolchain.arithmetic import lower

from .bench import Bench
from .conftest import Build

COUNT = 64
KERNEL = f"""
#include <attributes.h>
#include <stdint.h>
typedef TYPE T;
typedef BITS B;
__host B a[{COUNT}], b[{COUNT}], sums[{COUNT}], differences[{COUNT}], products[{COUNT}];
__host B quotients[{COUNT}];
__host int32_t signed32[{COUNT}];
__host uint32_t unsigned32[{COUNT}];
__host int64_t signed64[{COUNT}];
__host uint64_t unsigned64[{COUNT}];
__host int16_t signed16[{COUNT}];
__host uint64_t wide[{COUNT}];
static T number(B bits) {{ union {{ B b; T t; }} u = {{bits}}; return u.t; }}
static B bits(T t) {{ union {{ T t; B b; }} u = {{t}}; return u.b; }}
int main(void) {{
    for (int i = 0; i < {COUNT}; i++) {{
        T x = number(a[i]), y = number(b[i]);
        sums[i] = bits(x + y);
        differences[i] = bits(x - y);
        products[i] = bits(x * y);
        quotients[i] = bits(x / y);
        signed32[i] = (int32_t)x;
        unsigned32[i] = (uint32_t)x;
        signed64[i] = (int64_t)x;
        unsigned64[i] = (uint64_t)x;
        signed16[i] = (int16_t)x;
        union {{ double d; uint64_t b; }} w = {{x}};
        wide[i] = w.b;
    }}
    return 0;
}}"""
WIDTHS = {"float": (32, 23, np.uint32, np.float32), "double": (64, 52, np.uint64, np.float64)}


def special(width: int, mantissa: int) -> list[int]:
    """Zeros, subnormals, limits, infinities, quiet and signalling NaNs, integers at the edges."""
    one = 1 << mantissa
    top = ((1 << (width - 1 - mantissa)) - 1) << mantissa
    found = [0, 1, 5, one - 1, one, one + 1, top - 1, top, top + 1, top | one >> 1, top | one - 1]
    kind = np.float32 if width == 32 else np.float64
    for value in (0.5, 1.0, 3e9, 2.0**31, 2.0**31 - 1, 2.0**32, 2.0**63, 2.0**64, 7e4, 1e-39):
        found.append(int(np.array([value], kind).view(f"u{width // 8}")[0]))
    return [sign << (width - 1) | bits for bits in found for sign in (0, 1)]


def cases(kind: str) -> st.SearchStrategy[list[tuple[int, int]]]:
    width, mantissa, _, _ = WIDTHS[kind]
    bits = st.one_of(st.integers(0, (1 << width) - 1), st.sampled_from(special(width, mantissa)))
    return st.lists(st.tuples(bits, bits), min_size=COUNT, max_size=COUNT)


class Model:
    """compiler-rt's subroutines by their results."""

    def __init__(self, kind: str) -> None:
        self.width, self.mantissa, self.bits, self.float = WIDTHS[kind]
        self.sign = 1 << (self.width - 1)
        self.inf = ((1 << (self.width - 1 - self.mantissa)) - 1) << self.mantissa
        self.quiet = 1 << (self.mantissa - 1)

    def value(self, bits: int) -> np.floating:
        return np.array([bits], self.bits).view(self.float)[0]  # type: ignore[no-any-return]

    def is_nan(self, bits: int) -> bool:
        return bits & ~self.sign > self.inf

    def operation(self, name: str, a: int, b: int) -> int:
        x, y = self.value(a), self.value(b)
        if name == "sub":
            b ^= self.sign
        if self.is_nan(a):
            return a | self.quiet
        if self.is_nan(b):
            return b | self.quiet
        with np.errstate(all="ignore"):
            found = {"add": x + y, "sub": x - y, "mul": x * y, "div": x / y}[name]
        bits = int(np.array([found], self.float).view(self.bits)[0])
        if self.is_nan(bits):
            return self.inf | self.quiet
        if name == "div" and bits & ~self.sign < 1 << self.mantissa:
            return bits & self.sign
        return bits

    def integer(self, bits: int, least: int, most: int) -> int:
        if self.is_nan(bits):
            return least if bits & self.sign else most
        value = float(self.value(bits))
        if math.isinf(value):
            return least if value < 0 else most
        return min(max(int(value), least), most)

    def wide(self, bits: int) -> int:
        if self.width == 64:
            return bits
        if self.is_nan(bits):
            sign, rest = bits >> 31, bits & ((1 << 23) - 1)
            return sign << 63 | 0x7FF << 52 | rest << 29
        return int(np.array([float(self.value(bits))]).view(np.uint64)[0])


@pytest.fixture(autouse=True)
def _clang(route: str) -> None:
    if not route.startswith("clang"):
        pytest.skip("with gcc, floating point is this machine's")


def compare(kind: str, pairs: list[tuple[int, int]], bench: Bench, build: Build) -> None:
    model = Model(kind)
    program = build(KERNEL.replace("TYPE", kind).replace("BITS", f"uint{model.width}_t"))
    bench.load(program)
    for name, column in zip("ab", zip(*pairs, strict=True), strict=True):
        bench.var(name, model.bits)[:] = np.array(column, model.bits)
    assert not bench.launch(slots=[0]).faulted

    def check(name: str, dtype: type, expected: Callable[[int, int], int]) -> None:
        found: NDArray[np.integer] = bench.var(name, dtype)
        for (a, b), value in zip(pairs, found.tolist(), strict=True):
            assert value == expected(a, b), f"{name}: {a:#x}, {b:#x}"

    for name, operation in (
        ("sums", "add"),
        ("differences", "sub"),
        ("products", "mul"),
        ("quotients", "div"),
    ):
        check(name, model.bits, lambda a, b, op=operation: model.operation(op, a, b))  # type: ignore[misc]
    for dtype, name in ((np.int32, "signed32"), (np.uint32, "unsigned32"),
                        (np.int64, "signed64"), (np.uint64, "unsigned64")):  # fmt: skip
        limits = np.iinfo(dtype)
        least, most = int(limits.min), int(limits.max)
        check(name, dtype, lambda a, _, x=least, y=most: model.integer(a, x, y))  # type: ignore[misc]
    check("signed16", np.int16, lambda a, _: _narrow(model.integer(a, -(1 << 31), (1 << 31) - 1)))
    check("wide", np.uint64, lambda a, _: model.wide(a))


def _narrow(value: int) -> int:
    return (value + 0x8000) % 0x10000 - 0x8000


@pytest.mark.parametrize("kind", WIDTHS)
def test_special_operands(kind: str, bench: Bench, build: Build) -> None:
    values = special(*WIDTHS[kind][:2])
    pairs = [(a, b) for a in values for b in values]
    for start in range(0, len(pairs), COUNT):
        part = pairs[start : start + COUNT]
        compare(kind, part + [(0, 0)] * (COUNT - len(part)), bench, build)


@pytest.mark.parametrize("kind", WIDTHS)
@given(data=st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_operands(kind: str, data: st.DataObject, bench: Bench, build: Build) -> None:
    compare(kind, data.draw(cases(kind)), bench, build)


def test_integer_division_before_any_optimisation() -> None:
    """A compiler may conclude from a division that its operands are not INT_MIN and -1."""
    lowered = lower(
        "define i32 @f(i32 %a, i32 %b) {\n"
        "  %q = sdiv i32 %a, %b, !dbg !7\n"
        "  %r = srem i64 ptrtoint (i8* getelementptr (i8, i8* @x, i32 1) to i64), 3\n"
        "  %s = sdiv exact i32 %a, 4\n"
        "  %t = fdiv <2 x float> %v, %w\n"
        "  ret i32 %q\n}\n"
    )
    assert "%q = call i32 @__dpu_sdiv_i32(i32 %a, i32 %b), !dbg !7" in lowered
    assert (
        "call i64 @__dpu_srem_i64(i64 ptrtoint (i8* getelementptr (i8, i8* @x, i32 1) to i64), "
        "i64 3)" in lowered
    )
    assert "%s = sdiv exact i32 %a, 4" in lowered
    assert "%t = fdiv <2 x float> %v, %w" in lowered
    assert lowered.count("define internal i32 @__dpu_sdiv_i32") == 1


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_the_smallest_integer_divided_by_minus_one(level: str, bench: Bench, build: Build) -> None:
    program = build(
        """
#include <attributes.h>
#include <limits.h>
__host volatile int a = INT_MIN, b = -1;
__host volatile long c = LONG_MIN, d = -1;
__host int right;
static int divide(int x, int y) { return x / y; }
int main(void) {
    right = a / b == INT_MIN && a % b == 0 && c / d == LONG_MIN && c % d == 0;
    right += divide(INT_MIN, b) == INT_MIN && divide(a, -1) == INT_MIN;
    return 0;
}""",
        1,
        level,
    )
    assert bench.run(program).status == "done"
    assert bench.var("right")[0] == 2
