"""Microbenchmarks in hardware time against published measurements."""

from __future__ import annotations

import json

import pytest

from tests.conftest import FIXTURES

from ..dpu_side.bench import Bench
from ..dpu_side.conftest import Build
from . import published

FILE = FIXTURES / "upmem" / "timing.json"
RECORDED = (
    {m["id"]: m["value"] for m in json.loads(FILE.read_text())["measurements"]}
    if FILE.exists()
    else {}
)


@pytest.mark.usefixtures("fixtures")
@pytest.mark.parametrize("name", published.names(RECORDED))
def test_published_figures(name: str, bench: Bench, counted: Build) -> None:
    # two digits were published
    tolerance = 0.07 if name == "prim.arith.double_div" else 0.05
    assert published.figure(name, bench, counted) == pytest.approx(RECORDED[name], rel=tolerance)


def test_throughput_grows_up_to_eleven_tasklets(bench: Bench, counted: Build) -> None:
    found = {
        n: published.arithmetic(bench, counted, "int32", "add", n) for n in (1, 4, 8, 11, 16, 24)
    }
    for tasklets, value in found.items():
        assert value == pytest.approx(58.56 * min(tasklets, 11) / 11, rel=0.05)
