"""From a graph to a loadable of one configuration: the passes of the back end.

Both fronts end here, ONNX models (:mod:`.front`) and networks in Python (:mod:`.layers`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from cudla_sim.nvdla.check import WHOLE_TASK, check
from cudla_sim.nvdla.facts.configs import CONFIGS, HardwareConfig, config
from cudla_sim.nvdla.facts.precisions import FP16, INT8, INT8_TOP, INT16, INT16_TOP, NUMBERS, TOPS
from cudla_sim.nvdla.loadable import Loadable

from . import formats, passes
from . import graph as g
from . import scales as scaling
from .errors import CompileError, Refusal, Refused
from .formats import Formats
from .legalise import fold, rewrite
from .legalise.builder import Rewriter
from .lower.network import Network
from .options import OPTIMISATIONS, Options
from .passes import Pass
from .plan.loadable import Writer, report


@dataclass(frozen=True, slots=True)
class Compiled:
    """A loadable, and what is worth knowing of it (JSON)."""

    loadable: bytes
    report: dict[str, Any]
    precision: str


@dataclass(eq=False)
class Compilation:
    """One run of the back end, and what its passes have found out so far.

    *given* are scales of values by name: largest magnitude / 127. *means* are averages of values
    by channel [c]: with them, what rounding does to the weights of integer convolutions is taken
    out of the mean of their outputs (bias correction). *spans* are the least and largest element
    of values: tables of curves reach over them. Not *checked*, the checker is not asked.
    """

    graph: g.Graph
    given: Mapping[str, float]
    options: Options
    means: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    spans: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    checked: bool = True
    config: HardwareConfig = field(init=False)
    precision: int = field(init=False)
    nodes: list[g.Node] = field(init=False)
    scales: dict[g.Value, float] = field(default_factory=dict)
    """Real value of one integer step."""
    formats: Formats = field(init=False)
    network: Network | None = None
    writer: Writer | None = None
    loadable: bytes = b""

    def __post_init__(self) -> None:
        self.config = config(self.options.config)
        self.precision = NUMBERS.get(self.options.precision, -1)
        if self.precision not in self.config.precisions:
            have = [name for name, n in NUMBERS.items() if n in self.config.precisions]
            raise CompileError(
                f"{self.config.name} has no {self.options.precision} arithmetic; it has"
                f" {', '.join(have)}"
            )
        for name in self.options.without:
            if name not in OPTIMISATIONS:
                known = ", ".join(OPTIMISATIONS)
                raise CompileError(f"Options.without: {name!r} is no optimisation: {known}")
        if self.options.cvsram < 0:
            raise CompileError(f"cvsram is {self.options.cvsram}; it is in bytes, 0 or more")
        if self.options.cvsram and not self.config.second_memory:
            others = ", ".join(item.name for item in CONFIGS.values() if item.second_memory)
            raise CompileError(f"{self.config.name} has no second memory (cvsram); {others} have")
        if self.options.winograd and not self.config.winograd:
            others = ", ".join(item.name for item in CONFIGS.values() if item.winograd)
            raise CompileError(f"{self.config.name} has no Winograd mode (winograd); {others} has")
        if not self.graph.nodes:
            raise CompileError("the network has no operation that computes anything")
        self.nodes = list(self.graph.nodes)

    def run(self, watch: passes.Watch | None = None) -> Compiled:
        """All passes. Raises CompileError, Refused."""
        self.until("check", watch)
        assert self.writer is not None
        return Compiled(self.loadable, report(self.writer), self.options.precision)

    def until(self, last: str, watch: passes.Watch | None = None) -> None:
        """All passes up to the one called *last*. Raises CompileError, Refused."""
        end = [item.name for item in PASSES].index(last) + 1
        try:
            passes.run(PASSES[:end], self, watch)
        except Refused as error:
            if self.graph.outline is None:
                raise
            raise Refused(self.graph.outline.named(error.refusals)) from None


def compile_graph(
    graph: g.Graph,
    scales: Mapping[str, float],
    options: Options,
    means: Mapping[str, NDArray[Any]] | None = None,
    watch: passes.Watch | None = None,
    spans: Mapping[str, tuple[float, float]] | None = None,
) -> Compiled:
    """Compile *graph* with the scales of its values by name: largest magnitude / 127.

    int16 has finer steps for the same magnitudes; fp16 uses them for tables only. For *means* and
    *spans* see :class:`Compilation`; *watch* is called behind every pass.

    Raises Refused with all nodes that the configuration cannot do, CompileError for missing
    scales and options that do not go together.
    """
    return Compilation(graph, scales, options, means or {}, spans or {}).run(watch)


def _formats(c: Compilation) -> None:
    c.formats = formats.choose(c.graph, c.options, c.config, c.precision)


def _scales(c: Compilation) -> None:
    c.scales = scaling.known(c.graph, c.given)  # in fp16 they only say how far tables must reach
    if c.precision == INT16:
        c.scales = {value: scale * INT8_TOP / INT16_TOP for value, scale in c.scales.items()}
    if c.precision == FP16:
        return
    scaling.fill(c.nodes, c.scales)
    for node in c.nodes:
        if isinstance(node, g.Softmax):
            c.scales.setdefault(node.output, 1 / TOPS[c.precision])


def _legalise(c: Compilation) -> None:
    rewriter = Rewriter(
        c.config, c.precision, c.scales, c.nodes[-1], c.formats.pictures, c.options.direct,
        c.options.without,
    )  # fmt: skip
    c.nodes = rewrite.run(rewriter, c.nodes)


def _fold(c: Compilation) -> None:
    outputs = {port.value for port in c.graph.outputs}
    c.nodes = fold.permutations(c.nodes, outputs, c.scales)


def _unite(c: Compilation) -> None:
    if c.precision != FP16:
        scaling.fill(c.nodes, c.scales)
        scaling.unite(c.nodes, c.scales)


def _fuse(c: Compilation) -> None:
    inputs = [port.value for port in c.graph.inputs]
    outputs = [port.value for port in c.graph.outputs]
    means = {v: c.means[v.name] for v in c.graph.values() if v.name in c.means}
    spans = {v: c.spans[v.name] for v in c.graph.values() if v.name in c.spans}
    c.network = Network(
        c.config,
        c.precision,
        c.nodes,
        inputs,
        outputs,
        c.scales,
        c.formats,
        means,
        spans,
        c.options.without,
        c.options.batch_mode,
        c.options.winograd,
        c.options.picture_line,
    )
    c.network.form()
    if c.precision != FP16:
        stored = [item.output for item in c.network.passes]
        scaling.missing([*inputs, *stored], c.scales)


def _zero_points(c: Compilation) -> None:
    assert c.network is not None
    if c.precision == INT8 and c.options.zero_points and not c.options.winograd:
        c.network.zero_points()


def _arrange(c: Compilation) -> None:
    assert c.network is not None
    c.network.arrange()


def _lower(c: Compilation) -> None:
    assert c.network is not None
    c.network.lower()


def _plan(c: Compilation) -> None:
    assert c.network is not None
    c.writer = Writer(c.network, c.graph, c.options)
    c.writer.plan()


def _write(c: Compilation) -> None:
    assert c.writer is not None
    c.loadable = c.writer.write()


def _check(c: Compilation) -> None:
    assert c.network is not None
    operations = c.network.task.ops
    found: dict[str, Refusal] = {}
    for item in check(Loadable.parse(c.loadable), c.config) if c.checked else ():
        if item.task or item.operation == WHOLE_TASK:
            raise CompileError(f"{c.config.name} would not take the network: {item}")
        node = operations[item.operation].label
        why = f"{c.config.name} would not take its {item.unit}: {item.field}: {item.message}"
        found.setdefault(node, Refusal(node, item.unit, why))
    if found:
        raise Refused(list(found.values()))


PASSES = (
    Pass("formats", "types and layouts of the network's inputs and outputs", _formats),
    Pass("scales", "the real value of one integer step of every calibrated value", _scales),
    Pass("legalise", "every operation as operations that a unit computes", _legalise),
    Pass("fold-permutations", "moved channels disappear into kernels of convolutions", _fold),
    Pass("unite-scales", "one scale for values that units or memory tie together", _unite),
    Pass("fuse", "a convolution or a tensor, and what SDP does to it on the way", _fuse),
    Pass(
        "zero-points", "integers other than 0 that mean 0, where steps become finer", _zero_points
    ),
    Pass("arrange", "cubes of values: joins in place, slices and flattening as views", _arrange),
    Pass("lower", "hardware operations with weights, operands and tables", _lower),
    Pass("plan-memory", "places of activations, by their lifetimes", _plan),
    Pass("write", "the bytes of the loadable", _write),
    Pass("check", "what hardware would not take of it is refused", _check),
)
