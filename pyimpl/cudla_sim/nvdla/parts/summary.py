"""How much of a network runs on the hardware, and what goes between it and the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...core.text import printable
from .. import annotation
from ..errors import BadLoadable
from ..facts.configs import config
from ..loadable import Loadable, TensorDesc
from ..timing.parameters import Surroundings, transfer_cycles
from .package import Package
from .part import Part
from .transfers import transfers


@dataclass(frozen=True, slots=True)
class Buffers:
    """The tensor descriptors of a part for the hardware, by the names of the ONNX model."""

    inputs: dict[str, TensorDesc]
    outputs: dict[str, TensorDesc]


def buffers(part: Part) -> Buffers:
    """Raises NvdlaError for a part that lacks tensors it should have."""
    loadable = Loadable.parse(part.data)
    note = annotation.read(loadable)
    found = []
    for kind, tensors, names in (
        ("inputs", loadable.inputs, part.inputs),
        ("outputs", loadable.outputs, part.outputs),
    ):
        notes = tensors if note is None else getattr(note, kind)
        if len(notes) != len(tensors):
            raise BadLoadable(f"{len(notes)} {kind} are described, the loadable has {len(tensors)}")
        by_name = {item.name: tensor for item, tensor in zip(notes, tensors, strict=True)}
        absent = [name for name in names if name not in by_name]
        if absent:
            raise BadLoadable(f"a part has no {kind[:-1]} {printable(absent[0])!r}")
        found.append(by_name)
    return Buffers(*found)


@dataclass(frozen=True, slots=True)
class Summary:
    """Of a network in parts. MACs as the ONNX model counts them, None where it is not said;
    *bytes* of all transfers of a run."""

    nodes: int
    hardware_nodes: int
    macs: int | None
    hardware_macs: int | None
    transfers: int
    bytes: int
    cycles: int
    """Of the transfers, at the latency and the bandwidth of the hardware's memory."""
    clock_mhz: float

    @property
    def milliseconds(self) -> float:
        """Of the transfers."""
        return self.cycles / self.clock_mhz / 1e3

    def __str__(self) -> str:
        share = f"{self.hardware_nodes / max(self.nodes, 1):.1%}"
        text = f"hardware runs {self.hardware_nodes} of {self.nodes} nodes ({share})"
        if self.macs is not None and self.hardware_macs is not None:
            macs = self.hardware_macs / self.macs if self.macs else 1.0
            text += f" and {macs:.1%} of {self.macs} MACs" if self.macs else ", there are no MACs"
        return (
            f"{text}; {self.transfers} transfers between host and DLA, {self.bytes} bytes,"
            f" {self.milliseconds:.3g} ms at the memory's bandwidth; host time is not modelled"
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "nodes": self.nodes,
            "hardware_nodes": self.hardware_nodes,
            "macs": self.macs,
            "hardware_macs": self.hardware_macs,
            "transfers": self.transfers,
            "transfer_bytes": self.bytes,
            "transfer_cycles": self.cycles,
            "transfer_milliseconds": self.milliseconds,
        }


def summary(package: Package, around: Surroundings) -> Summary:
    """Of a network in parts. Raises NvdlaError."""
    hardware = [part for part in package.parts if not part.host]
    known = {n: buffers(part) for n, part in enumerate(package.parts) if not part.host}
    moved = []
    for item in transfers(package.parts):
        side = known[item.part].inputs if item.into else known[item.part].outputs
        moved.append(side[item.tensor].size)
    hardware_of = config(package.config)
    cycles = sum(transfer_cycles(size, hardware_of, around) for size in moved)
    counted = all(part.macs is not None for part in package.parts)
    return Summary(
        sum(len(part.nodes) for part in package.parts),
        sum(len(part.nodes) for part in hardware),
        sum(part.macs or 0 for part in package.parts) if counted else None,
        sum(part.macs or 0 for part in hardware) if counted else None,
        len(moved),
        sum(moved),
        round(cycles),
        around.clock_mhz,
    )


def parts_as_list(package: Package) -> list[dict[str, Any]]:
    """The parts for JSON."""
    return [
        {
            "part": number,
            "host": part.host,
            "nodes": list(part.nodes),
            "inputs": list(part.inputs),
            "outputs": list(part.outputs),
            "macs": part.macs,
            "bytes": len(part.data),
        }
        for number, part in enumerate(package.parts)
    ]


def part_line(package: Package, number: int) -> str:
    """``part 0, hardware: 3 nodes (a, b, c), x 1x3x8x8 -> y 1x4x8x8``."""
    part = package.parts[number]

    def tensors(names: tuple[str, ...]) -> str:
        found = []
        for name in names:
            known = package.tensors.get(name)
            found.append(name if known is None else f"{name} {known.sizes}")
        return ", ".join(found) or "nothing"

    text = f"part {number}, {part}, {tensors(part.inputs)} -> {tensors(part.outputs)}"
    return printable(text)
