"""The layer graph: data edges through memory, fused edges, inputs and outputs."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.inspect import describe
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.tools.nvdla import layer_graph as graph
from tests.conftest import FIXTURES


def residual() -> graph.Graph:
    """conv -> (conv) + itself -> pool, with softmax on the host."""
    random = np.random.default_rng(0)
    net = Network(input=("data", (1, 16, 4, 4)), precision="fp16")
    first = net.conv2d(random.normal(size=(16, 16, 1, 1)), name="first")
    second = net.conv2d(random.normal(size=(16, 16, 3, 3)), padding=1, name="second")
    net.add(first, second, relu=True)
    net.avg_pool(4)
    net.softmax()
    return graph.build(describe(Loadable.parse(net.build())))


def reads(found: graph.Graph, name: str) -> set[str]:
    return {e.source for e in found.edges if e.target == name}


def test_residual_network() -> None:
    found = residual()
    units = {name: label.split()[1] for name, label in found.nodes.items() if "." in name}
    assert list(units.values()) == ["CONV", "SDP", "CONV", "SDP", "PDP", "EMU"]
    assert reads(found, "0.0") == {"in0"}
    assert reads(found, "0.1") == {"0.0"}
    assert reads(found, "0.2") == {"0.1"}
    assert reads(found, "0.3") == {"0.1", "0.2"}
    assert reads(found, "0.4") == {"0.3"}
    assert reads(found, "1.0") == {"0.4"}
    assert reads(found, "out0") == {"1.0"}
    assert {(e.source, e.target) for e in found.edges if e.fused} == {
        ("0.0", "0.1"),
        ("0.2", "0.3"),
    }


def test_text_and_dot() -> None:
    found = residual()
    lines = graph.text(found).splitlines()
    assert len(lines) == 1 + len(found.nodes)
    assert "<= 0.2 (16x4x4)" in graph.text(found)
    source = graph.dot(found)
    assert source.count("->") == len(found.edges)
    assert source.startswith("digraph")


def test_pictures(tmp_path: Path) -> None:
    found = residual()
    graph.draw(found, tmp_path / "g.dot")
    assert (tmp_path / "g.dot").read_text() == graph.dot(found)
    if shutil.which("dot") is None:
        with pytest.raises(graph.GraphError, match="graphviz"):
            graph.draw(found, tmp_path / "g.png")
    else:
        graph.draw(found, tmp_path / "g.png")
        assert (tmp_path / "g.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("tag", ["concatnet.full.int8.nhwc", "deconvnet.full.fp16.nhwc"])
def test_joined_cubes_have_several_writers(fixtures: Path, tag: str) -> None:
    file = FIXTURES / "nvdla" / "compiled" / "loadables" / f"{tag}.nvdla"
    found = graph.build(describe(Loadable.parse(file.read_bytes())))
    assert max(len(reads(found, name)) for name in found.nodes) >= 3
    assert all(reads(found, name) for name in found.nodes if not name.startswith("in"))
