"""From a graph to a loadable of one configuration.

``compile_graph`` is the whole back end: rewriting into what units do, scales, passes, operations,
memory, bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from numpy.typing import NDArray

from cudla_sim.nvdla.facts.configs import config
from cudla_sim.nvdla.facts.precisions import FP16, INT8_TOP, INT16, INT16_TOP, NUMBERS, TOPS

from . import formats
from . import graph as g
from . import scales as scaling
from .errors import CompileError
from .legalise import fold, rewrite
from .legalise.builder import Rewriter
from .lower.network import Network
from .options import Options
from .plan.loadable import Writer, report


@dataclass(frozen=True, slots=True)
class Compiled:
    """A loadable, and what is worth knowing of it (JSON)."""

    loadable: bytes
    report: dict[str, Any]


def compile_graph(
    graph: g.Graph,
    scales: Mapping[str, float],
    options: Options,
    means: Mapping[str, NDArray[Any]] | None = None,
) -> Compiled:
    """Compile *graph* with the scales of its values by name: largest magnitude / 127.

    int16 has finer steps for the same magnitudes; fp16 uses them for tables only.

    *means* are averages of values by channel [c]: with them, what rounding does to the weights
    of integer convolutions is taken out of the mean of their outputs (bias correction).

    Raises Refused with all nodes that the configuration cannot do, CompileError for missing
    scales and options that do not go together.
    """
    hardware = config(options.config)
    precision = NUMBERS.get(options.precision, -1)
    if precision not in hardware.precisions:
        have = [name for name, number in NUMBERS.items() if number in hardware.precisions]
        raise CompileError(
            f"{hardware.name} has no {options.precision} arithmetic; it has {', '.join(have)}"
        )
    if not graph.nodes:
        raise CompileError("the network has no operation that computes anything")
    known = scaling.known(graph, scales)  # in fp16 they only say how far tables must reach
    if precision == INT16:
        known = {value: scale * INT8_TOP / INT16_TOP for value, scale in known.items()}
    inputs = [port.value for port in graph.inputs]
    outputs = [port.value for port in graph.outputs]
    chosen = formats.choose(graph, options, hardware, precision)
    rewriter = Rewriter(hardware, precision, known, graph.nodes[-1], chosen.pictures)
    if precision != FP16:
        scaling.fill(graph.nodes, known)
        for node in graph.nodes:
            if isinstance(node, g.Softmax):
                known.setdefault(node.output, 1 / TOPS[precision])
    nodes = rewrite.run(rewriter, graph.nodes)
    nodes = fold.permutations(nodes, set(outputs), known)
    if precision != FP16:
        scaling.fill(nodes, known)
        scaling.unite(nodes, known)
    network = Network(
        hardware,
        precision,
        nodes,
        inputs,
        outputs,
        known,
        formats.kept(graph, options, hardware),
        chosen.halves,
        chosen.pictures,
        {value: means[value.name] for value in graph.values() if means and value.name in means},
        chosen.planes,
    )
    network.form()
    if precision != FP16:
        stored = [item.output for item in network.passes]
        scaling.missing([*inputs, *stored], known)
    network.arrange()
    network.lower()
    writer = Writer(network, graph, asdict(options))
    data = writer.write()
    return Compiled(data, report(writer))
