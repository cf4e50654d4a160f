"""The builder's front: describe a network, get a loadable.

Example::

    net = Network(input=("data", (1, 1, 8, 8)), precision="int8", config="nv_small")
    net.conv2d(weights, bias, padding=1, relu=True)
    net.max_pool(2)
    net.fully_connected(weights, bias)
    net.softmax()
    data = net.build(calibration=images)

Layers work on the tensor made last, or on the tensor given as ``source``. Arrays are
[n, c, h, w] and real numbers; integer networks need sample inputs for calibration.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..check import check
from ..errors import NvdlaError
from ..facts.configs import HardwareConfig, config
from ..facts.formats import FEATURE
from ..facts.pooling import covered
from ..facts.precisions import FP16, INT16, NUMBERS, RANGES
from ..facts.windows import extent, output_size
from ..hw.memory import DTYPES
from ..hw.units.pixels import channel_order, element_bytes
from ..loadable import Loadable
from . import quantize
from .emit import Emitter
from .layers import (
    CURVES,
    POOLS,
    Activation,
    Add,
    Array,
    Contract,
    Conv,
    Curve,
    Image,
    Layer,
    Normalise,
    Pool,
    Scale,
    Softmax,
    Tensor,
    as_float,
    four,
    pair,
)


class Network:
    """A network under construction for one hardware configuration.

    *input* is (name, (1, c, h, w)); *precision* "int8", "int16" or "fp16" (nv_full only).
    With *image*, inputs are pictures of 8-bit pixels (1 or 4 channels), read by a convolution.
    """

    def __init__(
        self,
        input: tuple[str, tuple[int, int, int, int]],
        precision: str = "int8",
        config: str = "nv_full",
        image: Image | None = None,
    ) -> None:
        name, shape = input
        if len(shape) != 4 or shape[0] != 1 or min(shape) < 1:
            raise NvdlaError(f"input shape {shape}: (1, channels, height, width) expected")
        self.config = _config(config)
        self.precision = NUMBERS.get(precision, -1)
        if self.precision not in self.config.precisions:
            raise NvdlaError(f"{self.config.name} cannot run {precision} networks of this builder")
        self.image = image
        if image is not None:
            order = channel_order(image.format) if image.number < FEATURE else None
            if order is None or element_bytes(image.format) != 1 or len(order) != shape[1]:
                raise NvdlaError(
                    f"image input {shape} as {image.format}: an interleaved 8-bit format with"
                    f" {shape[1]} channels expected"
                )
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
        compress: bool = False,
        name: str | None = None,
        source: Tensor | None = None,
    ) -> Tensor:
        """Convolve with *weights* [kernel, channel, row, column] and add *bias* [kernel].

        *padding* is one number, (y, x) or (top, bottom, left, right). *compress* stores only the
        weights that are not zero (configurations with weight compression).
        """
        data = as_float(weights)
        origin = source or self._last
        label = self._name(name, "conv")
        if self.image is not None and origin is self.input and data.ndim == 4:
            missing = origin.shape[0] - data.shape[1]  # A or X of a pixel counts nothing
            data = np.pad(data, ((0, 0), (0, max(missing, 0)), (0, 0), (0, 0)))
        if data.ndim != 4 or data.shape[1] != origin.shape[0]:
            raise NvdlaError(
                f"{label}: weights {data.shape} do not fit {origin.shape[0]} input channels"
            )
        offset = np.zeros(len(data), np.float32) if bias is None else as_float(bias)
        if offset.shape != (len(data),):
            raise NvdlaError(f"{label}: bias {offset.shape}, {len(data)} kernels")
        if compress and not self.config.compression:
            raise NvdlaError(f"{label}: {self.config.name} has no weight compression")
        steps, pads, gaps = pair(stride), four(padding), pair(dilation)
        _, height, width = origin.shape
        shape = (
            len(data),
            output_size(height, extent(data.shape[2], gaps[0]), steps[0], pads[0], pads[1]),
            output_size(width, extent(data.shape[3], gaps[1]), steps[1], pads[2], pads[3]),
        )
        output = Tensor(label, shape)
        return self._add(
            Conv(label, [origin], output, relu, data, offset, steps, pads, gaps, compress)
        )

    def deconv2d(
        self,
        weights: Any,
        bias: Any = None,
        *,
        stride: int | tuple[int, int] = 2,
        relu: bool = False,
        name: str | None = None,
        source: Tensor | None = None,
    ) -> Tensor:
        """Transposed convolution with *weights* [channel, kernel, row, column] (nv_full only).

        Rows and columns must be multiples of the stride. A convolution computes the pixels of all
        positions modulo the stride as groups of channels, RUBIK spreads them.
        """
        data, (sy, sx), origin = as_float(weights), pair(stride), source or self._last
        label = self._name(name, "deconv")
        if not self.config.rubik:
            raise NvdlaError(f"{label}: {self.config.name} has no RUBIK unit")
        if data.ndim != 4 or data.shape[0] != origin.shape[0]:
            raise NvdlaError(f"{label}: weights {data.shape}, {origin.shape[0]} input channels")
        channels, kernels, rows, columns = data.shape
        if rows % sy or columns % sx:
            raise NvdlaError(
                f"{label}: {columns} x {rows} weights are no multiple of the stride {sx}, {sy}"
            )
        atom = self.config.channels_per_atom(self.precision)
        group, taps = -(-kernels // atom) * atom, (rows // sy, columns // sx)
        # row sy * t + j of the weights belongs to position j and to the input t lines above
        split = data.reshape(channels, kernels, taps[0], sy, taps[1], sx)[:, :, ::-1, :, ::-1]
        spread = np.zeros((sy, sx, group, channels, *taps), np.float32)
        spread[:, :, :kernels] = split.transpose(3, 5, 1, 0, 2, 4)
        shift = np.zeros((sy, sx, group), np.float32)
        if bias is not None:
            shift[:, :, :kernels] = as_float(bias)
        pads = (taps[0] - 1, taps[0] - 1, taps[1] - 1, taps[1] - 1)
        middle = self.conv2d(
            spread.reshape(-1, channels, *taps),
            shift.reshape(-1),
            padding=pads,
            relu=relu,
            name=f"{label} positions",
            source=origin,
        )
        _, height, width = middle.shape
        output = Tensor(label, (kernels, height * sy, width * sx))
        return self._add(Contract(label, [middle], output, stride=(sy, sx), group=group))

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

    def curve(
        self, function: str, *, name: str | None = None, source: Tensor | None = None
    ) -> Tensor:
        """Apply a function of one variable, "sigmoid" or "tanh", with a look-up table. Raises
        NvdlaError for another one, and where the configuration has no tables."""
        if function not in CURVES:
            raise NvdlaError(f"curve {function!r} does not exist; there are {', '.join(CURVES)}")
        origin = source or self._last
        label = self._name(name, function)
        self._need_lut(label)
        output = Tensor(label, origin.shape)
        return self._add(Curve(label, [origin], output, function=function))

    def _need_lut(self, label: str) -> None:
        if not self.config.lut:
            raise NvdlaError(f"{label}: {self.config.name} has no look-up tables")

    def sigmoid(self, *, name: str | None = None, source: Tensor | None = None) -> Tensor:
        """Apply 1 / (1 + exp(-x)) with the look-up table of SDP."""
        return self.curve("sigmoid", name=name, source=source)

    def tanh(self, *, name: str | None = None, source: Tensor | None = None) -> Tensor:
        """Apply tanh(x) with the look-up table of SDP."""
        return self.curve("tanh", name=name, source=source)

    def lrn(
        self,
        size: int = 5,
        alpha: float = 1e-4,
        beta: float = 0.75,
        k: float = 1.0,
        *,
        name: str | None = None,
        source: Tensor | None = None,
    ) -> Tensor:
        """Normalise by the squares of *size* (3, 5, 7, 9) neighbouring channels."""
        origin = source or self._last
        label = self._name(name, "lrn")
        self._need_lut(label)
        if size not in (3, 5, 7, 9) or k <= 0 or alpha < 0:
            raise NvdlaError(f"{label}: size {size}, k {k}, alpha {alpha} are not possible")
        output = Tensor(label, origin.shape)
        return self._add(Normalise(label, [origin], output, size=size, alpha=alpha, beta=beta, k=k))

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

    def pool(
        self,
        method: str,
        kernel: int | tuple[int, int],
        stride: int | tuple[int, int] | None = None,
        padding: int | tuple[int, ...] = 0,
        *,
        name: str | None = None,
        source: Tensor | None = None,
    ) -> Tensor:
        """Pool each window (stride = kernel by default) with *method* "average" (padding counts
        as zeros), "max" or "min". Raises NvdlaError for another one."""
        if method not in POOLS:
            raise NvdlaError(f"pooling {method!r} does not exist; there are {', '.join(POOLS)}")
        origin = source or self._last
        size = pair(kernel)
        steps, pads = pair(stride if stride is not None else size), four(padding)
        label = self._name(name, {"average": "avg"}.get(method, method) + "pool")
        channels, height, width = origin.shape
        shape = (
            channels,
            output_size(height, size[0], steps[0], pads[0], pads[1]),
            output_size(width, size[1], steps[1], pads[2], pads[3]),
        )
        for axis, length in enumerate((height, width)):
            before = pads[2 * axis]
            behind = covered(length, shape[1 + axis], size[axis], steps[axis], before)[1]
            if max(before, behind) >= size[axis]:  # a window of nothing but padding
                raise NvdlaError(
                    f"{label}: padding {pads}; less than the window {size} is possible"
                )
        output = Tensor(label, shape)
        return self._add(Pool(label, [origin], output, False, method, size, steps, pads))

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
        return self.pool("max", kernel, stride, padding, name=name, source=source)

    def min_pool(
        self,
        kernel: int | tuple[int, int],
        stride: int | tuple[int, int] | None = None,
        padding: int | tuple[int, ...] = 0,
        *,
        name: str | None = None,
        source: Tensor | None = None,
    ) -> Tensor:
        """Take the minimum of each window (stride = kernel by default)."""
        return self.pool("min", kernel, stride, padding, name=name, source=source)

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
        return self.pool("average", kernel, stride, padding, name=name, source=source)

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
        if self.precision == INT16:
            raise NvdlaError(f"{label}: the software task knows int8 and fp16, not int16")
        if self._last.shape[1:] != (1, 1):
            raise NvdlaError(f"{label}: needs a 1 x 1 input, it is {self._last.shape}")
        return self._add(Softmax(label, [self._last], Tensor(label, self._last.shape)))

    # -- results ------------------------------------------------------------------------------

    def reference(self, images: Any) -> Array:
        """Return what the network computes in floating point, [n, c, h, w]."""
        data = as_float(images) if self.image is None else self.image.values(images)
        return quantize.run(self.layers, self.input, data)[self._last]

    def quantize_input(self, images: Any) -> NDArray[Any]:
        """Return input values in the element type of the loadable (after ``build``)."""
        if self.image is not None:
            return np.asarray(images, np.uint8)
        if self.precision == FP16:
            return np.asarray(images, np.float16)
        steps = np.rint(np.asarray(images, np.float64) / self.input.scale)
        return np.clip(steps, *RANGES[self.precision]).astype(DTYPES[self.precision])

    def dequantize_output(self, values: NDArray[Any]) -> Array:
        """Return real values for elements of the output tensor (after ``build``)."""
        if self.precision == FP16:
            return values.astype(np.float32)
        return values.astype(np.float32) * np.float32(self._last.scale)

    def build(self, calibration: Any = None, *, checked: bool = True) -> bytes:
        """Return the loadable. Integer networks need *calibration* inputs [n, c, h, w].

        Raises NvdlaError for a network that the configuration would not take as it is: this
        builder does not cut layers into parts, the ONNX compiler does. Not *checked*, it is
        written all the same, for studies of times and of the checker.
        """
        if not self.layers:
            raise NvdlaError("the network has no layers")
        if self.image is not None:
            readers = [layer for layer in self.layers if self.input in layer.inputs]
            if not all(isinstance(item, Conv) and item.dilation == (1, 1) for item in readers):
                raise NvdlaError("only convolutions without dilation can read an image")
        if not any(not isinstance(layer, Softmax) for layer in self.layers):
            raise NvdlaError("a network needs a layer that runs on the DLA before softmax")
        if self.precision != FP16:
            if calibration is None:
                raise NvdlaError("an integer network needs calibration inputs to choose its scales")
            data = as_float(calibration)
            if self.image is not None:
                data = self.image.values(data)
            if data.shape[1:] != self.input.shape:
                raise NvdlaError(f"calibration {data.shape}, input {self.input.shape}")
            limit = RANGES[self.precision][1]
            quantize.calibrate(self.layers, self.input, data, limit)
        made = Emitter(self.config, self.precision, self.input, self.layers, self.image).emit()
        found = check(Loadable.parse(made), self.config) if checked else []
        if found:
            raise NvdlaError(
                f"{self.config.name} would not take this network: {found[0]}"
                + (f" (and {len(found) - 1} more)" if len(found) > 1 else "")
            )
        return made


def _config(name: str) -> HardwareConfig:
    return config(name)
