"""Programs of this folder, compiled once, and the samples' network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cudla_sim import paths
from cudla_sim.testing import Compiler
from tests.conftest import ROOT

HERE = Path(__file__).resolve().parent
DIGITS = ROOT / "c_examples" / "cudla" / "data" / "digits_int8.nvdla"


def link_flags() -> list[str]:
    """What a program of the public stack links: the runtime library and nothing else."""
    lib = str(paths.lib_dir())
    return [f"-L{lib}", f"-Wl,-rpath,{lib}", "-lnvdla_runtime", "-ldl"]


@pytest.fixture(scope="session")
def program(sim_cc: Compiler) -> Callable[..., Path]:
    """``program("run_loadable.cpp", "foreign_port.c")``: the first file linked with the others."""

    def build(first: str, *others: str, options: tuple[str, ...] = ()) -> Path:
        objects = [
            str(sim_cc.build(HERE / name, options=["-c", "-D_GNU_SOURCE"], libraries=[]))
            for name in others
        ]
        return sim_cc.build(HERE / first, options=[*options, *objects], libraries=link_flags())

    return build
