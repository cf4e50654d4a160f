"""The vendor's print buffer, which holds formats and arguments."""

from __future__ import annotations

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.core.process import Process
from cudla_sim.upmem.errors import DpuError, Status
from cudla_sim.upmem.printed import LogFormatError, text

from .elves import MRAM, OBJECT, Elf, program
from .running import running
from .words import STOP


def message(formats: str, *arguments: bytes) -> bytes:
    body = formats.encode() + b"\0" + b"".join(arguments)
    return body + bytes(-len(body) % 8)


def word(value: int) -> bytes:
    return struct.pack("<I", value & 0xFFFF_FFFF)


def long(value: int) -> bytes:
    return struct.pack("<q", value)


def real(value: float) -> bytes:
    return struct.pack("<d", value)


# What C's printf writes for the same conversions.
CASES = [
    (message("%s%d%s", b"n = \0", word(-5), b"\n\0"), "n = -5\n"),
    (message("%u%x%X%o", word(-1), word(48879), word(48879), word(8)), "4294967295beefBEEF10"),
    (message("%5d%-5d%05d", word(1), word(2), word(3)), "    12    00003"),
    (message("%ld%lu%lx", long(-7), long(-7), long(255)), "-718446744073709551609ff"),
    (message("%f%.2f%e", real(1.5), real(2.345), real(1000.0)), "1.5000002.351.000000e+03"),
    (message("%c%c", b"A", b"\n"), "A\n"),
    (message("%b", word(5)), "101" + "0" * 29),
    (message("%#x%#o%p", word(255), word(8), word(4096)), "0xff0100x1000"),
    (message("%10s%.2s", b"abc\0", b"abc\0"), "       abcab"),
    (message("%%%d", word(3)), "%3"),
    (message("%i", word(9)), "9"),
    (b"", ""),
]  # fmt: skip


@pytest.mark.parametrize(("log", "expected"), CASES)
def test_messages(log: bytes, expected: str) -> None:
    assert text(log) == expected


def test_messages_follow_each_other() -> None:
    assert text(b"".join(log for log, _ in CASES)) == "".join(expected for _, expected in CASES)


@pytest.mark.parametrize("log", [b"%d", b"%d\0\1\2", b"%s\0abc", b"\0\0%lx\0" + bytes(7)])
def test_damaged_logs(log: bytes) -> None:
    with pytest.raises(LogFormatError):
        text(log)


@given(st.binary(max_size=64))
def test_any_bytes(log: bytes) -> None:
    with contextlib.suppress(LogFormatError):
        assert isinstance(text(log), str)


def printing(log: bytes, written: int | None = None, wrapped: int = 0, size: int = 64) -> Elf:
    """A program that has a log when it is loaded."""
    elf = program([STOP], mram=log.ljust(size, b"\0"))
    state = struct.pack("<2I", len(log) if written is None else written, wrapped)
    elf.sections.append((".data", 16, state))
    elf.symbols += [
        ("__stdout_buffer_state", 16, 8, ".data", OBJECT),
        ("__stdout_buffer", MRAM, size, ".mram", OBJECT),
    ]
    return elf


def test_the_log_of_a_dpu(process: Process) -> None:
    with running(process) as dpus:
        dpus.load(printing(message("%s%d", b"it is \0", word(42)))).launch()
        assert dpus.dpus.dpus[0].log == "it is 42"


@pytest.mark.parametrize(
    ("elf", "status", "what"),
    [
        (program([STOP]), Status.DPU_ERR_LOG_CONTEXT_MISSING, "has no printf"),
        (printing(b"", wrapped=1), Status.DPU_ERR_LOG_BUFFER_TOO_SMALL, "buffer of 64 bytes"),
        (printing(b"", written=72), Status.DPU_ERR_LOG_FORMAT, "printed 72 bytes"),
        (printing(b"%s\0abc"), Status.DPU_ERR_LOG_FORMAT, "has no end"),
    ],
)
def test_logs_that_cannot_be_read(process: Process, elf: Elf, status: Status, what: str) -> None:
    with running(process) as dpus:
        dpus.load(elf).launch()
        with pytest.raises(DpuError, match=what) as caught:
            _ = dpus.dpus.dpus[0].log
        assert caught.value.status == status
