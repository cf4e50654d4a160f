"""What is known of a task that ran: its layers, with shapes and times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from .descriptors import OpType
from .emu import EmuFormat, EmuOp, EmuOperation
from .facts.precisions import NAMES
from .hw.launch import ComputedLayer

if TYPE_CHECKING:
    from .again.plan import Plan
    from .again.segment import Ran

PROCESSORS = {
    "CACC": OpType.CONV,
    "SDP": OpType.SDP,
    "PDP": OpType.PDP,
    "CDP": OpType.CDP,
    "RBK": OpType.RUBIK,
    "BDMA": OpType.BDMA,
}
"""The processor of the firmware behind a register block."""


@dataclass(frozen=True, slots=True)
class LayerRecord:
    """One executed layer. Shapes are (channels, height, width); times in nanoseconds.

    ``operations``: numbers in the task, -1 where no firmware of ours knows them. ``saturated``
    counts output elements that were clipped to the output precision.
    """

    index: int
    task: int
    unit: str
    operations: tuple[int, ...]
    input_shape: tuple[int, int, int]
    output_shape: tuple[int, int, int]
    precision: str
    note: str
    start_ns: int
    end_ns: int
    macs: int
    saturated: int

    @property
    def milliseconds(self) -> float:
        """Time the layer took here."""
        return (self.end_ns - self.start_ns) / 1e6

    @property
    def shapes(self) -> str:
        """``1x28x28 -> 20x24x24``: channels, height, width."""
        source, result = self.input_shape, self.output_shape
        return f"{'x'.join(map(str, source))} -> {'x'.join(map(str, result))}"

    @property
    def details(self) -> dict[str, Any]:
        """What an event says of it."""
        return {
            "shapes": self.shapes,
            "precision": self.note or self.precision,
            "macs": self.macs,
            "saturated": self.saturated,
        }


def _operations(layer: ComputedLayer, known: Callable[[OpType, int], int]) -> tuple[int, ...]:
    return tuple(
        known(PROCESSORS[block], group)
        for block, group in layer.groups.items()
        if block in PROCESSORS
    )


def of_layer(
    layer: ComputedLayer, index: int, task: int, operations: tuple[int, ...]
) -> LayerRecord:
    """The record of a layer that the chip computed."""
    return LayerRecord(
        index,
        task,
        layer.chain,
        operations,
        layer.input_shape,
        layer.output_shape,
        NAMES[layer.precision],
        "; ".join(layer.notes),
        layer.start_ns,
        layer.end_ns,
        layer.macs,
        layer.saturated,
    )


class TaskReport:
    """What one run of a network did. ``task`` is the one whose layers are computed now."""

    def __init__(self, config: str) -> None:
        self.config = config
        self.start_ns = 0
        self.end_ns = 0
        self.task = 0
        self.count = 0
        """Layers so far."""
        self._layers: list[LayerRecord] = []
        self._later: list[Callable[[], Iterable[LayerRecord]]] = []

    def add(self, record: LayerRecord) -> None:
        """Note a layer."""
        self.layers.append(record)
        self.count += 1

    def layer(self, layer: ComputedLayer, known: Callable[[OpType, int], int]) -> LayerRecord:
        """The record of a layer that was computed next; *known*: the operations in the groups."""
        return of_layer(layer, self.count, self.task, _operations(layer, known))

    def software(self, number: int, op: EmuOperation, start_ns: int, end_ns: int) -> LayerRecord:
        """The record of an operation that the host computed next."""
        return LayerRecord(
            self.count,
            self.task,
            f"EMU {EmuOp.word(op.op_type)}",
            (number,),
            (op.src.channel, op.src.height, op.src.width),
            (op.dst.channel, op.dst.height, op.dst.width),
            "fp16" if op.src.format == EmuFormat.FF16 else "int8",
            "",
            start_ns,
            end_ns,
            0,
            0,
        )

    def add_ran(self, ran: Ran, plan: Plan) -> None:
        """Note layers that were computed together; they are described when somebody asks."""
        first, task = self.count, self.task

        def describe() -> Iterator[LayerRecord]:
            for index, (step, layer) in enumerate(ran.layers(), first):
                known = _operations(layer, partial(plan.operation_at, step))
                yield of_layer(layer, index, task, known)

        self._later.append(describe)
        self.count += ran.last - ran.first

    @property
    def layers(self) -> list[LayerRecord]:
        """The layers in order."""
        for describe in self._later:
            self._layers.extend(describe())
        self._later.clear()
        return self._layers

    @property
    def macs(self) -> int:
        """Multiply-accumulates of all layers."""
        return sum(layer.macs for layer in self.layers)

    @property
    def note(self) -> str:
        """Remarks of all layers, each once ("fp16: float32")."""
        return "; ".join(dict.fromkeys(layer.note for layer in self.layers if layer.note))
