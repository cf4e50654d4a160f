"""Every node of a graph as nodes that units of the configuration compute.

Intermediate values that come into being take the scale of a value they resemble.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cudla_sim.nvdla.hw.configs import FP16, HardwareConfig

from .. import graph as g
from ..errors import Refusal, Refused
from . import average, deconv, resize, thin, trim
from .nodes import GatherLines, Interleave, KernelConv, PermuteChannels, View

MOST_KERNEL, MOST_STRIDE, MOST_PAD = 32, 8, 31
POOL_KERNEL, POOL_STRIDE, POOL_PAD = 8, 8, 7
MOST_SIZE = 8192
_JUMPS = {"Floor", "Ceil", "Round"}


class Rewriter:
    """Builds the new list of nodes; *scales* grows with the values that come into being."""

    def __init__(
        self,
        config: HardwareConfig,
        precision: int,
        scales: dict[g.Value, float],
        last: g.Node,
        pictures: frozenset[g.Value] = frozenset(),
    ) -> None:
        self.config, self.precision, self.scales = config, precision, scales
        self.last, self.pictures = last, pictures
        self.nodes: list[g.Node] = []
        self.refusals: list[Refusal] = []
        self._count = 0

    # -- building -----------------------------------------------------------------------------

    @property
    def per_atom(self) -> int:
        """Channels of a memory atom."""
        return self.config.channels_per_atom(self.precision)

    def value(
        self, node: g.Node, shape: g.Shape, like: g.Value | None = None, factor: float = 1.0
    ) -> g.Value:
        """A new value of *node* with the scale of *like* times a factor."""
        self._count += 1
        made = g.Value(f"{node.output.name}:{self._count}", shape)
        if like is not None and like in self.scales:
            self.scales[made] = self.scales[like] * factor
        return made

    def add(self, node: g.Node) -> g.Value:
        """Append a node; return its output."""
        self.nodes.append(node)
        return node.output

    def refuse(self, node: g.Node, reason: str, cure: str = "") -> None:
        """Note that a node cannot be done."""
        cure = cure or f"cut the network there with --outputs {node.inputs[0].name}"
        self.refusals.append(Refusal(node.name, node.kind, reason, cure))

    # -- the nodes ----------------------------------------------------------------------------

    def run(self, nodes: list[g.Node]) -> list[g.Node]:
        """Rewrite all nodes; raises Refused with everything that cannot be done."""
        for node in nodes:
            if max(node.output.shape[1:]) > MOST_SIZE:
                self.refuse(node, f"its output {node.output.shape} is larger than {MOST_SIZE}")
                continue
            function = getattr(self, "_" + node.kind.lower(), None)
            if function is None:
                self.refuse(node, f"{node.kind} has no unit")
            else:
                function(node)
        if self.refusals:
            raise Refused(self.refusals)
        return self.nodes

    def _kernelconv(self, node: KernelConv) -> None:
        self.kernel_conv(node)

    def _conv(self, node: g.Conv) -> None:
        kernels, span, rows, columns = node.weights.shape
        shape = node.inputs[0].shape
        if (
            max(rows, columns) > MOST_KERNEL
            and (rows, columns) == shape[2:]
            and not any(node.pads)
            and node.groups == 1
            and int(np.prod(shape[1:])) <= 8192
        ):
            count = int(np.prod(shape[1:]))
            flat = self.value(node, (shape[0], count, 1, 1), node.inputs[0])
            self.add(View(name=node.name, inputs=node.inputs, output=flat))
            weights = node.weights.reshape(kernels, count, 1, 1)
            node = replace(node, inputs=[flat], weights=weights)
            span = count
        first = np.arange(kernels) // (kernels // node.groups) * span
        self.kernel_conv(
            KernelConv(
                name=node.name,
                inputs=node.inputs,
                output=node.output,
                weights=node.weights,
                bias=np.asarray(node.bias, np.float64),
                first=first,
                stride=node.stride,
                pads=node.pads,
                dilation=node.dilation,
                pad_value=node.pad_value,
                weight_scale=node.weight_scale,
            )
        )

    def kernel_conv(self, node: KernelConv) -> None:
        """Append a convolution whose kernel, stride and pads the hardware may not have."""
        node = trim.outside(node)
        rows, columns = node.weights.shape[2:]
        taps = ((rows - 1) * node.dilation[0] + 1, (columns - 1) * node.dilation[1] + 1)
        top, bottom, left, right = node.pads
        if max(top, bottom) >= taps[0] or max(left, right) >= taps[1] or max(top, left) > MOST_PAD:
            shape = node.inputs[0].shape
            size = (shape[0], shape[1], shape[2] + top + bottom, shape[3] + left + right)
            wide = self.value(node, size, node.inputs[0])
            source = node.inputs[0]
            self._pad(
                g.Pad(
                    name=node.name,
                    inputs=[source],
                    output=wide,
                    pads=node.pads,
                    value=node.pad_value,
                )
            )
            node = replace(node, inputs=[wide], pads=(0, 0, 0, 0))
        if max(node.stride) > MOST_STRIDE:
            if max(rows, columns) > MOST_STRIDE:
                self._part_of_stride(node)
                return
            node = self._long_stride(node)
        if max(node.dilation) > 32:
            self.refuse(node, f"dilation {node.dilation} is more than 32")
        elif max(node.weights.shape[:2]) > 8192:
            self.refuse(node, f"{node.weights.shape[:2]} kernels and channels: at most 8192")
        elif max(node.weights.shape[2:]) > MOST_KERNEL:
            self._large_kernel(node)
        elif node.inputs[0] not in self.pictures and thin.pays(self, node):
            thin.rewrite(self, node)
        else:
            self.add(node)

    def _long_stride(self, node: KernelConv) -> KernelConv:
        """Copy the pixels that windows read next to each other, then take smaller steps."""
        rows, columns = node.weights.shape[2:]
        _, _, height, width = node.output.shape
        source = node.inputs[0]
        if any(node.pads):
            wide = (source.shape[2] + sum(node.pads[:2]), source.shape[3] + sum(node.pads[2:]))
            padded = self.value(node, (*source.shape[:2], *wide), source)
            self._pad(g.Pad(name=node.name, inputs=[source], output=padded, pads=node.pads))
            source = padded
        steps = [min(size, MOST_STRIDE) for size in (rows, columns)]
        index = [
            (np.arange(count)[:, None] * stride + np.arange(taps)[None, :] * gap).reshape(-1)
            for count, stride, taps, gap in (
                (height, node.stride[0], rows, node.dilation[0]),
                (width, node.stride[1], columns, node.dilation[1]),
            )
        ]
        close = self.value(node, (*source.shape[:2], len(index[0]), len(index[1])), source)
        self.add(
            GatherLines(
                name=node.name, inputs=[source], output=close, rows=index[0], columns=index[1]
            )
        )
        return replace(
            node,
            inputs=[close],
            stride=(steps[0], steps[1]),
            pads=(0, 0, 0, 0),
            dilation=(1, 1),
        )

    def _part_of_stride(self, node: KernelConv) -> None:
        """Take steps that divide the stride, then leave out what lies in between."""
        steps = [_divisor(stride) for stride in node.stride]
        n, kernels, height, width = node.output.shape
        rest = [stride // step for stride, step in zip(node.stride, steps, strict=True)]
        size = ((height - 1) * rest[0] + 1, (width - 1) * rest[1] + 1)
        dense = self.value(node, (n, kernels, *size), node.output)
        self.kernel_conv(replace(node, output=dense, stride=(steps[0], steps[1])))
        self.add(
            GatherLines(
                name=node.name,
                inputs=[dense],
                output=node.output,
                rows=np.arange(height) * rest[0],
                columns=np.arange(width) * rest[1],
            )
        )

    def _large_kernel(self, node: KernelConv) -> None:
        """Sum the convolutions with parts of the kernel."""
        rows, columns = node.weights.shape[2:]
        axis = 0 if rows > MOST_KERNEL else 1
        size = (rows, columns)[axis]
        total: g.Value | None = None
        for start in range(0, size, MOST_KERNEL):
            count = min(MOST_KERNEL, size - start)
            cut = [slice(None)] * 4
            cut[2 + axis] = slice(start, start + count)
            pads = list(node.pads)
            shape = list(node.inputs[0].shape)
            out = node.output.shape[2 + axis]
            low = start * node.dilation[axis] - node.pads[2 * axis]
            need = (out - 1) * node.stride[axis] + (count - 1) * node.dilation[axis] + 1
            pads[2 * axis] = max(-low, 0)
            begin = max(low, 0)
            pads[2 * axis + 1] = max(low + need - shape[2 + axis], 0)
            length = min(low + need, shape[2 + axis]) - begin
            source = node.inputs[0]
            if begin or length != shape[2 + axis]:
                shape[2 + axis] = length
                starts = [0, 0, 0]
                starts[1 + axis] = begin
                part = self.value(node, (shape[0], shape[1], shape[2], shape[3]), source)
                source = self.add(
                    g.Slice(
                        name=node.name,
                        inputs=[source],
                        output=part,
                        starts=(starts[0], starts[1], starts[2]),
                    )
                )
            last = start + count == size
            result = self.value(node, node.output.shape, node.output)
            bias = node.bias if last else np.zeros_like(node.bias)
            self.kernel_conv(
                replace(
                    node,
                    inputs=[source],
                    output=result,
                    weights=np.ascontiguousarray(node.weights[tuple(cut)]),
                    bias=bias,
                    pads=(pads[0], pads[1], pads[2], pads[3]),
                )
            )
            if total is not None:
                output = node.output if last else self.value(node, node.output.shape, node.output)
                result = self.add(
                    g.Binary(name=node.name, inputs=[result, total], output=output, function="add")
                )
            total = result

    def _deconv(self, node: g.Deconv) -> None:
        deconv.rewrite(self, node)

    def _affine(self, node: g.Affine) -> None:
        self.add(node)

    def _clip(self, node: g.Clip) -> None:
        self.add(node)

    def _prelu(self, node: g.PRelu) -> None:
        self.add(node)

    def _curve(self, node: g.Curve) -> None:
        source = node.inputs[0]
        if node.function in _JUMPS and self.precision != 0:
            self.refuse(node, f"{node.function} jumps, a table of 257 entries cannot")
            return
        if self.config.lut:
            self.add(node)
            return
        if node.function == "HardSigmoid":
            alpha = node.parameters.get("alpha", 0.2)
            self._hard_sigmoid(node, node.output, alpha, node.parameters.get("beta", 0.5))
        elif node.function == "HardSwish":
            gate = self.value(node, source.shape)
            self.scales[gate] = 1.0 / self._top()
            self._hard_sigmoid(node, gate, 1 / 6, 0.5)
            self.add(
                g.Binary(name=node.name, inputs=[source, gate], output=node.output, function="mul")
            )
        elif node.function == "Abs":
            negative = self.value(node, source.shape, source)
            self.add(_factor(node, source, negative, -1.0))
            self.add(
                g.Binary(
                    name=node.name, inputs=[source, negative], output=node.output, function="max"
                )
            )
        else:
            self.refusals.append(
                Refusal(
                    node.name,
                    node.function,
                    f"needs a look-up table, {self.config.name} has none",
                    "take a configuration with one (nv_full, nv_large, *_full), train with ReLU,"
                    f" or cut the network there with --outputs {source.name}",
                )
            )

    def _top(self) -> int:
        return 127 if self.precision == 0 else 32767

    def _hard_sigmoid(self, node: g.Node, output: g.Value, alpha: float, beta: float) -> None:
        source = node.inputs[0]
        line = self.value(node, source.shape)
        self.scales[line] = 1.0 / self._top()
        self.add(
            g.Affine(
                name=node.name,
                inputs=[source],
                output=line,
                scale=np.full((1, 1, 1, 1), alpha, np.float32),
                shift=np.full((1, 1, 1, 1), beta, np.float32),
            )
        )
        self.add(g.Clip(name=node.name, inputs=[line], output=output, low=0.0, high=1.0))

    def _binary(self, node: g.Binary) -> None:
        first, second = node.inputs
        if node.function == "add" and first is second:
            self.add(_factor(node, first, node.output, 2.0))
            return
        if node.function == "sub" and first is second:
            self.add(_factor(node, first, node.output, 0.0))
            return
        if first.shape != node.output.shape and node.function != "sub":
            first, second = second, first
        if first.shape != node.output.shape:  # sub with a broadcast first: -(second) + first
            negative = self.value(node, second.shape, second)
            self.add(_factor(node, second, negative, -1.0))
            first, second = negative, first
            node = replace(node, function="add")
        if second.shape[1:] not in (node.output.shape[1:], (node.output.shape[1], 1, 1)):
            second = self._expand(node, second)
        if node.function == "sub" and second.shape != node.output.shape:
            negative = self.value(node, second.shape, second)
            self.add(_factor(node, second, negative, -1.0))
            second, node = negative, replace(node, function="add")
        self.add(replace(node, inputs=[first, second]))

    def _expand(self, node: g.Node, value: g.Value) -> g.Value:
        """Copy one channel to all, one line or pixel to all, exactly."""
        n, channels, height, width = value.shape
        _, wanted, rows, columns = node.output.shape
        if channels == 1 and wanted > 1:
            wide = self.value(node, (n, wanted, height, width), value)
            self.add(
                KernelConv(
                    name=node.name,
                    inputs=[value],
                    output=wide,
                    weights=np.ones((wanted, 1, 1, 1), np.float32),
                    bias=np.zeros(wanted),
                    first=np.zeros(wanted, np.int64),
                )
            )
            value = wide
        if (height, width) in ((rows, columns), (1, 1)):
            return value
        if height not in (1, rows) or width not in (1, columns):
            self.refuse(node, f"{value.shape} does not broadcast to {node.output.shape}")
            return value
        wide = self.value(node, (n, wanted, rows, columns), value)
        index = [
            np.arange(size) if have == size else np.zeros(size, np.int64)
            for have, size in ((height, rows), (width, columns))
        ]
        self.add(
            GatherLines(
                name=node.name, inputs=[value], output=wide, rows=index[0], columns=index[1]
            )
        )
        return wide

    def _pool(self, node: g.Pool) -> None:
        if node.mode == "average":
            average.rewrite(self, node)
        else:
            self.extreme(node)

    def extreme(self, node: g.Pool) -> None:
        """Maximum or minimum with kernels that PDP does not have: several poolings."""
        for axis in (0, 1):
            kernel, stride = node.kernel[axis], node.stride[axis]
            if kernel <= POOL_KERNEL and stride <= POOL_STRIDE:
                continue
            shape = node.inputs[0].shape
            pads = (0, 0) if axis else node.pads[:2]
            side = node.pads[2:] if axis else (0, 0)
            if kernel >= shape[2 + axis] and node.output.shape[2 + axis] == 1:
                steps = (POOL_KERNEL, POOL_KERNEL)
                length = -(-shape[2 + axis] // POOL_KERNEL)
                before = after = 0
                tail = length * POOL_KERNEL - shape[2 + axis]
                left = length
            elif stride == 1:
                steps = (POOL_KERNEL, 1)
                before, after = pads if axis == 0 else side
                take = min(POOL_KERNEL - 1, before)
                length = shape[2 + axis] + take - (POOL_KERNEL - 1) + min(POOL_KERNEL - 1, after)
                tail = min(POOL_KERNEL - 1, after)
                left = kernel - (POOL_KERNEL - 1)
                before, after = take, after - tail
            else:
                self.refuse(node, f"pooling kernel {node.kernel} with stride {node.stride}")
                return
            size = list(shape)
            size[2 + axis] = length
            part = self.value(node, (size[0], size[1], size[2], size[3]), node.inputs[0])
            step_pads = [0, 0, 0, 0]
            step_pads[2 * axis], step_pads[2 * axis + 1] = before, tail
            kernels, strides = [1, 1], [1, 1]
            kernels[axis], strides[axis] = steps
            self.add(
                g.Pool(
                    name=node.name,
                    inputs=node.inputs,
                    output=part,
                    mode=node.mode,
                    kernel=(kernels[0], kernels[1]),
                    stride=(strides[0], strides[1]),
                    pads=(step_pads[0], step_pads[1], step_pads[2], step_pads[3]),
                )
            )
            kernels, strides = list(node.kernel), list(node.stride)
            kernels[axis] = left
            pads_left = list(node.pads)
            if stride == 1 and not (kernel >= shape[2 + axis] and node.output.shape[2 + axis] == 1):
                pads_left[2 * axis] -= before
                pads_left[2 * axis + 1] = after
            else:
                strides[axis] = 1 if left <= POOL_STRIDE else strides[axis]
                pads_left[2 * axis] = pads_left[2 * axis + 1] = 0
            self.extreme(
                replace(
                    node,
                    inputs=[part],
                    kernel=(kernels[0], kernels[1]),
                    stride=(strides[0], strides[1]),
                    pads=(pads_left[0], pads_left[1], pads_left[2], pads_left[3]),
                )
            )
            return
        if max(node.pads) > POOL_PAD:
            self.refuse(node, f"pooling pads {node.pads} are more than {POOL_PAD}")
            return
        self.add(node)

    def _concat(self, node: g.Concat) -> None:
        self.add(node)

    def _slice(self, node: g.Slice) -> None:
        steps, starts = node.steps, node.starts
        source = node.inputs[0]
        n, channels, height, width = node.output.shape
        if steps[0] != 1:
            picked = (
                node.output
                if steps[1:] == (1, 1) and source.shape[2:] == (height, width)
                else (self.value(node, (n, channels, *source.shape[2:]), node.output))
            )
            index = starts[0] + np.arange(channels) * steps[0]
            self.add(
                PermuteChannels(name=node.name, inputs=[source], output=picked, channels=index)
            )
            source, starts = picked, (0, *starts[1:])
            if picked is node.output:
                return
        if steps[1:] != (1, 1):
            if channels != source.shape[1]:
                cut = self.value(node, (n, channels, *source.shape[2:]), node.output)
                source = self.add(
                    g.Slice(name=node.name, inputs=[source], output=cut, starts=(starts[0], 0, 0))
                )
            self.add(
                GatherLines(
                    name=node.name,
                    inputs=[source],
                    output=node.output,
                    rows=starts[1] + np.arange(height) * steps[1],
                    columns=starts[2] + np.arange(width) * steps[2],
                )
            )
            return
        self.add(g.Slice(name=node.name, inputs=[source], output=node.output, starts=starts))

    def _channelgather(self, node: g.ChannelGather) -> None:
        self.add(
            PermuteChannels(
                name=node.name,
                inputs=node.inputs,
                output=node.output,
                channels=np.array(node.channels, np.int64),
            )
        )

    def _permutechannels(self, node: PermuteChannels) -> None:
        self.add(node)

    def _gatherlines(self, node: GatherLines) -> None:
        self.add(node)

    def _depthtospace(self, node: g.DepthToSpace) -> None:
        block, channels = node.block, node.output.shape[1]
        index = np.arange(node.inputs[0].shape[1])
        if node.crd:
            phases = index.reshape(channels, block * block).T
        else:
            phases = index.reshape(block * block, channels)
        self.spread(node, node.inputs[0], phases, (block, block))

    def spread(
        self, node: g.Node, source: g.Value, phases: NDArray[np.int64], stride: g.Pair
    ) -> None:
        """Interleave *phases* [sy * sx, channels] of source channels into the node's output."""
        group = -(-phases.shape[1] // self.per_atom) * self.per_atom
        order = np.full((len(phases), group), -1, np.int64)
        order[:, : phases.shape[1]] = phases
        n, _, height, width = source.shape
        moved = source
        flat = order.reshape(-1)
        if len(flat) != source.shape[1] or (flat != np.arange(len(flat))).any():
            moved = self.value(node, (n, len(flat), height, width), source)
            self.add(PermuteChannels(name=node.name, inputs=[source], output=moved, channels=flat))
        self.add(
            Interleave(
                name=node.name, inputs=[moved], output=node.output, stride=stride, group=group
            )
        )

    def _spacetodepth(self, node: g.SpaceToDepth) -> None:
        source, block = node.inputs[0], node.block
        n, channels, height, width = source.shape
        parts = []
        for y in range(block):
            for x in range(block):
                part = self.value(node, (n, channels, height // block, width // block), node.output)
                parts.append(
                    self.add(
                        GatherLines(
                            name=node.name,
                            inputs=[source],
                            output=part,
                            rows=np.arange(y, height, block)[: height // block],
                            columns=np.arange(x, width, block)[: width // block],
                        )
                    )
                )
        self.add(g.Concat(name=node.name, inputs=parts, output=node.output, axis=1))

    def _resize(self, node: g.Resize) -> None:
        resize.rewrite(self, node)

    def _pad(self, node: g.Pad) -> None:
        source = node.inputs[0]
        n, channels, height, width = source.shape
        top, bottom, left, right = node.pads
        if any(node.channels):
            if node.value or node.mode != "constant":
                self.refuse(node, "padding of channels with anything but zeros")
                return
            before, after = node.channels
            index = np.concatenate(
                [np.full(before, -1), np.arange(channels), np.full(after, -1)]
            ).astype(np.int64)
            inner = node.output
            if any(node.pads):
                inner = self.value(node, (n, len(index), height, width), source)
            source = self.add(
                PermuteChannels(name=node.name, inputs=[source], output=inner, channels=index)
            )
            channels = len(index)
            if not any(node.pads):
                return
        if node.mode != "constant":
            mode = {"edge": "edge", "reflect": "reflect", "wrap": "wrap"}[node.mode]
            rows = np.pad(np.arange(height), (top, bottom), mode=mode)  # type: ignore[call-overload]
            columns = np.pad(np.arange(width), (left, right), mode=mode)  # type: ignore[call-overload]
            self.add(
                GatherLines(
                    name=node.name, inputs=[source], output=node.output, rows=rows, columns=columns
                )
            )
            return
        if min(node.pads) < 0:
            self.refuse(node, f"negative pads {node.pads}")
            return
        taps = (top + bottom + 1, left + right + 1)
        if max(taps) > MOST_KERNEL:
            self.refuse(node, f"pads {node.pads}: together at most {MOST_KERNEL - 1} on an axis")
            return
        weights = np.zeros((channels, 1, *taps), np.float32)
        weights[:, 0, bottom, right] = 1.0
        self.add(
            KernelConv(
                name=node.name,
                inputs=[source],
                output=node.output,
                weights=weights,
                bias=np.zeros(channels),
                first=np.arange(channels),
                pads=(taps[0] - 1, taps[0] - 1, taps[1] - 1, taps[1] - 1),
                pad_value=node.value,
            )
        )

    def _lrn(self, node: g.Lrn) -> None:
        if not self.config.lut:
            self.refuse(
                node,
                f"needs CDP's look-up tables, {self.config.name} has none",
                "take a configuration with them (nv_full, nv_large, *_full)",
            )
        elif node.size not in (3, 5, 7, 9):
            self.refuse(node, f"size {node.size}: CDP has windows of 3, 5, 7 and 9 channels")
        else:
            self.add(node)

    def _softmax(self, node: g.Softmax) -> None:
        shape = node.inputs[0].shape
        if node is not self.last or shape[2:] != (1, 1) or node.axis != 1 or shape[0] != 1:
            self.refuse(node, "softmax runs on the host, as the last operator, over c of c x 1 x 1")
        elif self.precision == 1:
            self.refuse(node, "the host's softmax knows int8 and fp16, not int16")
        else:
            self.add(node)

    def _transpose(self, node: g.Transpose) -> None:
        shape = node.inputs[0].shape
        order = tuple(node.order)
        moved = [axis for axis in order if shape[axis] != 1]
        if moved == sorted(moved):  # only axes of size 1 change places
            self._reshape(g.Reshape(name=node.name, inputs=node.inputs, output=node.output))
        elif order == (0, 1, 3, 2):
            self.add(node)
        else:
            self.refuse(node, f"a transposition {order} of {shape} moves channels")

    def _reshape(self, node: g.Reshape) -> None:
        source, target = node.inputs[0].shape, node.output.shape
        if source == target:
            self.add(
                g.Slice(name=node.name, inputs=node.inputs, output=node.output, starts=(0, 0, 0))
            )
        elif target[2:] == (1, 1) and source[0] == target[0]:
            self.add(View(name=node.name, inputs=node.inputs, output=node.output))
        elif source[2:] == (1, 1) and source[0] == target[0]:
            self._unflatten(node)
        elif source[0] == target[0] and int(np.prod(source[1:])) <= 8192:
            middle = self.value(node, (source[0], int(np.prod(source[1:])), 1, 1), node.inputs[0])
            self.add(View(name=node.name, inputs=node.inputs, output=middle))
            self._unflatten(g.Reshape(name=node.name, inputs=[middle], output=node.output))
        else:
            self.refuse(node, f"a reshape of {source} to {target} moves data")

    def _unflatten(self, node: g.Reshape) -> None:
        """1 x 1 channels in the order in which the cube has its bytes; then only the shape."""
        n, channels, height, width = node.output.shape
        atom = self.per_atom
        groups = -(-channels // atom)
        if groups * atom * height * width > 8192:
            self.refuse(node, f"a reshape to {node.output.shape} needs more than 8192 channels")
            return
        index = np.full((groups, height, width, atom), -1, np.int64)
        logical = np.arange(channels * height * width).reshape(channels, height, width)
        for group in range(groups):
            part = logical[group * atom : (group + 1) * atom]
            index[group, :, :, : len(part)] = part.transpose(1, 2, 0)
        flat = index.reshape(-1)
        moved = self.value(node, (n, len(flat), 1, 1), node.inputs[0])
        self.add(PermuteChannels(name=node.name, inputs=node.inputs, output=moved, channels=flat))
        self.add(View(name=node.name, inputs=[moved], output=node.output))


def _factor(node: g.Node, source: g.Value, output: g.Value, factor: float) -> g.Affine:
    return g.Affine(
        name=node.name,
        inputs=[source],
        output=output,
        scale=np.full((1, 1, 1, 1), factor, np.float32),
        shift=np.zeros((1, 1, 1, 1), np.float32),
    )


def _divisor(stride: int) -> int:
    """Largest step of the hardware that divides a stride."""
    return next(step for step in range(MOST_STRIDE, 0, -1) if stride % step == 0)


def is_half(precision: int) -> bool:
    """True for fp16."""
    return precision == FP16
