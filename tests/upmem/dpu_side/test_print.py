"""printf on a DPU against the same conversions in Python."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .bench import Bench
from .conftest import Build

PRINTER = r"""
#include <attributes.h>
#include <stdint.h>
#include <stdio.h>
#include <defs.h>
__host char format[64];
__host double number;
__host int64_t integer;
__host uint32_t kind;
int main(void) {
    if (kind == 0)
        printf(format, number);
    else if (kind == 1)
        printf(format, integer);
    else
        printf(format, (int)integer);
    return 0;
}"""


@pytest.fixture
def printer(bench: Bench, build: Build) -> Bench:
    bench.load(build(PRINTER, 1, "-Wno-format-security", "-Wno-format-nonliteral"))
    return bench


def printed(bench: Bench, format_: str, value: float | int, kind: int) -> str:
    bench.var("format", np.uint8)[:] = np.frombuffer(format_.encode().ljust(64, b"\0"), np.uint8)
    bench.var("kind")[0] = kind
    if kind == 0:
        bench.var("number", np.float64)[0] = value
    else:
        bench.var("integer", np.int64)[0] = value
    assert not bench.launch(slots=[0]).faulted
    return bench.log()


SLOW = settings(
    max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
FLAGS = st.sampled_from(["", "-", "+", " ", "0", "#", "+0", "-#"])


@SLOW
@given(
    bits=st.integers(0, 2**64 - 1),
    flags=FLAGS,
    width=st.integers(0, 20),
    precision=st.integers(0, 20),
    conversion=st.sampled_from("feEgG"),
)
def test_floating(
    printer: Bench, bits: int, flags: str, width: int, precision: int, conversion: str
) -> None:
    (value,) = struct.unpack("<d", struct.pack("<Q", bits))
    if value != value:
        return
    format_ = f"%{flags}{width or ''}.{precision}{conversion}"
    assert printed(printer, format_, value, 0) == format_ % value


@SLOW
@given(
    value=st.floats(-1e6, 1e6).map(lambda x: round(x, 3))
    | st.sampled_from([0.5, 1.5, 2.5, 0.125, 9.995]),
    precision=st.integers(0, 6),
    conversion=st.sampled_from("feg"),
)
def test_everyday_numbers(printer: Bench, value: float, precision: int, conversion: str) -> None:
    format_ = f"%.{precision}{conversion}"
    assert printed(printer, format_, value, 0) == format_ % value


@SLOW
@given(
    value=st.integers(-(2**63), 2**63 - 1),
    flags=st.sampled_from(["", "-", "+", " ", "0", "-+"]),
    width=st.integers(0, 24),
    precision=st.none() | st.integers(0, 22),
)
def test_integers(
    printer: Bench, value: int, flags: str, width: int, precision: int | None
) -> None:
    dot = "" if precision is None else f".{precision}"
    for length, kind, bits in (("l", 1, 64), ("ll", 1, 64), ("", 2, 32)):
        narrow = (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
        if precision == 0 and narrow == 0:
            continue  # C prints nothing, Python a 0
        if precision is not None and "0" in flags:
            continue  # C ignores the flag, Python does not
        spec = f"%{flags}{width or ''}{dot}"
        assert printed(printer, f"{spec}{length}d", value, kind) == f"{spec}d" % narrow
        plain = flags.replace("+", "").replace(" ", "")
        spec = f"%{plain}{width or ''}{dot}"
        for conversion in "xXou":
            wanted = f"{spec}{conversion}" % (narrow % (1 << bits))
            assert printed(printer, f"{spec}{length}{conversion}", value, kind) == wanted


def test_special_conversions(bench: Bench, build: Build) -> None:
    source = r"""
#include <stdio.h>
#include <stdint.h>
#include <inttypes.h>
int main(void) {
    printf("%c|%5s|%-5s|%.2s|%%|%b|", 'x', "ab", "ab", "abcdef", 5);
    printf("%*d|%-*d|%.*f|%hhd|%hu|%#x|%#o|", 5, 42, 4, 7, 1, 2.25, 300, 65537, 255, 8);
    printf("%s|%" PRIu64 "|%" PRId64 "|", (char *)0, UINT64_MAX, INT64_MIN);
    printf("%zu|%f|%E|", sizeof(int), 1.0 / 3, 1e300);
    puts("end");
    putchar('\n');
    printf("%f %e %G\n", 1e999, -1e999, 0.0);
    return 0;
}"""
    bench.load(build(source, 1, "-Wno-literal-range", "-Wno-literal-conversion"))
    assert not bench.launch(slots=[0]).faulted
    assert bench.log() == (
        "x|   ab|ab   |ab|%|10100000000000000000000000000000|   42|7   |2.2|44|1|0xff|010|"
        "(null)|18446744073709551615|-9223372036854775808|4|0.333333|1.000000E+300|end\n\n"
        "inf -inf 0\n"
    )


def test_buffer_that_is_too_small(bench: Bench, build: Build) -> None:
    source = r"""
#include <stdio.h>
#include <attributes.h>
#include <stdint.h>
STDOUT_BUFFER_INIT(64)
__host volatile uint32_t lines;
int main(void) { for (uint32_t i = 0; i < lines; i++) printf("line %02u\n", i); return 0; }"""
    bench.load(build(source))
    for lines, wrapped in ((8, False), (9, True), (2, False), (0, False)):
        bench.var("lines")[0] = lines
        assert not bench.launch(slots=[0]).faulted
        side = bench.side()
        assert (side.log_wrapped, side.log_total, side.log_bytes) == (
            wrapped,
            8 * lines,
            min(64, 8 * lines),
        )
