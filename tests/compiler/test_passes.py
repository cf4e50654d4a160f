"""The passes of a compilation: their list, who watches them, and what is printed."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudla_sim.compiler import compilation, dump, front, passes
from cudla_sim.compiler import graph as g
from cudla_sim.compiler.backend import compile_graph
from cudla_sim.compiler.layers import Network
from cudla_sim.compiler.options import Options
from tests.compiler.random_networks import network


def watched(seen: list[tuple[str, str]]) -> passes.Watch:
    def watch(name: str, state: Any) -> None:
        seen.append((name, dump.text(name, state)))

    return watch


def test_names_are_different_and_summaries_are_lines() -> None:
    listed = compilation.listed()
    assert len({item.name for item in listed}) == len(listed)
    assert all(item.summary and "\n" not in item.summary for item in listed)


def test_each_pass_is_watched_once_in_the_listed_order() -> None:
    seen: list[tuple[str, str]] = []
    model = network(5, 4)
    graph = front.load(model, watch=watched(seen))
    compile_graph(graph, {}, Options(precision="fp16"), watch=watched(seen))
    assert [name for name, _ in seen] == [item.name for item in compilation.listed()]
    for name, text in seen:
        assert text.startswith(f"after {name}: ")
        assert text.endswith("\n")
        for port in (*graph.inputs, *graph.outputs):
            assert port.name in text


def test_a_dump_shows_what_the_last_pass_made() -> None:
    net = Network(("x", (1, 8, 6, 6)), "fp16")
    net.conv2d(np.ones((8, 8, 3, 3)), padding=1, relu=True, name="c")
    net.max_pool(2, name="p")
    graph = g.Graph(
        inputs=[g.Port(name="x", shape=(1, 8, 6, 6), value=net.input.value)],
        outputs=[g.Port(name="p", shape=(1, 8, 3, 3), value=net.output.value)],
        nodes=net.nodes,
    )
    seen: list[tuple[str, str]] = []
    options = Options(precision="fp16", without=("flying",))
    compile_graph(graph, {"x": 0.5}, options, watch=watched(seen))
    found = dict(seen)
    pool = "p 1x8x3x3 = Pool(c) mode=max kernel=(2,2) stride=(2,2) divisor=4"
    assert pool in found["scales"]
    assert "weights=float32[8x8x3x3] bias=float64[8]" in found["legalise"]
    assert "c 1x8x6x6 = KernelConv + Clip fp16\n" in found["fuse"]
    assert "p 1x8x3x3 = Pool fp16 in 288 bytes" in found["arrange"]
    assert "2 PDP 'p': c -> p" in found["lower"]
    assert "2 PDP 'p': c at 2+0x0 -> p at 4+0x0" in found["plan-memory"]
    assert found["write"].endswith(" bytes\n")


def test_watching_changes_nothing() -> None:
    options = Options(precision="fp16")
    plain, seen = [
        compile_graph(front.load(network(6, 4)), {}, options, watch=watch).loadable
        for watch in (None, watched([]))
    ]
    assert plain == seen
