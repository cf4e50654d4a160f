"""From layers to the bytes of a loadable: memory plan, task lists, container."""

from __future__ import annotations

from .. import emu
from ..facts.configs import HardwareConfig
from ..facts.formats import FEATURE, FEATURE_X8
from ..facts.memory import PAGE
from ..facts.precisions import FP16, INT16, element_size
from ..loadable import DataType, Interface, MemoryFlags
from .container import Container
from .container import Tensor as TensorEntry
from .convolution import picture
from .layers import Image, Layer, Softmax, Tensor
from .lower import Lowering
from .places import ACTIVATIONS, INPUT, OUTPUT, WEIGHTS, Place
from .queue import add_dla_task, connect


class Emitter:
    """Writes one network."""

    def __init__(
        self,
        config: HardwareConfig,
        precision: int,
        source: Tensor,
        layers: list[Layer],
        image: Image | None = None,
    ) -> None:
        self.program = Lowering(config, precision, image=image)
        self.input = source
        self.layers = layers
        last = layers[-1]
        self.softmax = last if isinstance(last, Softmax) else None
        self.hardware = [layer for layer in layers if layer is not self.softmax]
        self.activation_bytes = self._place()

    def _bytes(self, tensor: Tensor) -> int:
        return self.program.strides(tensor.shape)[2]

    def _place(self) -> int:
        """Give every tensor a place; return the size of the activation buffer.

        Tensors share memory when their lifetimes do not overlap (first fit).
        """
        places = self.program.places
        places[self.input] = Place(INPUT)
        last_use = {
            item: number for number, layer in enumerate(self.layers) for item in layer.inputs
        }
        live: list[tuple[int, int, Tensor]] = []
        total = PAGE
        for number, layer in enumerate(self.hardware):
            tensor = layer.output
            if tensor is self.layers[-1].output:
                places[tensor] = Place(OUTPUT)
                continue
            live = [item for item in live if last_use.get(item[2], number) >= number]
            size = -(-self._bytes(tensor) // PAGE) * PAGE
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
        precision = self.program.precision
        image = self.program.image
        if image is not None and tensor is self.input:
            cube = picture(tensor)
            steps = (1, cube.line_stride, 0)
            return TensorEntry(
                tensor.name, tensor.shape, cube.size, DataType.UINT8, image.number, steps, True
            )
        line, surface, size = self.program.strides(tensor.shape)
        return TensorEntry(
            tensor.name,
            tensor.shape,
            size,
            {FP16: DataType.HALF, INT16: DataType.INT16}.get(precision, DataType.INT8),
            FEATURE_X8 if self.program.config.memory_atom == 8 else FEATURE,
            (element_size(precision), line, surface),
        )

    def emit(self) -> bytes:
        """Return the loadable."""
        program = self.program
        for layer in self.hardware:
            program.add(layer)
        connect(program.ops)
        out = Container()
        out.memory(PAGE)
        contents = [
            (out.blob(f"tb-{number}", data), offset)
            for number, (offset, data) in enumerate(program.blobs)
        ]
        out.memory(max(program.weight_bytes, PAGE), contents)
        out.memory(self.activation_bytes)
        for tensor, flag in (
            (self.input, MemoryFlags.INPUT),
            (self.layers[-1].output, MemoryFlags.OUTPUT),
        ):
            entry = self._entry(tensor)
            number = out.memory(entry.size, None, flag, 0, len(out.tensors))
            out.tensor(entry, number)
        add_dla_task(out, program.ops, program.luts, [INPUT, OUTPUT], lambda cube: True)
        if self.softmax is not None:
            self._emu_task(out, self.softmax)
        return out.finish()

    def _emu_task(self, out: Container, layer: Softmax) -> None:
        """A softmax from the activation buffer (or wherever its input is) to the output."""
        source, target = layer.inputs[0], layer.output
        self.program.places[target] = Place(OUTPUT)
        places = self.program.places
        if self.program.precision == FP16:
            kind = int(emu.EmuFormat.FF16)
        else:
            small = self.program.config.memory_atom == 8
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
