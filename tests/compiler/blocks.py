"""Builds small graphs of blocks that networks are made of."""

from __future__ import annotations

import numpy as np

from cudla_sim.compiler import graph as g


class Builder:
    """Appends nodes; every method returns the new value. Weights come from a seed."""

    def __init__(self, seed: int = 1) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[g.Node] = []
        self.inputs: list[g.Value] = []

    def input(self, *shape: int) -> g.Value:
        value = g.Value(f"input{len(self.inputs)}", tuple(shape))  # type: ignore[arg-type]
        self.inputs.append(value)
        return value

    def add(self, kind: type[g.Node], inputs: list[g.Value], shape: tuple, **more) -> g.Value:
        name = f"{kind.__name__}{len(self.nodes)}"
        out = g.Value(f"{name}_out", tuple(int(size) for size in shape))
        self.nodes.append(kind(name=name, inputs=inputs, output=out, **more))
        return out

    def conv(
        self, x: g.Value, kernels: int, kernel: int = 1, stride: int = 1, groups: int = 1
    ) -> g.Value:
        n, c, h, w = x.shape
        pad = kernel // 2
        size = [(length + 2 * pad - kernel) // stride + 1 for length in (h, w)]
        fan = c // groups * kernel * kernel
        weights = self.rng.normal(size=(kernels, c // groups, kernel, kernel)) * np.sqrt(2 / fan)
        return self.add(
            g.Conv,
            [x],
            (n, kernels, *size),
            weights=weights.astype(np.float32),
            bias=(self.rng.normal(size=kernels) * 0.1).astype(np.float32),
            stride=(stride, stride),
            pads=(pad,) * 4,
            groups=groups,
        )

    def relu(self, x: g.Value, high: float = np.inf) -> g.Value:
        return self.add(g.Clip, [x], x.shape, low=0.0, high=high)

    def leaky(self, x: g.Value) -> g.Value:
        return self.add(g.PRelu, [x], x.shape, slope=np.full((1, 1, 1, 1), 0.1, np.float32))

    def prelu(self, x: g.Value) -> g.Value:
        slope = self.rng.uniform(0.05, 0.4, size=(1, x.shape[1], 1, 1)).astype(np.float32)
        return self.add(g.PRelu, [x], x.shape, slope=slope)

    def curve(self, x: g.Value, function: str) -> g.Value:
        return self.add(g.Curve, [x], x.shape, function=function)

    def affine(self, x: g.Value) -> g.Value:
        shape = (1, x.shape[1], 1, 1)
        scale = self.rng.uniform(0.5, 1.5, size=shape).astype(np.float32)
        shift = self.rng.normal(size=shape).astype(np.float32) * np.float32(0.3)
        return self.add(g.Affine, [x], x.shape, scale=scale, shift=shift)

    def binary(self, function: str, a: g.Value, b: g.Value) -> g.Value:
        return self.add(g.Binary, [a, b], a.shape, function=function)

    def concat(self, *parts: g.Value, axis: int = 1) -> g.Value:
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        return self.add(g.Concat, list(parts), tuple(shape), axis=axis)

    def channels(self, x: g.Value, first: int, count: int) -> g.Value:
        n, _, h, w = x.shape
        return self.add(g.Slice, [x], (n, count, h, w), starts=(first, 0, 0))

    def shuffle(self, x: g.Value, groups: int) -> g.Value:
        order = np.arange(x.shape[1]).reshape(groups, -1).T.reshape(-1)
        channels = tuple(int(item) for item in order)
        return self.add(g.ChannelGather, [x], x.shape, channels=channels)

    def pool(self, x: g.Value, mode: str, kernel: int, stride: int, pad: int = 0) -> g.Value:
        n, c, h, w = x.shape
        size = [(length + 2 * pad - kernel) // stride + 1 for length in (h, w)]
        return self.add(
            g.Pool,
            [x],
            (n, c, *size),
            mode=mode,
            kernel=(kernel, kernel),
            stride=(stride, stride),
            pads=(pad,) * 4,
            divisor=float(kernel * kernel),
        )

    def upsample(self, x: g.Value, factor: int = 2) -> g.Value:
        n, c, h, w = x.shape
        rows, columns = (np.repeat(np.eye(s, dtype=np.float32), factor, 0) for s in (h, w))
        shape = (n, c, h * factor, w * factor)
        return self.add(g.Resize, [x], shape, mode="nearest", rows=rows, columns=columns)

    def reshape(self, x: g.Value, *shape: int) -> g.Value:
        return self.add(g.Reshape, [x], shape)

    def excite(self, x: g.Value, gate: str) -> g.Value:
        squeezed = self.pool(x, "average", x.shape[2], 1)
        small = self.relu(self.conv(squeezed, max(x.shape[1] // 4, 1)))
        return self.binary("mul", x, self.curve(self.conv(small, x.shape[1]), gate))

    def graph(self, *outputs: g.Value) -> g.Graph:
        ports = [
            [g.Port(name=value.name, shape=value.shape, value=value) for value in values]
            for values in (self.inputs, outputs)
        ]
        return g.Graph(inputs=ports[0], outputs=ports[1], nodes=self.nodes)
