"""DLA subgraphs of random graphs, against what must hold of them; the limit in graph order."""

from __future__ import annotations

import random
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.boards import check
from cudla_sim.boards.checking import Report

from .graphs import Graph

X = (1, 8, 4, 4)


def random_graph(seed: int, nodes: int) -> Graph:
    """Abs, Relu and Add on the DLA, Erf on the GPU."""
    choice = random.Random(seed)
    graph = Graph()
    made = [graph.input(X)]
    for _ in range(nodes):
        op = choice.choice(["Relu", "Abs", "Erf", "Add", "Add"])
        made.append(graph.add(op, *(choice.choice(made[-4:]) for _ in range(1 + (op == "Add")))))
    return graph


def _reaches(report: Report) -> dict[str, set[str]]:
    """Which layers depend on each: by walking the tensors of the model forward."""
    makers = {t.name: d.layer.name for d in report.decisions for t in d.layer.outputs}
    before: dict[str, set[str]] = {}
    for decision in report.decisions:  # in graph order
        own: set[str] = set()
        for tensor in decision.layer.inputs:
            if tensor.name in makers:
                own |= {makers[tensor.name]} | before[makers[tensor.name]]
        before[decision.layer.name] = own
    return before


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), nodes=st.integers(1, 24))
def test_subgraphs_are_connected_convex_and_as_large_as_possible(seed: int, nodes: int) -> None:
    report = check(random_graph(seed, nodes).model())
    before = _reaches(report)
    members = [{layer.name for layer in s.layers} for s in report.subgraphs]
    on_dla = {d.layer.name for d in report.on_dla}
    if len(members) < report.tensorrt.subgraphs:
        assert sorted(name for group in members for name in group) == sorted(on_dla)
    for group in members:
        for outside in set(before) - group:  # no way out of a subgraph and back into it
            after = any(before[outside] & {name} for name in group)
            needed = any(outside in before[name] for name in group)
            assert not (after and needed)
    # a subgraph waits for another or the other way round, never both
    for first, second in combinations(members, 2):
        waits = any(before[name] & second for name in first)
        assert not (waits and any(before[name] & first for name in second))


def test_a_diamond_through_the_gpu_is_two_subgraphs() -> None:
    graph = Graph()
    first = graph.add("Relu", X, name="first")
    side = graph.add("Erf", first, name="side")
    graph.add("Add", first, side, name="last")
    report = check(graph.model())
    assert [s.name for s in report.subgraphs] == ["{ForeignNode[first]}", "{ForeignNode[last]}"]
    assert report.transitions == 3  # first twice: to the GPU and to the second loadable; side


def chain(parts: int) -> Graph:
    """Parts of one Relu, with a layer of the GPU between."""
    graph = Graph()
    value = graph.input(X)
    for number in range(parts):
        value = graph.add("Relu", value, name=f"relu{number}")
        value = graph.add("Erf", value, name=f"erf{number}")
    return graph


def test_sixteen_subgraphs_stay_in_graph_order() -> None:
    report = check(chain(20).model())
    assert [s.layers[0].name for s in report.subgraphs] == [f"relu{i}" for i in range(16)]
    texts = [message.text for message in report.messages]
    assert "DLA supports only 16 subgraphs per DLA core. Switching to GPU for layer relu16" in texts
    assert not any("layer relu15" in text for text in texts)
    assert len(check(chain(16).model()).on_gpu) == 16


def test_layers_of_another_batch_are_another_subgraph() -> None:
    """Developer guide (latest), general restrictions of the DLA."""
    graph = Graph()
    graph.add("Add", graph.add("Relu", (1, 8, 4, 4)), graph.add("Relu", (6, 8, 4, 4)), name="sum")
    report = check(graph.model(), without=["recalled"])
    assert not report.on_gpu
    assert [len(s.layers) for s in report.subgraphs] == [1, 2]


def test_standalone_is_one_subgraph_without_the_gpu() -> None:
    whole = Graph()
    whole.add("Abs", whole.add("Relu", X))
    assert check(whole.model(), standalone=True).buildable
    report = check(chain(2).model(), standalone=True)
    assert not report.buildable
    texts = [message.text for message in report.messages]
    assert "Layer 'erf0' is not supported on DLA but GPU fallback is not enabled." in texts
    assert "Safety certified DLA should only have one graph for the whole network." in texts
