"""cuda_fp8.h against ml_dtypes, for all halves and all numbers of eight bits."""

from __future__ import annotations

import subprocess
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from .conftest import PROGRAMS, nvcc

KINDS = {"e4m3": (ml_dtypes.float8_e4m3fn, 448.0), "e5m2": (ml_dtypes.float8_e5m2, 57344.0)}
HALVES = np.arange(65536, dtype=np.uint16).view(np.float16)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    program = tmp_path_factory.mktemp("eights") / "eights"
    done = nvcc("-O1", PROGRAMS / "eights.cu", "-o", program)
    assert done.returncode == 0, done.stderr
    return subprocess.run([program], stdout=subprocess.PIPE, check=True).stdout


@pytest.mark.parametrize("number", range(2))
def test_all_halves(told: bytes, number: int) -> None:
    kind, largest = list(KINDS.values())[number]
    nosat, finite = np.frombuffer(told, np.uint8, 4 * 65536).reshape(2, 2, 65536)[number]
    known = ~np.isnan(HALVES)
    with np.errstate(over="ignore", invalid="ignore"):
        assert (nosat == HALVES.astype(kind).view(np.uint8))[known].all()
        clipped = np.clip(HALVES.astype(np.float32), -largest, largest)
        assert (finite == clipped.astype(kind).view(np.uint8))[known].all()
    assert (nosat[~known] == 0x7F).all()
    assert (finite[~known] == 0x7F).all()


@pytest.mark.parametrize("number", range(2))
def test_all_eights(told: bytes, number: int) -> None:
    kind: Any = list(KINDS.values())[number][0]
    found = np.frombuffer(told, np.uint16, 512, 4 * 65536).reshape(2, 256)[number]
    values = np.arange(256, dtype=np.uint8).view(kind).astype(np.float16)
    expected = np.where(np.isnan(values), np.uint16(0x7FFF), values.view(np.uint16))
    assert (found == expected).all()


def test_ends_and_types(told: bytes) -> None:
    rest = told[4 * 65536 + 1024 :]
    # 2^-10 is half of e4m3's smallest number; 464 and 61440 lie half beyond the largest ones.
    assert list(rest[:20]) == [
        *(0x00, 0x14, 0x01, 0x14, 0x7E, 0x5F, 0x7F, 0x5F, 0x7F, 0x7B, 0x7F, 0x7C, 0xFF, 0xFC),
        *(0x58, 0x4C, 0x5A, 0x4D, 0x80, 0x80),
    ]
    line, _, _ = rest[20:].partition(b"\n")
    assert line.decode() == "2a7ec238 1 -2.5 448 0.3125 fb42 -4 255 0"


def _scale(exponent: int, above: bool, away: bool, saturate: bool) -> int:
    """The code of a power of two by the rule's words, or of a number just above it."""
    if not away and exponent > 127:  # of what a float does not hold the largest float is taken
        return 0xFE
    power = max(exponent + (above and away), -127)
    return power + 127 if power <= 127 else 0xFE if saturate else 0xFF


def test_scales(told: bytes) -> None:
    """cuda_fp8.h's __nv_cvt_..._to_e8m0: a power of two towards 0 or away from it."""
    rest = told[4 * 65536 + 1024 + 20 :].partition(b"\n")[2]
    ways = [(away, saturate) for away in (False, True) for saturate in (False, True)]
    expected = [
        _scale(exponent, above, away, saturate)
        for exponent in range(-1040, 1024)
        for above in (False, exponent > -1024, True)  # 1 + 1e-15 is 1 where a double has few bits
        for away, saturate in ways
    ]
    assert list(rest[: len(expected)]) == expected
    rest = rest[len(expected) :]
    scales = np.frombuffer(rest, np.float32, 256)
    assert np.array_equal(scales[:255], np.ldexp(np.float32(1), np.arange(-127, 128)))
    assert np.isnan(scales[255])
    assert rest[1024:].decode() == f"fffe0081 4 {2.0**127:g} b5 82 ff {2**63 - 1}\n"
