"""The bytes of a loadable: memories, task lists, tensors, and what it says of itself.

The arrangement follows the public compiler: a buffer for weights, one for activations, one per
tensor bound by the program, then the private lists of each task.
Source: nvdla/sw ``loadable.fbs``, ``Runtime.cpp``.
"""

from __future__ import annotations

from dataclasses import asdict
from itertools import product
from typing import Any

from cudla_sim.nvdla import annotation, emu
from cudla_sim.nvdla.build.container import Container
from cudla_sim.nvdla.build.container import Tensor as TensorEntry
from cudla_sim.nvdla.build.queue import add_dla_task, connect
from cudla_sim.nvdla.descriptors import (
    DataCube,
)
from cudla_sim.nvdla.facts.formats import FEATURE, FEATURE_X8
from cudla_sim.nvdla.facts.maps.enums import ENUMS
from cudla_sim.nvdla.facts.memory import PAGE
from cudla_sim.nvdla.facts.precisions import FP16, INT8, INT16, NAMES, element_size
from cudla_sim.nvdla.loadable import DataType, Interface, MemoryDomain, MemoryFlags

from .. import graph as g
from ..lower import planes
from ..lower.cubes import Buffer, Cube, cube_bytes, strides
from ..lower.network import Network
from ..options import CUTS, OVERLAP, Options
from . import banks, memory, order

_TYPES = {INT8: DataType.INT8, INT16: DataType.INT16, FP16: DataType.HALF}
_PLANAR_FORMATS = {
    INT8: ENUMS["pixel_format"]["T_R8"],
    INT16: ENUMS["pixel_format"]["T_R16_I"],
    FP16: ENUMS["pixel_format"]["T_R16_F"],
}


class Writer:
    """Writes the loadable of a lowered network."""

    def __init__(self, network: Network, graph: g.Graph, options: Options) -> None:
        self.network, self.graph, self.options = network, graph, asdict(options)
        self.without = options.without
        self.activation_bytes = 0
        self.cvsram_bytes = 0

    def plan(self) -> None:
        """Give everything its place."""
        network = self.network
        task = network.task
        kept = [cube.buffer for cube in network.emulated_sources]
        activations = [*network.homes.buffers, *task.scratch]
        overlap = OVERLAP not in self.without
        second: list[Buffer] = []
        if self.options["cvsram"]:
            from . import second as second_memory

            free = [buffer for buffer in activations if buffer not in kept]
            second = second_memory.choose(task, free, self.options["cvsram"], overlap)
            activations = [buffer for buffer in activations if not buffer.second]
            self.cvsram_bytes = memory.plan(task, second, (), overlap)
        self.activation_bytes = memory.plan(task, activations, kept, overlap)
        bound = self._bound()
        task.weights.entry = 1
        for buffer in activations:
            buffer.entry = 2
        for number, buffer in enumerate(bound):
            buffer.entry = 3 + number
        for buffer in second:
            buffer.entry = 3 + len(bound)
        task.place()
        if not {OVERLAP, CUTS} & set(self.without):
            banks.unite(task)
        connect(task.ops, order.overlapping(task) if overlap else order.serial(task.ops))

    def _bound(self) -> list[Buffer]:
        return [*self.network.input_buffers, *self.network.output_buffers]

    def write(self) -> bytes:
        """The loadable."""
        network, task, out = self.network, self.network.task, Container()
        out.memory(PAGE)
        contents = [
            (out.blob(f"tb-{number}", data), offset)
            for number, (offset, data) in enumerate(self._merged())
        ]
        out.memory(max(task.weights.size, PAGE), contents)
        out.memory(max(self.activation_bytes, PAGE))
        for ports, flag in (
            (self.graph.inputs, MemoryFlags.INPUT),
            (self.graph.outputs, MemoryFlags.OUTPUT),
        ):
            for number, port in enumerate(ports):
                entry = self._entry(port)
                mem = out.memory(entry.size, None, flag, number, len(out.tensors))
                out.tensor(entry, mem)
        entries = [buffer.entry for buffer in self._bound()]
        more = []
        if self.cvsram_bytes:
            more.append(out.memory(self.cvsram_bytes, domain=MemoryDomain.SRAM))
        add_dla_task(out, task.ops, task.luts, entries, self._whole, more)
        if network.emulated is not None:
            self._emu_task(out, entries)
        out.blob(annotation.BLOB, self._annotation().encode())
        return out.finish()

    def _merged(self) -> list[tuple[int, bytes]]:
        """All constants as one piece: a runtime fills it at once."""
        task = self.network.task
        pieces, end = [], 0
        for offset, part in sorted(task.blobs):
            pieces += [bytes(offset - end), part]
            end = offset + len(part)
        data = b"".join([*pieces, bytes(task.weights.size - end)])
        return [(0, data)] if data else []

    def _entry(self, port: g.Port) -> TensorEntry:
        network = self.network
        n, channels, height, width = port.value.shape
        if port.value in network.formats.pictures:
            picture = network.homes.picture(port.value)
            return TensorEntry(
                port.name,
                (channels, height, width),
                picture.size * n,
                picture.data_type,
                picture.format,
                (picture.element, picture.line, 0),
                image=True,
                batch=n,
            )
        config, precision = network.config, network.port_precision(port.value)
        if port.value in network.formats.planes:
            line, plane, size = planes.strides(port.value.shape, precision)
            return TensorEntry(
                port.name,
                (channels, height, width),
                size * n,
                _TYPES[precision],
                _PLANAR_FORMATS[precision],
                (element_size(precision), line, plane),
                planar=True,
                batch=n,
            )
        line, surface, size = strides(config, precision, (channels, height, width))
        return TensorEntry(
            port.name,
            (channels, height, width),
            size * n,
            _TYPES[precision],
            FEATURE_X8 if config.memory_atom == 8 else FEATURE,
            (element_size(precision), line, surface),
            batch=n,
        )

    # -- tasks --------------------------------------------------------------------------------

    def _whole(self, cube: DataCube) -> bool:
        """True if a cube is a network tensor and not a piece or another view of it."""
        ports = [*self.graph.inputs, *self.graph.outputs]
        if ports[cube.address - 3].value in self.network.formats.planes:
            return False
        _, _, height, width = ports[cube.address - 3].value.shape
        return cube.offset == 0 and (cube.height, cube.width) == (height, width)

    def _emu_task(self, out: Container, bound: list[int]) -> None:
        """Softmax on the host, from wherever its input is to the output."""
        network = self.network
        node = network.emulated
        assert node is not None
        number = network.outputs.index(node.output)
        target = network.output_buffers[number]
        if network.precision == FP16:
            kind = int(emu.EmuFormat.FF16)
        else:
            small = network.config.memory_atom == 8
            kind = int(emu.EmuFormat.INT8_8 if small else emu.EmuFormat.INT8)
        atom = network.config.memory_atom
        channels, height, width = node.output.shape[1:]
        size = cube_bytes(network.config, network.precision, (channels, 1, 1))
        picture = cube_bytes(network.config, network.precision, (channels, height, width))
        scales = network.scale(node.inputs[0]), network.scale(node.output)
        rows = [
            (cube.buffer, cube.offset + y * cube.line + x * atom, image * picture + at * atom)
            for image, cube in enumerate(network.emulated_sources)
            for at, (y, x) in enumerate(product(range(height), range(width)))
        ]
        buffers = []
        for source, at, written in rows:
            for buffer, offset in ((source, at), (target, written)):
                place = buffer.offset + offset
                desc = emu.BufferDesc(buffer.entry, place, size, kind, 1, 1, channels, atom, atom)
                buffers.append(emu.encode_buffer(desc))
        operations = emu.encode_softmax(scales[0] or 1.0, scales[1] or 1.0) * len(rows)
        interface = Interface.EMU1
        base = 3 + len(bound)
        addresses = [
            out.single(
                "task-1-addr0",
                emu.encode_network(base, base + 1, len(rows)),
                interface,
                1,
            ),
            1,
            2,
            *bound,
            out.single("task-1-op_list", operations, interface, 3),
            out.single("task-1-op_buf_list", b"".join(buffers), interface, 4),
        ]
        out.task(interface, addresses)
        if (height, width) == (1, 1):  # else the strides given are not those of the tensor
            for image in range(len(rows)):
                position = (2 * image + 1) * emu.BUFFER_SIZE + emu.LINE_STRIDE_AT
                out.strides_at(target.entry, addresses[base + 1], position, interface, 4)

    # -- annotation ---------------------------------------------------------------------------

    def _annotation(self) -> annotation.Annotation:
        network = self.network
        return annotation.Annotation(
            inputs=tuple(self._port(port) for port in self.graph.inputs),
            outputs=tuple(self._port(port) for port in self.graph.outputs),
            operations=tuple(
                annotation.OperationNote(index=index, nodes=tuple(op.label.split(" + ")))
                for index, op in enumerate(network.task.ops)
            ),
            places=tuple(self._places()),
            options=self.options,
        )

    def _port(self, port: g.Port) -> annotation.PortNote:
        half = self.network.port_precision(port.value) == FP16
        scale = None if half else self.network.scale(port.value)
        if port.image is not None:  # the tensor are the pixels
            scale = 1.0
        return annotation.PortNote(
            name=port.name,
            shape=tuple(port.shape),
            value=port.value.shape,
            order=port.order,
            dtype=port.dtype,
            scale=scale,
            split=port.split,
            integer_scale=port.scale,
            integer_zero=port.zero_point,
        )

    def _places(self) -> list[annotation.PlaceNote]:
        """Where the values of the graph lie when their operations have run."""
        network = self.network
        known = set(self.graph.values())
        found = []
        for item in network.passes:
            value = item.output
            if value not in known or value not in network.homes:
                continue
            cube = network.homes.cube(value)
            operations = network.ranges.get(value)
            if operations is None or not len(operations):
                continue
            found.append(self._place(value, cube, operations))
        return found

    def _place(self, value: g.Value, cube: Cube, operations: range) -> annotation.PlaceNote:
        surfaces = -(-cube.channels // cube.per_atom)
        channels = None if cube.dense else tuple(int(item) for item in cube.positions)
        return annotation.PlaceNote(
            name=value.name,
            value=value.shape,
            operations=tuple(operations),
            address=cube.buffer.entry,
            offset=cube.buffer.offset + cube.offset,
            line=cube.line,
            surface=cube.surface,
            batch=surfaces * cube.surface,
            precision=NAMES[cube.precision],
            scale=None if cube.precision == FP16 and cube.scale == 1.0 else cube.scale,
            zero=cube.zero,
            channels=channels,
        )


def report(writer: Writer) -> dict[str, Any]:
    """What a user wants to know of the result."""
    network = writer.network
    kinds: dict[str, int] = {}
    for op in network.task.ops:
        kinds[op.op_type.name] = kinds.get(op.op_type.name, 0) + 1
    if network.emulated is not None:
        cubes = network.emulated_sources
        kinds["EMU"] = sum(cube.height * cube.width for cube in cubes)
    return {
        "operations": kinds,
        "weight_bytes": network.task.weights.size,
        "activation_bytes": writer.activation_bytes,
        "cvsram_bytes": writer.cvsram_bytes,
        "luts": len(network.task.luts),
        "curves": {name: round(found, 1) for name, found in network.task.curves.items()},
        "scales": {
            value.name: network.scale(value)
            for value in network.homes.homes
            if network.precision != FP16
        },
        "zero_points": {value.name: zero for value, zero in network.homes.zeros.items()},
    }
