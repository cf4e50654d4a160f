"""A bench, and a compiler whose programs count."""

from __future__ import annotations

import pytest

from ..dpu_side.bench import Program
from ..dpu_side.conftest import Build, bench, build, route, told

__all__ = ["bench", "build", "counted", "plain", "route", "told"]


@pytest.fixture
def counted(build: Build, route: str) -> Build:
    """build(source, tasklets=1, *flags) -> Program, which counts the instructions of a DPU."""
    if not route.startswith("clang"):
        pytest.skip("counting needs clang")

    def compile_(source: str, tasklets: int = 1, *flags: str) -> Program:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CUDLA_SIM_UPMEM_TIMING", "model")
            return build(source, tasklets, "-DCOUNTED", *flags)

    return compile_


@pytest.fixture
def plain(build: Build) -> Build:
    """The same without counting, whatever the environment says."""

    def compile_(source: str, tasklets: int = 1, *flags: str) -> Program:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CUDLA_SIM_UPMEM_TIMING", "off")
            return build(source, tasklets, *flags)

    return compile_
