"""Compile each network, check the loadable, compare with onnxruntime's own int8 and with float.

The figures are printed; `build/networks` keeps the exported models.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cudla_sim.compiler import accuracy, front
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.calibrate import channel_means, ranges
from cudla_sim.compiler.errors import Refused
from cudla_sim.compiler.options import Options
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.loadable import Loadable
from tests.conftest import ROOT

from . import baseline, zoo

pytestmark = pytest.mark.networks

FOLDER = ROOT / "build" / "networks"
SMALL = {"nv_small", "nv_medium_512"}
NEED_TABLES = {"alexnet_lrn", "espcn_x3", "lraspp_mobilenet_v3", "yolov5s", "yolov5s_320"}
"""Networks with functions that only look-up tables can compute."""
FP16_FLOOR = {"yolov3_tiny": 35, "yolov5s": 35, "yolov5s_320": 35}


def pictures_for(file: Path) -> list[dict[str, np.ndarray]]:
    """Test pictures: many small ones, so that a few outputs are no matter of luck."""
    _, (_, _, height, width) = zoo.input_of(file)
    return zoo.samples(file, 2, 32 if height * width <= 128 * 128 else 4)


def compiled(name: str, config: str, precision: str) -> accuracy.Accuracy:
    file = zoo.model(name, FOLDER)
    graph = front.load(file)
    scales, means = {}, None
    if precision != "fp16":
        data = zoo.samples(file, 1, 8)
        scales, means = ranges(graph, data), channel_means(graph, data)
    options = Options(config=config, precision=precision)
    image = compile_graph(graph, scales, options, means).loadable
    problems = check(Loadable.parse(image), config)
    assert not problems, "\n".join(map(str, problems[:10]))
    return accuracy.measure(image, graph, pictures_for(file), layers=False)


def say(name: str, config: str, precision: str, found: accuracy.Accuracy, other: str) -> None:
    rows = ", ".join(f"{row.sqnr:.1f} dB ({row.cosine:.4f})" for row in found.outputs)
    print(f"\n{name} {config} {precision}: {rows}{other}")


@pytest.mark.parametrize("config", ["nv_full", "nv_large", "nv_small"])
@pytest.mark.parametrize("name", zoo.NAMES)
def test_int8(name: str, config: str) -> None:
    """Not half a decibel below onnxruntime's static quantisation with the same pictures."""
    if config in SMALL and name in NEED_TABLES:
        with pytest.raises(Refused) as refused:
            compiled(name, config, "int8")
        assert all(item.node and item.reason for item in refused.value.refusals)
        return
    found = compiled(name, config, "int8")
    file = zoo.model("resnet18" if name == "resnet18_qdq" else name, FOLDER)
    calibration = np.concatenate([next(iter(s.values())) for s in zoo.samples(file, 1, 8)])
    floor = baseline.sqnr(file, calibration, pictures_for(file))
    say(name, config, "int8", found, f"; onnxruntime {floor:.1f} dB")
    assert found.worst >= floor - 0.5


@pytest.mark.parametrize("name", [name for name in zoo.NAMES if name != "resnet18_qdq"])
def test_fp16(name: str) -> None:
    found = compiled(name, "nv_full", "fp16")
    say(name, "nv_full", "fp16", found, "")
    assert found.worst >= FP16_FLOOR.get(name, 45)
