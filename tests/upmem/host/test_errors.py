"""dpu_error_to_string: the numbers and texts of SDK 2025.1 (error_texts.py), and job errors."""

from __future__ import annotations

import pytest

from .error_texts import ERROR_TEXTS
from .hosting import Host


@pytest.mark.parametrize("number", range(43))
def test_plain(host: Host, number: int) -> None:
    assert host.text(number) == ERROR_TEXTS[number]


@pytest.mark.parametrize("number", [43, 99, 0x7FFF_FFFF])
def test_unknown(host: Host, number: int) -> None:
    assert host.text(number) == "unknown error"


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (0x8001_0017, "asynchronous operation error (launch_rank): dpu is in fault (0x10017)"),
        (0x8012_0001, "asynchronous operation error (callback): internal error (0x120001)"),
        (
            0x8009_000A,
            "asynchronous operation error (copy_mram_to_matrix): invalid mram access (0x9000a)",
        ),
        (0x8013_0001, "asynchronous operation error (unknown job type): internal error (0x130001)"),
        (0x8000_0001, "asynchronous operation error (unknown job type): internal error (0x1)"),
    ],
)
def test_asynchronous(host: Host, word: int, text: str) -> None:
    assert host.text(word - 2**32) == text
