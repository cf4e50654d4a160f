"""Which layers the DLA runs as one operation, on which engine."""

from __future__ import annotations

import onnx
import pytest

from cudla_sim.boards import check
from cudla_sim.boards.timing.operations import operations
from tests.boards.networks.graph import Graph
from tests.boards.networks.residual import resnet34_backbone


def joined(model: onnx.ModelProto, **options: bool) -> list[list[str]]:
    """Operators of the layers of each operation."""
    report = check(model, **(options or {"int8": True}))
    (subgraph,) = report.subgraphs
    return [
        [layer.operator for layer in operation.layers]
        for operation in operations(subgraph, report.board.generation)
    ]


def test_a_convolution_takes_its_activation_along() -> None:
    g = Graph("one", (1, 64, 8, 8))
    assert joined(g.model(g.conv("input", 64, act="relu"))) == [["Conv", "Relu"]]


def test_a_sum_ends_the_later_of_its_two_convolutions() -> None:
    g = Graph("sum", (1, 64, 8, 8))
    first, second = g.conv("input", 64, 1), g.conv("input", 64, 3)
    assert joined(g.model(g.add(second, first, "relu"))) == [["Conv"], ["Conv", "Add", "Relu"]]


def test_what_two_layers_read_is_written_to_memory() -> None:
    g = Graph("two", (1, 64, 8, 8))
    x = g.conv("input", 64)
    a, b = g.conv(g.act(x, "relu"), 64), g.conv(x, 64)
    assert joined(g.model(a, b)) == [["Conv"], ["Relu"], ["Conv"], ["Conv"]]


def test_an_output_of_the_network_is_written_to_memory() -> None:
    g = Graph("out", (1, 64, 8, 8))
    x = g.conv("input", 64)
    assert joined(g.model(x, g.act(x, "relu"))) == [["Conv"], ["Relu"]]


def test_a_sigmoid_and_the_product_with_it_are_one_activation() -> None:
    g = Graph("silu", (1, 64, 8, 8))
    x = g.conv("input", 64, act="silu")
    found = joined(g.model(g.add(x, "input")))
    assert found == [["Conv", "Sigmoid", "Mul", "Add"]]


def test_a_product_with_another_tensor_is_not_that_activation() -> None:
    g = Graph("gate", (1, 64, 8, 8))
    x = g.conv("input", 64)
    gate = g.node("Sigmoid", [x], g.shape[x])
    found = joined(g.model(g.node("Mul", [gate, "input"], g.shape[x]), g.act(x, "relu")))
    assert found == [["Conv"], ["Sigmoid", "Mul"], ["Relu"]]


def test_the_published_order_of_resnet_34() -> None:
    """Names of the layer statistics: Conv+Relu, MaxPool, Conv+Relu, Conv+Add+Relu, ..."""
    relu, added = ["Conv", "Relu"], ["Conv", "Add", "Relu"]
    assert joined(resnet34_backbone())[:9] == [
        relu, ["MaxPool"], relu, added, relu, added, relu, added, relu,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("board", "int8", "engine"),
    [("orin", True, "CPIPE"), ("orin", False, "Rubik"), ("xavier", False, "CPIPE")],
)
def test_fp16_convolutions_of_orin_are_on_another_engine(
    board: str, int8: bool, engine: str
) -> None:
    g = Graph("one", (1, 64, 8, 8))
    report = check(g.model(g.conv("input", 64)), board, int8=int8)
    (found,) = operations(report.subgraphs[0], report.board.generation)
    assert found.engine == engine


def test_copies_are_on_their_engines() -> None:
    g = Graph("copies", (1, 64, 8, 8))
    x = g.conv(g.concat(g.up(g.conv("input", 64)), g.up(g.conv("input", 64, 1))), 64)
    report = check(g.model(x), int8=True)
    found = operations(report.subgraphs[0], "orin")
    kinds = {each.main.kind: each.engine for each in found}
    assert kinds == {"CONVOLUTION": "CPIPE", "RESIZE": "Rubik", "CONCATENATION": "BDMA"}
