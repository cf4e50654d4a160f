"""Describe a network, get a loadable.

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

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.facts import configs
from cudla_sim.nvdla.facts.formats import FEATURE
from cudla_sim.nvdla.facts.limits import NORMALISED_CHANNELS
from cudla_sim.nvdla.facts.pooling import covered
from cudla_sim.nvdla.facts.precisions import FP16, INT8_TOP, INT16, NAMES, NUMBERS, RANGES
from cudla_sim.nvdla.facts.windows import extent, output_size
from cudla_sim.nvdla.hw.memory import DTYPES
from cudla_sim.nvdla.hw.units.conv.pixels import channel_order, element_bytes

from .. import graph as g
from ..backend import Compilation
from ..batch import batched
from ..errors import CompileError, Refused
from ..options import LAYERWISE, Options
from ..pixels import Image
from . import reference
from .reference import POOLS, Array

CURVES = {"sigmoid": "Sigmoid", "tanh": "Tanh"}
"""Functions of :meth:`Network.curve`, and their names in :mod:`cudla_sim.compiler.curves`."""


@dataclass(eq=False)
class Tensor:
    """A value in the network; *shape* is (channels, height, width).

    ``scale`` is the real value of one integer step (set when an integer network is built).
    """

    name: str
    shape: tuple[int, int, int]
    scale: float = 0.0
    value: g.Value = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.value = g.Value(self.name, (1, *self.shape))


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
        self.config = configs.config(config)
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
        self.nodes: list[g.Node] = []
        """What the compiler gets; a layer with an activation is two of them."""
        self._last = self.input
        self._tensors = [self.input]

    # -- layers -------------------------------------------------------------------------------

    @property
    def output(self) -> Tensor:
        """The tensor made last."""
        return self._last

    def _name(self, given: str | None, kind: str) -> str:
        return given or f"{kind}{len(self._tensors) - 1}"

    def _add(
        self,
        kind: type[g.Node],
        label: str,
        sources: list[Tensor],
        shape: tuple[int, int, int],
        relu: bool = False,
        **members: Any,
    ) -> Tensor:
        """Append the node *kind* with its *members*; return its output."""
        if self.nodes and isinstance(self.nodes[-1], g.Softmax):
            raise NvdlaError("softmax must be the last layer")
        if min(shape) < 1:
            raise NvdlaError(f"{label}: the output would be {shape}")
        output = Tensor(label, shape)
        inputs = [source.value for source in sources]
        self.nodes.append(kind(name=label, inputs=inputs, output=output.value, **members))
        self._last = output
        self._tensors.append(output)
        if relu:
            self._clip(output)
        return output

    def _clip(self, tensor: Tensor) -> None:
        """Make the tensor the activation of what it has been."""
        before = tensor.value
        tensor.value = g.Value(tensor.name, before.shape)
        before.name += " before the activation"
        name = self.nodes[-1].name
        self.nodes.append(g.Clip(name=name, inputs=[before], output=tensor.value, low=0.0))

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
        data = _real(weights)
        origin = source or self._last
        label = self._name(name, "conv")
        if self.image is not None and origin is self.input and data.ndim == 4:
            missing = origin.shape[0] - data.shape[1]  # A or X of a pixel counts nothing
            data = np.pad(data, ((0, 0), (0, max(missing, 0)), (0, 0), (0, 0)))
        if data.ndim != 4 or data.shape[1] != origin.shape[0]:
            raise NvdlaError(
                f"{label}: weights {data.shape} do not fit {origin.shape[0]} input channels"
            )
        if compress and not self.config.compression:
            raise NvdlaError(f"{label}: {self.config.name} has no weight compression")
        steps, pads, gaps = _pair(stride), _four(padding), _pair(dilation)
        _, height, width = origin.shape
        shape = (
            len(data),
            output_size(height, extent(data.shape[2], gaps[0]), steps[0], pads[0], pads[1]),
            output_size(width, extent(data.shape[3], gaps[1]), steps[1], pads[2], pads[3]),
        )
        return self._add(
            g.Conv,
            label,
            [origin],
            shape,
            relu,
            weights=data,
            bias=_offsets(label, bias, len(data)),
            stride=steps,
            pads=pads,
            dilation=gaps,
            compress=compress,
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
        """Transposed convolution with *weights* [channel, kernel, row, column], and *bias*
        [kernel]."""
        data, (sy, sx), origin = _real(weights), _pair(stride), source or self._last
        label = self._name(name, "deconv")
        if data.ndim != 4 or data.shape[0] != origin.shape[0]:
            raise NvdlaError(f"{label}: weights {data.shape}, {origin.shape[0]} input channels")
        _, height, width = origin.shape
        _, kernels, rows, columns = data.shape
        shape = (kernels, (height - 1) * sy + rows, (width - 1) * sx + columns)
        offset = _offsets(label, bias, kernels)
        return self._add(
            g.Deconv, label, [origin], shape, relu, weights=data, bias=offset, stride=(sy, sx)
        )

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
        data = _real(weights)
        if data.ndim != 2 or data.shape[1] != int(np.prod(origin.shape)):
            raise NvdlaError(f"{label}: weights {data.shape} do not fit an input of {origin.shape}")
        kernels = data.reshape(len(data), *origin.shape)
        return self.conv2d(kernels, bias, relu=relu, name=label, source=origin)

    def relu(self, *, name: str | None = None, source: Tensor | None = None) -> Tensor:
        """Clip negative values; part of the layer before if that allows it."""
        origin = source or self._last
        previous = self.nodes[-1] if self.nodes else None
        if previous is not None and previous.output is origin.value:
            if isinstance(previous, g.Conv | g.Affine | g.Binary):
                self._clip(origin)
            if isinstance(self.nodes[-1], g.Clip):
                return origin
        return self._add(g.Clip, self._name(name, "relu"), [origin], origin.shape, low=0.0)

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
        return self._add(g.Curve, label, [origin], origin.shape, function=CURVES[function])

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
        """Normalise by the squares of *size* (3, 5, 7, 9) neighbouring channels, with the look-up
        tables of CDP, which every configuration has."""
        origin = source or self._last
        label = self._name(name, "lrn")
        if size not in NORMALISED_CHANNELS or k <= 0 or alpha < 0:
            raise NvdlaError(f"{label}: size {size}, k {k}, alpha {alpha} are not possible")
        return self._add(
            g.Lrn, label, [origin], origin.shape, size=size, alpha=alpha, beta=beta, k=k
        )

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
        factor, offset = (
            np.broadcast_to(_real(item), origin.shape[:1]).reshape(1, -1, 1, 1)
            for item in (scale, 0.0 if shift is None else shift)
        )
        label = self._name(name, "scale")
        return self._add(g.Affine, label, [origin], origin.shape, relu, scale=factor, shift=offset)

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
        size = _pair(kernel)
        steps, pads = _pair(stride if stride is not None else size), _four(padding)
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
        return self._add(
            g.Pool,
            label,
            [origin],
            shape,
            mode=method,
            kernel=size,
            stride=steps,
            pads=pads,
            divisor=float(size[0] * size[1]),
        )

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
        return self._add(g.Binary, label, [first, second], first.shape, relu, function="add")

    def softmax(self, *, name: str | None = None) -> Tensor:
        """Softmax over the channels as the last layer, computed on the host (EMU task)."""
        label = self._name(name, "softmax")
        if self.precision == INT16:
            raise NvdlaError(f"{label}: the software task knows int8 and fp16, not int16")
        if self._last.shape[1:] != (1, 1):
            raise NvdlaError(f"{label}: needs a 1 x 1 input, it is {self._last.shape}")
        return self._add(g.Softmax, label, [self._last], self._last.shape)

    # -- results ------------------------------------------------------------------------------

    def reference(self, images: Any) -> Array:
        """Return what the network computes in floating point, [n, c, h, w]."""
        return self._values(images)[self._last.value]

    def _values(self, images: Any) -> dict[g.Value, Array]:
        data = _real(images) if self.image is None else self.image.values(images)
        return reference.run(self.nodes, {self.input.value: data})

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

    def build(
        self,
        calibration: Any = None,
        *,
        checked: bool = True,
        batch: int = 1,
        without: Sequence[str] = LAYERWISE,
        **options: Any,
    ) -> bytes:
        """Return the loadable. Integer networks need *calibration* inputs [n, c, h, w].

        The loadable takes *batch* pictures at once. *without* names optimisations to leave out
        (``compiler.options.OPTIMISATIONS``); unless they are asked for, each layer has operations
        of its own, as few as can be. *options* are more of
        :class:`cudla_sim.compiler.options.Options`, as ``cvsram``.
        Raises NvdlaError for a network that the configuration cannot do. Not *checked*, nobody
        asks the checker afterwards, which takes time.
        """
        if all(isinstance(node, g.Softmax) for node in self.nodes):
            raise NvdlaError(
                "a network needs a layer that runs on the DLA before softmax"
                if self.nodes
                else "the network has no layers"
            )
        if self.precision != FP16:
            self._calibrate(calibration)
        chosen = {
            "config": self.config.name,
            "precision": NAMES[self.precision],
            "direct": True,
            "without": tuple(without),
        }
        try:
            compilation = Compilation(
                batched(self._graph(), batch),
                {},
                Options(**{**chosen, **options}),
                spans=self._spans(calibration),
                checked=checked,
            )
            compilation.run()
        except Refused as error:
            raise NvdlaError("; ".join(f"{r.node}: {r.reason}" for r in error.refusals)) from None
        except CompileError as error:
            raise NvdlaError(str(error)) from None
        if self.precision != FP16:
            scales = {value.name: scale for value, scale in compilation.scales.items()}
            for tensor in self._tensors:
                tensor.scale = scales[tensor.value.name]
        return compilation.loadable

    def _spans(self, images: Any) -> dict[str, tuple[float, float]]:
        """Least and largest inputs of curves, where there are images to find them with."""
        if images is None or not any(isinstance(node, g.Curve) for node in self.nodes):
            return {}
        found = self._values(images)
        return {v.name: (float(a.min()), float(a.max())) for v, a in found.items()}

    def _calibrate(self, images: Any) -> None:
        """Give every value the scale of its largest magnitude; softmax ends at 1."""
        if images is None:
            raise NvdlaError("an integer network needs calibration inputs to choose its scales")
        if np.shape(images)[1:] != self.input.shape:
            raise NvdlaError(f"calibration {np.shape(images)}, input {self.input.shape}")
        for value, array in self._values(images).items():
            largest = float(np.abs(array).max())
            value.scale = largest / INT8_TOP if largest > 0 else 1.0
        whole = {tensor.value for tensor in self._tensors}
        for node in self.nodes:
            if isinstance(node, g.Clip) and node.inputs[0] in whole:  # no part of another layer
                node.output.scale = node.inputs[0].scale
        if isinstance(self.nodes[-1], g.Softmax):
            self._last.value.scale = 1 / INT8_TOP

    def _graph(self) -> g.Graph:
        source = g.Port(
            name=self.input.name,
            shape=self.input.value.shape,
            value=self.input.value,
            dtype="float32" if self.image is None else "uint8",
            image=self.image,
        )
        result = g.Port(name=self._last.name, shape=self._last.value.shape, value=self._last.value)
        return g.Graph(inputs=[source], outputs=[result], nodes=list(self.nodes))


def _pair(value: int | tuple[int, int]) -> tuple[int, int]:
    """Allow one number for (y, x)."""
    return (value, value) if isinstance(value, int) else value


def _four(value: int | tuple[int, ...]) -> tuple[int, int, int, int]:
    """Allow one number or (y, x) for (top, bottom, left, right)."""
    if isinstance(value, int):
        return (value,) * 4
    if len(value) == 2:
        return (value[0], value[0], value[1], value[1])
    top, bottom, left, right = value
    return top, bottom, left, right


def _real(values: Any) -> Array:
    return np.asarray(values, np.float32)


def _offsets(label: str, bias: Any, kernels: int) -> Array:
    """A bias for every kernel; 0 where none is given."""
    offset = np.zeros(kernels, np.float32) if bias is None else _real(bias)
    if offset.shape != (kernels,):
        raise NvdlaError(f"{label}: bias {offset.shape}, {kernels} kernels")
    return offset
