"""An independent model of convolution, SDP and PDP: loops and Python integers, no numpy.

Written from the hardware rules; it shares no code with the simulator and is slow on purpose.
Memory is a ``bytearray`` that starts at address ``BASE``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

BASE = 0x1_0000_0000


def rounding_shift(value: int, shift: int) -> int:
    """Divide by 2**shift, halves away from zero; negative shifts multiply."""
    if shift <= 0:
        return value << -shift
    half = 1 << (shift - 1)
    return (value + half) >> shift if value >= 0 else -((-value + half) >> shift)


def saturate(value: int, bits: int) -> int:
    return max(-(1 << (bits - 1)), min((1 << (bits - 1)) - 1, value))


@dataclass
class Hardware:
    """Parameters of a configuration."""

    atom: int
    atomic_c: int
    kernel_group: int
    bpe: int = 1

    @property
    def per_atom(self) -> int:
        return self.atom // self.bpe


@dataclass
class Cube:
    """A feature cube."""

    address: int
    channels: int
    height: int
    width: int
    line_stride: int
    surface_stride: int

    def position(self, hw: Hardware, c: int, y: int, x: int) -> int:
        group, inner = divmod(c, hw.per_atom)
        return (
            self.address
            - BASE
            + group * self.surface_stride
            + y * self.line_stride
            + x * hw.atom
            + inner * hw.bpe
        )

    def get(self, memory: bytearray, hw: Hardware, c: int, y: int, x: int) -> int:
        start = self.position(hw, c, y, x)
        return int.from_bytes(memory[start : start + hw.bpe], "little", signed=True)

    def padded_channels(self, hw: Hardware) -> int:
        return -(-self.channels // hw.per_atom) * hw.per_atom


@dataclass
class Conv:
    """Settings of a direct convolution."""

    kernels: int
    rows: int
    columns: int
    stride: tuple[int, int]
    dilation: tuple[int, int]
    pad_top: int
    pad_left: int
    pad_value: int
    truncate: int
    out: tuple[int, int]
    weight_address: int
    convert: tuple[int, int, int] | None = None


def weight(memory: bytearray, hw: Hardware, p: Conv, channels: int, k: int, r: int, s: int, c: int):
    """Read one weight from its place in memory."""
    taps = p.rows * p.columns
    group, kernel = divmod(k, hw.kernel_group)
    members = min(hw.kernel_group, p.kernels - group * hw.kernel_group)
    chunk, inner = divmod(c, hw.atomic_c)
    width = min(hw.atomic_c, channels - chunk * hw.atomic_c)
    element = (
        group * hw.kernel_group * taps * channels
        + chunk * hw.atomic_c * taps * members
        + ((r * p.columns + s) * members + kernel) * width
        + inner
    )
    start = p.weight_address - BASE + element * hw.bpe
    return int.from_bytes(memory[start : start + hw.bpe], "little", signed=True)


def convolve(memory: bytearray, hw: Hardware, p: Conv, source: Cube) -> dict:
    """Return accumulator values by (kernel, y, x)."""
    bits = 8 * hw.bpe
    result = {}
    for k in range(p.kernels):
        for oy in range(p.out[0]):
            for ox in range(p.out[1]):
                total = 0
                for r in range(p.rows):
                    for s in range(p.columns):
                        y = oy * p.stride[0] - p.pad_top + r * p.dilation[0]
                        x = ox * p.stride[1] - p.pad_left + s * p.dilation[1]
                        inside = 0 <= y < source.height and 0 <= x < source.width
                        for c in range(source.channels):
                            value = p.pad_value
                            if inside:
                                value = source.get(memory, hw, c, y, x)
                                if p.convert is not None:
                                    offset, scale, shift = p.convert
                                    scaled = rounding_shift((value - offset) * scale, shift)
                                    value = saturate(saturate(scaled, 17), bits)
                            total += value * weight(memory, hw, p, source.channels, k, r, s, c)
                result[k, oy, ox] = saturate(rounding_shift(total, p.truncate), 32)
    return result


@dataclass
class Stage:
    """X1 or X2. Operands are numbers, lists by channel, or dicts by (c, y, x)."""

    alu: str | None = None
    alu_operand: object = 0
    alu_shift: int = 0
    mul: bool = False
    mul_operand: object = 0
    mul_shift: int = 0
    prelu: bool = False
    relu: bool = False


def _operand(operand: object, c: int, y: int, x: int) -> int:
    if isinstance(operand, dict):
        return operand[c, y, x]
    if isinstance(operand, list):
        return operand[c]
    assert isinstance(operand, int)
    return operand


def _alu(name: str, value: int, operand: int) -> int:
    if name == "max":
        return max(value, operand)
    return min(value, operand) if name == "min" else value + operand


def x_stage(stage: Stage, value: int, c: int, y: int, x: int) -> int:
    """Stage X1 or X2 on one value."""
    if stage.alu is not None:
        operand = saturate(_operand(stage.alu_operand, c, y, x) << stage.alu_shift, 32)
        value = _alu(stage.alu, value, operand)
    if not stage.mul:
        value = saturate(rounding_shift(value, stage.mul_shift), 32)
    elif stage.prelu and value >= 0:
        value = (value + (1 << 31)) % (1 << 32) - (1 << 31)
    else:
        product = value * _operand(stage.mul_operand, c, y, x)
        value = saturate(rounding_shift(product, stage.mul_shift), 32)
    return max(value, 0) if stage.relu else value


def y_stage(stage: Stage, value: int, c: int, y: int, x: int) -> int:
    """Stage Y on one value, multiplication first."""
    if stage.mul and not (stage.prelu and value >= 0):
        product = value * _operand(stage.mul_operand, c, y, x)
        value = saturate(rounding_shift(product, stage.mul_shift), 32)
    if stage.alu is not None:
        value = saturate(_alu(stage.alu, value, _operand(stage.alu_operand, c, y, x)), 32)
    return value


@dataclass
class Sdp:
    """All stages and the output converter."""

    x1: Stage | None = None
    x2: Stage | None = None
    y: Stage | None = None
    cvt: tuple[int, int, int] = (0, 1, 0)
    out_bits: int = 8


def process(p: Sdp, values: dict, size: tuple[int, int, int], padded: int) -> dict:
    """Return output values by (channel, y, x), padding channels included."""
    _, height, width = size
    result = {}
    for c in range(padded):
        for y in range(height):
            for x in range(width):
                value = values.get((c, y, x), 0)
                if p.x1 is not None:
                    value = x_stage(p.x1, value, c, y, x)
                if p.x2 is not None:
                    value = x_stage(p.x2, value, c, y, x)
                if p.y is not None:
                    value = y_stage(p.y, value, c, y, x)
                offset, scale, shift = p.cvt
                value = saturate(rounding_shift((value - offset) * scale, shift), 17)
                result[c, y, x] = saturate(value, p.out_bits)
    return result


@dataclass
class Pool:
    """Settings of PDP."""

    method: str
    kernel: tuple[int, int]
    stride: tuple[int, int]
    pad_top: int
    pad_left: int
    out: tuple[int, int]
    pads: list[int] = field(default_factory=lambda: [0] * 8)
    reciprocals: tuple[int, int] = (65536, 65536)
    bits: int = 8


def pool(p: Pool, values: dict, size: tuple[int, int, int]) -> dict:
    """Return pooled values by (channel, y, x)."""
    channels, height, width = size
    result = {}
    for c in range(channels):
        for oy in range(p.out[0]):
            for ox in range(p.out[1]):
                y0, x0 = oy * p.stride[0] - p.pad_top, ox * p.stride[1] - p.pad_left
                rows = [y for y in range(y0, y0 + p.kernel[0]) if 0 <= y < height]
                columns = [x for x in range(x0, x0 + p.kernel[1]) if 0 <= x < width]
                inside = [values[c, y, x] for y in rows for x in columns]
                if p.method == "max":
                    result[c, oy, ox] = max(inside)
                elif p.method == "min":
                    result[c, oy, ox] = min(inside)
                else:
                    total = sum(inside) + len(rows) * p.pads[p.kernel[1] - len(columns)]
                    total += p.kernel[1] * p.pads[p.kernel[0] - len(rows)]
                    first = rounding_shift(total * p.reciprocals[1], 16)
                    second = rounding_shift(first * p.reciprocals[0], 16)
                    result[c, oy, ox] = saturate(second, p.bits)
    return result
