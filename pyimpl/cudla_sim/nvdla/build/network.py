"""The builder's front: describe a network, get a loadable.

Example::

    net = Network(input=("data", (1, 1, 8, 8)), precision="int8", config="nv_small")
    net.conv2d(weights, bias, padding=1, relu=True)
    net.max_pool(2)
    net.fully_connected(weights, bias)
    net.softmax()
    data = net.build(calibration=images)

Layers work on the tensor made last, or on the tensor given as ``source``. Arrays are
[n, c, h, w] and real numbers; int8 networks need sample inputs for calibration.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla import emu, layout
from cudla_sim.nvdla.build import quantize
from cudla_sim.nvdla.build.container import Container
from cudla_sim.nvdla.build.container import Tensor as TensorEntry
from cudla_sim.nvdla.build.layers import (
    Activation,
    Add,
    Array,
    Conv,
    Layer,
    Pool,
    Scale,
    Softmax,
    Tensor,
    as_float,
    four,
    output_size,
    pair,
)
from cudla_sim.nvdla.build.lower import (
    ACTIVATIONS,
    INPUT,
    OUTPUT,
    WEIGHTS,
    Place,
    Program,
)
from cudla_sim.nvdla.descriptors import (
    LUT_SIZE,
    OPERATION_SIZE,
    SURFACE_SIZE,
    ConvSurface,
    DataCube,
    LutParam,
    NetworkDesc,
)
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.hw.configs import FP16, INT8, HardwareConfig, config
from cudla_sim.nvdla.loadable import DataType, Interface, MemoryFlags

_PAGE = 4096
_LINE_STRIDE_AT = 20
"""Byte offset of line_stride inside a data cube."""


class Network:
    """A network under construction for one hardware configuration.

    *input* is (name, (1, c, h, w)); *precision* "int8" or "fp16" (nv_full only).
    """

    def __init__(
        self,
        input: tuple[str, tuple[int, int, int, int]],
        precision: str = "int8",
        config: str = "nv_full",
    ) -> None:
        name, shape = input
        if len(shape) != 4 or shape[0] != 1 or min(shape) < 1:
            raise NvdlaError(f"input shape {shape}: (1, channels, height, width) expected")
        self.config = _config(config)
        self.precision = {"int8": INT8, "fp16": FP16}.get(precision, -1)
        if self.precision not in self.config.precisions:
            raise NvdlaError(f"{self.config.name} cannot run {precision} networks of this builder")
        self.input = Tensor(name, (shape[1], shape[2], shape[3]))
        self.layers: list[Layer] = []
        self._last = self.input

    # -- layers -------------------------------------------------------------------------------

    @property
    def output(self) -> Tensor:
        """The tensor made last."""
        return self._last

    def _add(self, layer: Layer) -> Tensor:
        if self.layers and isinstance(self.layers[-1], Softmax):
            raise NvdlaError("softmax must be the last layer")
        channels, height, width = layer.output.shape
        if min(channels, height, width) < 1:
            raise NvdlaError(f"{layer.name}: the output would be {layer.output.shape}")
        self.layers.append(layer)
        self._last = layer.output
        return layer.output

    def _name(self, given: str | None, kind: str) -> str:
        return given or f"{kind}{len(self.layers)}"

    def conv2d(
        self,
        weights: Any,
        bias: Any = None,
        *,
        stride: int | tuple[int, int] = 1,
        padding: int | tuple[int, ...] = 0,
        dilation: int | tuple[int, int] = 1,
        relu: bool = False,
        name: str | None = None,
        source: Tensor | None = None,
    ) -> Tensor:
        """Convolve with *weights* [kernel, channel, row, column] and add *bias* [kernel].

        *padding* is one number, (y, x) or (top, bottom, left, right).
        """
        data = as_float(weights)
        origin = source or self._last
        label = self._name(name, "conv")
        if data.ndim != 4 or data.shape[1] != origin.shape[0]:
            raise NvdlaError(
                f"{label}: weights {data.shape} do not fit {origin.shape[0]} input channels"
            )
        offset = np.zeros(len(data), np.float32) if bias is None else as_float(bias)
        if offset.shape != (len(data),):
            raise NvdlaError(f"{label}: bias {offset.shape}, {len(data)} kernels")
        steps, pads, gaps = pair(stride), four(padding), pair(dilation)
        _, height, width = origin.shape
        shape = (
            len(data),
            output_size(height, data.shape[2], steps[0], pads[0], pads[1], gaps[0]),
            output_size(width, data.shape[3], steps[1], pads[2], pads[3], gaps[1]),
        )
        output = Tensor(label, shape)
        return self._add(Conv(label, [origin], output, relu, data, offset, steps, pads, gaps))

    def fully_connected(
        self,
        weights: Any,
        bias: Any = None,
        *,
        relu: bool = False,
        name: str | None = None,
        source: Tensor | None = None,
    ) -> Tensor:
        """Multiply with *weights* [output, c * h * w] (channel-major) and add *bias*."""
        origin = source or self._last
        label = self._name(name, "fc")
        data = as_float(weights)
        if data.ndim != 2 or data.shape[1] != int(np.prod(origin.shape)):
            raise NvdlaError(f"{label}: weights {data.shape} do not fit an input of {origin.shape}")
        kernels = data.reshape(len(data), *origin.shape)
        return self.conv2d(kernels, bias, relu=relu, name=label, source=origin)

    def relu(self, *, name: str | None = None, source: Tensor | None = None) -> Tensor:
        """Clip negative values; part of the layer before if that allows it."""
        origin = source or self._last
        previous = self.layers[-1] if self.layers else None
        if (
            previous is not None
            and previous.output is origin
            and isinstance(previous, Conv | Scale | Add | Activation)
        ):
            previous.relu = True
            return origin
        label = self._name(name, "relu")
        return self._add(Activation(label, [origin], Tensor(label, origin.shape), True))

    def scale(
        self,
        scale: Any,
        shift: Any = None,
        *,
        relu: bool = False,
        name: str | None = None,
        source: Tensor | None = None,
    ) -> Tensor:
        """Multiply and shift each channel (batch normalisation at inference)."""
        origin = source or self._last
        channels = origin.shape[0]
        factor = np.broadcast_to(as_float(scale), (channels,)).copy()
        offset = np.broadcast_to(as_float(0.0 if shift is None else shift), (channels,)).copy()
        label = self._name(name, "scale")
        return self._add(Scale(label, [origin], Tensor(label, origin.shape), relu, factor, offset))

    def _pool(
        self,
        average: bool,
        kernel: int | tuple[int, int],
        stride: int | tuple[int, int] | None,
        padding: int | tuple[int, ...],
        name: str | None,
        source: Tensor | None,
    ) -> Tensor:
        origin = source or self._last
        size = pair(kernel)
        steps, pads = pair(stride if stride is not None else size), four(padding)
        label = self._name(name, "avgpool" if average else "maxpool")
        channels, height, width = origin.shape
        shape = (
            channels,
            output_size(height, size[0], steps[0], pads[0], pads[1]),
            output_size(width, size[1], steps[1], pads[2], pads[3]),
        )
        output = Tensor(label, shape)
        return self._add(Pool(label, [origin], output, False, average, size, steps, pads))

    def max_pool(
        self,
        kernel: int | tuple[int, int],
        stride: int | tuple[int, int] | None = None,
        padding: int | tuple[int, ...] = 0,
        *,
        name: str | None = None,
        source: Tensor | None = None,
    ) -> Tensor:
        """Take the maximum of each window (stride = kernel by default)."""
        return self._pool(False, kernel, stride, padding, name, source)

    def avg_pool(
        self,
        kernel: int | tuple[int, int],
        stride: int | tuple[int, int] | None = None,
        padding: int | tuple[int, ...] = 0,
        *,
        name: str | None = None,
        source: Tensor | None = None,
    ) -> Tensor:
        """Take the mean of each window; padding counts as zeros."""
        return self._pool(True, kernel, stride, padding, name, source)

    def add(
        self, first: Tensor, second: Tensor, *, relu: bool = False, name: str | None = None
    ) -> Tensor:
        """Add two tensors of one shape."""
        label = self._name(name, "add")
        if first.shape != second.shape:
            raise NvdlaError(f"{label}: shapes {first.shape} and {second.shape} differ")
        return self._add(Add(label, [first, second], Tensor(label, first.shape), relu))

    def softmax(self, *, name: str | None = None) -> Tensor:
        """Softmax over the channels as the last layer, computed on the host (EMU task)."""
        label = self._name(name, "softmax")
        if self._last.shape[1:] != (1, 1):
            raise NvdlaError(f"{label}: needs a 1 x 1 input, it is {self._last.shape}")
        return self._add(Softmax(label, [self._last], Tensor(label, self._last.shape)))

    # -- results ------------------------------------------------------------------------------

    def reference(self, images: Any) -> Array:
        """Return what the network computes in floating point, [n, c, h, w]."""
        data = as_float(images)
        return quantize.run(self.layers, self.input, data)[self._last]

    def quantize_input(self, images: Any) -> NDArray[Any]:
        """Return input values in the element type of the loadable (after ``build``)."""
        if self.precision == FP16:
            return np.asarray(images, np.float16)
        steps = np.rint(np.asarray(images, np.float64) / self.input.scale)
        return np.clip(steps, -128, 127).astype(np.int8)

    def dequantize_output(self, values: NDArray[Any]) -> Array:
        """Return real values for elements of the output tensor (after ``build``)."""
        if self.precision == FP16:
            return values.astype(np.float32)
        return values.astype(np.float32) * np.float32(self._last.scale)

    def build(self, calibration: Any = None) -> bytes:
        """Return the loadable. int8 networks need *calibration* inputs [n, c, h, w]."""
        if not self.layers:
            raise NvdlaError("the network has no layers")
        if not any(not isinstance(layer, Softmax) for layer in self.layers):
            raise NvdlaError("a network needs a layer that runs on the DLA before softmax")
        if self.precision == INT8:
            if calibration is None:
                raise NvdlaError("an int8 network needs calibration inputs to choose its scales")
            data = as_float(calibration)
            if data.shape[1:] != self.input.shape:
                raise NvdlaError(f"calibration {data.shape}, input {self.input.shape}")
            quantize.calibrate(self.layers, self.input, data)
        return _Emitter(self).emit()


def _config(name: str) -> HardwareConfig:
    return config(name)


class _Emitter:
    """Writes one network."""

    def __init__(self, net: Network) -> None:
        self.net = net
        self.program = Program(net.config, net.precision)
        self.softmax = net.layers[-1] if isinstance(net.layers[-1], Softmax) else None
        self.hardware = [layer for layer in net.layers if layer is not self.softmax]
        self.activation_bytes = self._place()

    def _bytes(self, tensor: Tensor) -> int:
        return self.program.strides(tensor.shape)[2]

    def _place(self) -> int:
        """Give every tensor a place; return the size of the activation buffer.

        Tensors share memory when their lifetimes do not overlap (first fit).
        """
        places = self.program.places
        places[self.net.input] = Place(INPUT)
        last_use = {
            item: number for number, layer in enumerate(self.net.layers) for item in layer.inputs
        }
        live: list[tuple[int, int, Tensor]] = []
        total = _PAGE
        for number, layer in enumerate(self.hardware):
            tensor = layer.output
            if tensor is self.net.output:
                places[tensor] = Place(OUTPUT)
                continue
            live = [item for item in live if last_use.get(item[2], number) >= number]
            size = -(-self._bytes(tensor) // _PAGE) * _PAGE
            offset = 0
            for start, end, _ in sorted(live, key=lambda item: item[0]):
                if offset + size <= start:
                    break
                offset = max(offset, end)
            live.append((offset, offset + size, tensor))
            total = max(total, offset + size)
            places[tensor] = Place(ACTIVATIONS, offset)
        return total

    def _entry(self, tensor: Tensor) -> TensorEntry:
        fp16 = self.net.precision == FP16
        line, surface, size = self.program.strides(tensor.shape)
        return TensorEntry(
            tensor.name,
            tensor.shape,
            size,
            DataType.HALF if fp16 else DataType.INT8,
            layout.FEATURE_X8 if self.net.config.memory_atom == 8 else layout.FEATURE,
            (2 if fp16 else 1, line, surface),
        )

    def emit(self) -> bytes:
        """Return the loadable."""
        program = self.program
        for layer in self.hardware:
            program.add(layer)
        program.connect()
        out = Container()
        out.memory(_PAGE)
        contents = [
            (out.blob(f"tb-{number}", data), offset)
            for number, (offset, data) in enumerate(program.blobs)
        ]
        out.memory(max(program.weight_bytes, _PAGE), contents)
        out.memory(self.activation_bytes)
        for tensor, flag in (
            (self.net.input, MemoryFlags.INPUT),
            (self.net.output, MemoryFlags.OUTPUT),
        ):
            entry = self._entry(tensor)
            number = out.memory(entry.size, None, flag, 0, len(out.tensors))
            out.tensor(entry, number)
        self._dla_task(out)
        if self.softmax is not None:
            self._emu_task(out, self.softmax)
        return out.finish()

    def _dla_task(self, out: Container) -> None:
        ops = self.program.ops
        shared = [WEIGHTS, ACTIVATIONS, INPUT, OUTPUT]
        network = NetworkDesc(
            dependency_graph_index=5,
            operation_desc_index=6,
            surface_desc_index=7,
            lut_data_index=8,
            op_head=self.program.heads(),
            num_operations=len(ops),
            num_addresses=10,
            input_layer=0,
        )
        graph = b"".join(op.entry.encode() for op in ops)
        operations = b"".join(op.operation.encode(pad_to=OPERATION_SIZE) for op in ops)
        surfaces = b"".join(op.surface.encode(pad_to=SURFACE_SIZE) for op in ops)
        kind = Interface.DLA1
        addresses = [
            out.single("task-0-addr0", network.encode(), kind, 1),
            *shared,
            out.single("task-0-dep_graph", graph, kind, 2),
            out.single("task-0-op_list", operations, kind, 3),
            out.single("task-0-surf_list", surfaces, kind, 4),
            out.single("task-0-lut_list", LutParam().encode(pad_to=LUT_SIZE), kind, 5),
            out.memory(_PAGE),
        ]
        out.task(kind, addresses)
        surface_memory = addresses[7]
        for index, op in enumerate(ops):
            for offset, cube in self._bound_cubes(op.surface):
                position = index * SURFACE_SIZE + offset + _LINE_STRIDE_AT
                out.strides_at(cube.address, surface_memory, position, kind, 4)

    @staticmethod
    def _bound_cubes(surface: Any) -> list[tuple[int, DataCube]]:
        """Source and destination cubes that are network tensors, with their byte offset."""
        size = DataCube.byte_size()
        if isinstance(surface, ConvSurface):
            pairs = [(3 * size, surface.src)]
        else:
            last = 4 if hasattr(surface, "x1") else 1
            pairs = [(0, surface.src), (last * size, surface.dst)]
        return [item for item in pairs if item[1].address in (INPUT, OUTPUT)]

    def _emu_task(self, out: Container, layer: Softmax) -> None:
        """A softmax from the activation buffer (or wherever its input is) to the output."""
        source, target = layer.inputs[0], layer.output
        self.program.places[target] = Place(OUTPUT)
        places = self.program.places
        if self.net.precision == FP16:
            kind = int(emu.EmuFormat.FF16)
        else:
            small = self.net.config.memory_atom == 8
            kind = int(emu.EmuFormat.INT8_8 if small else emu.EmuFormat.INT8)
        buffers = b""
        for tensor in (source, target):
            line, surface, size = self.program.strides(tensor.shape)
            channels, height, width = tensor.shape
            desc = emu.BufferDesc(
                places[tensor].address,
                places[tensor].offset,
                size,
                kind,
                width,
                height,
                channels,
                line,
                surface,
            )
            buffers += emu.encode_buffer(desc)
        operation = emu.encode_softmax(source.scale or 1.0, target.scale or 1.0)
        number = Interface.EMU1
        addresses = [
            out.single("task-1-addr0", emu.encode_network(5, 6, 1), number, 1),
            WEIGHTS,
            ACTIVATIONS,
            INPUT,
            OUTPUT,
            out.single("task-1-op_list", operation, number, 3),
            out.single("task-1-op_buf_list", buffers, number, 4),
        ]
        out.task(number, addresses)
        position = emu.BUFFER_SIZE + emu.LINE_STRIDE_AT
        out.strides_at(OUTPUT, addresses[6], position, number, 4)
