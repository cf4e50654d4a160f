"""Launches with the arguments as bytes, and nvcc's variables."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run, compiled, nvcc

packed = compiled("packed")


def test_launches_in_kernels_with_arguments_as_bytes(packed: Run) -> None:
    done = packed()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "cudaSuccess",
        "1006 cudaSuccess",
        "1007 cudaSuccess",
        "8 cudaSuccess",
        "9 cudaErrorInvalidDeviceFunction",
    ]


def test_flags_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "flags.cu"
    source.write_text('#if FIRST != 1 || LAST != 2\n#error "not there"\n#endif\n')
    monkeypatch.setenv("NVCC_PREPEND_FLAGS", "-DFIRST=1 -DLAST=7 -ULAST")
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "'-DLAST=2' -lineinfo")
    assert nvcc("-c", source, "-o", tmp_path / "flags.o").returncode == 0
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "'-DLAST=2")
    done = nvcc("-c", source, "-o", tmp_path / "flags.o")
    assert (done.returncode, "No closing quotation" in done.stderr) == (1, True)
