"""Virtual memory of the driver interface (CUDA Driver API, "Virtual Memory Management")."""

from __future__ import annotations

from pathlib import Path

from .conftest import program

EXPECTED = """\
used 3
wrong 0
shared 0 0
access 3 same 1 pinned 1
odd CUDA_ERROR_INVALID_VALUE
free CUDA_ERROR_INVALID_VALUE
busy CUDA_ERROR_INVALID_VALUE
part CUDA_ERROR_INVALID_VALUE
again CUDA_ERROR_INVALID_VALUE
nowhere CUDA_ERROR_INVALID_VALUE
offset CUDA_ERROR_INVALID_VALUE
handle CUDA_ERROR_INVALID_VALUE
device CUDA_ERROR_INVALID_DEVICE
fabric CUDA_ERROR_NOT_SUPPORTED
left 0
reserved CUDA_ERROR_ILLEGAL_ADDRESS
"""


def test_memory_is_mapped_shared_and_given_back(tmp_path: Path) -> None:
    done = program("virtual", tmp_path)()
    assert (done.returncode, done.stdout) == (0, EXPECTED), done.stderr
