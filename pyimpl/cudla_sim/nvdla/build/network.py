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

from cudla_sim.nvdla.build import quantize
from cudla_sim.nvdla.build.emit import Emitter
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
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.hw.configs import FP16, INT8, HardwareConfig, config


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
        return Emitter(self.config, self.precision, self.input, self.layers).emit()


def _config(name: str) -> HardwareConfig:
    return config(name)
