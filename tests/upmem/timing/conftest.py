"""A bench, and a compiler whose programs count."""

from __future__ import annotations

import pytest

from ..dpu_side.conftest import Build, bench, build, route

__all__ = ["bench", "build", "counted", "route"]


@pytest.fixture
def counted(build: Build, route: str, monkeypatch: pytest.MonkeyPatch) -> Build:
    """build(source, tasklets=1, *flags) -> Program, which counts the instructions of a DPU."""
    if not route.startswith("clang"):
        pytest.skip("counting needs clang")
    monkeypatch.setenv("CUDLA_SIM_UPMEM_TIMING", "model")

    def compile_(source: str, tasklets: int = 1, *flags: str) -> object:
        return build(source, tasklets, "-DCOUNTED", *flags)

    return compile_
