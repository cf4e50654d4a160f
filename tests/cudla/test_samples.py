"""The programs of c_examples/, with their own pictures and their own checks."""

from __future__ import annotations

import pytest

from cudla_sim.testing import Compiler
from tests.conftest import ROOT

CUDLA = ROOT / "c_examples" / "cudla"
PICTURES = sorted(str(p) for p in (CUDLA / "data" / "images").glob("*.pgm"))


@pytest.mark.parametrize(
    ("source", "network"),
    [("digits_standalone.c", "digits_int8.nvdla"), ("digits_hybrid.cpp", "digits_fp16.nvdla")],
)
def test_digits_are_recognised(sim_cc: Compiler, source: str, network: str) -> None:
    program = sim_cc.build(CUDLA / source, options=["-Wextra"])
    result = sim_cc.run(program, str(CUDLA / "data" / network), *PICTURES)
    assert result.status == 0, result.out[-500:] + result.err
    right = int(result.out.strip().splitlines()[-1].split()[0])
    assert len(PICTURES) == 100
    assert right >= 95
    assert "CONV_0 + SDP_1               1x8x8 -> 8x8x8" in result.out


def test_every_mistake_is_explained(sim_cc: Compiler) -> None:
    result = sim_cc.run(sim_cc.build(CUDLA / "what_went_wrong.c"))
    assert result.status == 0, result.out
    assert "unexpected" not in result.out
