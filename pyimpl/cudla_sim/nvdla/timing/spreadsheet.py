"""NVIDIA's own estimate: the formulas of the performance spreadsheet in nvdla/hw, exactly.

Source: nvdla/hw ``perf/NVDLA_OpenSource_Performance.xlsx``, sheets AlexNet, GoogLeNet and ResNet50
(they differ in what stays in the convolution buffer). All arithmetic is in fractions. The sheet's
KB are 1024 bytes and its GB are 1024 * 10^6 bytes; its layers never overlap; pooling, scale, ReLU
and element-wise operations cost nothing of their own; a 3x3 kernel counts as Winograd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from . import inception

WINOGRAD_WEIGHTS = Fraction(16, 9)
WINOGRAD_SPEED = Fraction(9, 4)


_Sizes = tuple[Fraction, Fraction, Fraction, Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Machine:
    """The sheet's inputs. ``macs`` are those of the data type; ``fc_batch`` counts for fully
    connected layers only; bandwidths in the sheet's GB/s."""

    feature_bytes: int = 1
    weight_bytes: int = 1
    cbuf_kb: int = 512
    macs: int = 2048
    clock_mhz: Fraction = Fraction(1000)
    sram_read_gbps: Fraction = Fraction(25)
    sram_write_gbps: Fraction = Fraction(25)
    dram_gbps: Fraction = Fraction(10)
    fc_batch: int = 16

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Machine:
        """From a JSON object with these names; others (``name``, ``note``) are left alone.

        Raises ValueError for a number that is missing or not positive.
        """
        found: dict[str, Any] = {}
        for field in cls.__dataclass_fields__:
            value = values.get(field)
            if not isinstance(value, int | float) or value <= 0:
                raise ValueError(f"config.{field} is {value!r}; it is a positive number")
            found[field] = exact(value) if field.endswith(("mhz", "gbps")) else int(value)
        return cls(**found)

    def cycles(self, kilobytes: Fraction, gbps: Fraction) -> int:
        """Cycles that a traffic takes."""
        return ceil(kilobytes / gbps * self.clock_mhz)


@dataclass(frozen=True, slots=True)
class SheetLayer:
    """One row: a convolution or fully connected layer with what is fused behind it."""

    name: str
    kind: str
    c: int
    h: int
    w: int
    k: int
    r: int
    s: int
    pad: bool
    stride_v: int
    stride_h: int
    pool: tuple[int, int, int, int] | None
    """Kernel height and width, strides down and right."""
    winograd_weights: bool
    """The sheet counts the weights in Winograd's form, 16/9 of their size."""
    parts: tuple[int, ...] = ()
    """Kernels of the convolutions that are one layer here (GoogLeNet sheet)."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> SheetLayer:
        """From a JSON object. Raises ValueError naming what is missing or wrong."""
        name = str(values.get("name", "?"))
        kind = values.get("kind")
        if kind not in ("conv", "conv + elwise", "fc"):
            raise ValueError(f"layer {name}: kind is {kind!r}; conv, conv + elwise or fc")
        numbers = {}
        for key in ("c", "h", "w", "k", "r", "s", "stride_v", "stride_h"):
            value = values.get(key)
            if not isinstance(value, int) or value <= 0:
                raise ValueError(f"layer {name}: {key} is {value!r}; it is a positive integer")
            numbers[key] = value
        pool = values.get("pool")
        if pool is not None:
            try:
                pool = tuple(int(pool[key]) for key in ("kh", "kw", "sv", "sh"))
            except (KeyError, TypeError, ValueError):
                raise ValueError(f"layer {name}: pool needs kh, kw, sv and sh") from None
        parts = values.get("parts", ())
        counts = isinstance(parts, list | tuple) and all(isinstance(p, int) for p in parts)
        if not counts or (parts and (min(parts) <= 0 or sum(parts) != numbers["k"])):
            raise ValueError(f"layer {name}: parts is {parts!r}; numbers of kernels that make up k")
        return cls(
            name,
            kind,
            **numbers,
            pad=bool(values.get("pad")),
            pool=pool,
            winograd_weights=bool(values.get("winograd_weights_16_9")),
            parts=tuple(parts),
        )

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the network, whatever the hardware does."""
        p, q = self.convolved
        return self.c * p * q * self.k * self.r * self.s

    @property
    def convolved(self) -> tuple[int, int]:
        """Height and width behind the convolution. The sheet's pad flag means "same"."""
        if self.pad:
            return _up(self.h, self.stride_v), _up(self.w, self.stride_h)
        return (
            _up(self.h - self.r, self.stride_v) + 1,
            _up(self.w - self.s, self.stride_h) + 1,
        )

    @property
    def pooled(self) -> tuple[int, int]:
        """Height and width behind pooling."""
        p, q = self.convolved
        if self.pool is None:
            return p, q
        kernel_h, kernel_w, stride_v, stride_h = self.pool
        return _up(p - kernel_h, stride_v) + 1, _up(q - kernel_w, stride_h) + 1


@dataclass(frozen=True, slots=True)
class Memory:
    """Cycles with the 4 MB second memory."""

    dram_traffic_kb: Fraction
    dram_cycles: int
    sram_read_cycles: int
    sram_write_cycles: int
    mac_cycles: Fraction
    cycles: Fraction
    bound: str


@dataclass(frozen=True, slots=True)
class Row:
    """What the sheet says of a layer. ``kept``: the side that stays in CBUF (ResNet50 sheet)."""

    layer: SheetLayer
    input_kb: Fraction
    min_input_kb: Fraction
    output_kb: Fraction
    weight_kb: Fraction
    min_weight_kb: Fraction
    dram_traffic_kb: Fraction
    dram_cycles: int
    mac_cycles: Fraction
    cycles: Fraction
    bound: str
    kept: str
    with_sram: Memory


@dataclass(frozen=True, slots=True)
class Total:
    """Sums over all layers. Utilisations are shares of 1."""

    cycles: Fraction
    ms: Fraction
    fps: Fraction
    hw_mac_utilization: Fraction
    network_mac_utilization: Fraction


def exact(value: float) -> Fraction:
    """The decimal number that was written down."""
    return Fraction(str(value))


def _up(value: int, unit: int) -> int:
    return -(-value // unit)


def _multiple(value: int, unit: int) -> int:
    return _up(value, unit) * unit


class Sheet:
    """Rows for the layers of a network. ``network`` "AlexNet" and "GoogLeNet" take those sheets'
    rules, everything else those of ResNet50.

    Raises ValueError for a layer whose smallest working set does not fit the convolution buffer:
    the sheet's formulas mean nothing then.
    """

    def __init__(self, network: str, machine: Machine, layers: Sequence[SheetLayer]) -> None:
        self.machine = machine
        self._alexnet = network == "AlexNet"
        self._googlenet = network == "GoogLeNet"
        self._layers = layers
        self._sizes = [self._size(number, layer) for number, layer in enumerate(layers)]
        self._blocks: tuple[list[inception.Traffic], list[inception.Whole]] = ([], [])
        if self._googlenet:
            self._blocks = inception.traffic([self._of_block(n) for n in range(len(layers))])
        self.rows = [self._row(number, layer) for number, layer in enumerate(layers)]

    @property
    def _resnet(self) -> bool:
        return not (self._alexnet or self._googlenet)

    # -- sizes in KB: input, smallest input, output, weights, smallest weights -----------------

    def _size(self, number: int, layer: SheetLayer) -> _Sizes:
        m = self.machine
        channels = _multiple(layer.c * layer.stride_v * layer.stride_h, 16)
        high, wide = _up(layer.h, layer.stride_v), _up(layer.w, layer.stride_h)
        lines = layer.r if number and self._resnet else layer.r + 1
        line = Fraction(channels * wide * m.feature_bytes, 1024)
        pooled_h, pooled_w = layer.pooled
        output = Fraction(pooled_h * pooled_w * _multiple(layer.k, 16) * m.feature_bytes, 1024)
        taps = _up(layer.r, layer.stride_v) * _up(layer.s, layer.stride_h)
        kernel = Fraction(channels * taps * m.weight_bytes, 1024)
        weight = kernel * layer.k * (WINOGRAD_WEIGHTS if layer.winograd_weights else 1)
        smallest = kernel * 32
        if smallest >= m.cbuf_kb:
            smallest = Fraction(m.cbuf_kb, 2)
        return line * high, line * min(lines, high), output, weight, smallest

    def _mac_cycles(self, layer: SheetLayer, kernel_group: int) -> Fraction:
        batch = self.machine.fc_batch if layer.kind == "fc" else 1
        high = layer.h if layer.pad else layer.h - layer.r + 1
        wide = layer.w if layer.pad else layer.w - layer.s + 1
        work = (
            _multiple(layer.c * layer.stride_v * layer.stride_h, 16)
            * _up(high, layer.stride_v)
            * _up(wide, layer.stride_h)
            * _multiple(layer.k * batch, kernel_group)
            * layer.r
            * layer.s
        )
        cycles = Fraction(work, layer.stride_v * layer.stride_h * self.machine.macs * batch)
        return cycles / WINOGRAD_SPEED if layer.r == layer.s == 3 else cycles

    # -- traffic ------------------------------------------------------------------------------

    def _traffic(self, number: int, layer: SheetLayer) -> tuple[Fraction, str]:
        """KB of the first memory without a second one, and what is kept in CBUF."""
        source, least, output, weight, smallest = self._sizes[number]
        if self._alexnet:
            batch = self.machine.fc_batch if layer.kind == "fc" else 1
            return weight / batch + output + source, ""
        if self._googlenet:
            keep_feature = source < smallest
        else:
            keep_feature = least < smallest if number == 0 else source < weight
        if keep_feature:
            traffic = self._passes(layer, source, smallest) * weight + source + output
        else:
            traffic = self._passes(layer, weight, least) * source + weight + output
        if layer.kind == "conv + elwise":
            traffic += output
        return traffic, "feature" if keep_feature else "weight"

    def _passes(self, layer: SheetLayer, kept: Fraction, beside: Fraction) -> int:
        room = self.machine.cbuf_kb - beside
        if room <= 0:
            raise ValueError(
                f"layer {layer.name}: its smallest working set ({float(beside):g} KB) does not fit "
                f"a convolution buffer of {self.machine.cbuf_kb} KB"
            )
        return ceil(kept / room) if kept > room else 1

    def _sram_batch(self) -> int:
        """Pictures whose features fit the second memory in every convolution (AlexNet sheet)."""
        batches = [
            floor((inception.SRAM_KB - weight) / (source + output))
            for layer, (source, _, output, weight, _) in zip(self._layers, self._sizes, strict=True)
            if layer.kind != "fc"
        ]
        return max(1, min(batches, default=1))

    def _sram_dram(self, number: int, layer: SheetLayer) -> Fraction:
        """KB of the first memory beside a second one of 4 MB."""
        source, _, output, weight, _ = self._sizes[number]
        if layer.kind == "fc":
            return weight / self.machine.fc_batch + source
        if not self._alexnet:
            if number == 0:
                return source + weight
            return weight + output if number >= 6 else weight
        batch = self._sram_batch()
        if number == 1:
            batch = min(batch, self.machine.fc_batch)
        convolutions = [each.name for each in self._layers if each.kind != "fc"]
        traffic = weight / batch
        if number == 0:
            traffic += source
        if layer.name == convolutions[-1]:
            traffic += output
        return traffic

    def _of_block(self, number: int) -> inception.Sizes:
        layer = self._layers[number]
        source, _, output, weight, _ = self._sizes[number]
        kernels = _multiple(layer.k, 16)
        first = output * _multiple(layer.parts[0], 16) / kernels if layer.parts else Fraction(0)
        return inception.Sizes(source, output, weight, len(layer.parts), first)

    def _waits(self) -> Fraction:
        """Cycles for which blocks wait for the first memory after their layers (GoogLeNet)."""
        m = self.machine
        waits = Fraction(0)
        for whole in self._blocks[1]:
            layers = sum((self.rows[n].with_sram.cycles for n in whole.layers), Fraction(0))
            waits += max(m.cycles(whole.dram, m.dram_gbps) - layers, Fraction(0))
        return waits

    # -- rows ---------------------------------------------------------------------------------

    def _row(self, number: int, layer: SheetLayer) -> Row:
        m = self.machine
        traffic, kept = self._traffic(number, layer)
        dram = m.cycles(traffic, m.dram_gbps)
        mac = self._mac_cycles(layer, 128 if self._resnet else 16)
        return Row(
            layer,
            *self._sizes[number],
            traffic,
            dram,
            mac,
            max(mac, Fraction(dram)),
            "MAC" if mac >= dram else "DRAM",
            kept,
            self._with_sram(number, layer),
        )

    def _with_sram(self, number: int, layer: SheetLayer) -> Memory:
        m = self.machine
        if self._googlenet:
            found = self._blocks[0][number]
        else:
            source, _, output, _, _ = self._sizes[number]
            source = source if number else Fraction(0)
            found = inception.Traffic(self._sram_dram(number, layer), source, output)
        traffic = found.dram
        dram = m.cycles(traffic, m.dram_gbps)
        read = m.cycles(found.read, m.sram_read_gbps)
        write = m.cycles(found.write, m.sram_write_gbps)
        mac = self._mac_cycles(layer, 16)
        limits: dict[str, Fraction | int] = {
            "MAC": mac,
            "CVSRAM-W": write,
            "DRAM": dram,
            "CVSRAM-R": read,
        }
        bound = max(limits, key=lambda name: limits[name])  # the first of equals
        return Memory(traffic, dram, read, write, mac, Fraction(limits[bound]), bound)

    # -- totals -------------------------------------------------------------------------------

    def total(self, with_sram: bool = False) -> Total:
        """The summary without or with the second memory."""
        rows: list[Row | Memory] = [r.with_sram if with_sram else r for r in self.rows]
        cycles = sum((r.cycles for r in rows), self._waits() if with_sram else Fraction(0))
        macs = sum(layer.macs for layer in self._layers)
        ms = cycles / 1000 / self.machine.clock_mhz
        return Total(
            cycles,
            ms,
            1000 / ms,
            sum((r.mac_cycles for r in rows), Fraction(0)) / cycles,
            Fraction(macs, self.machine.macs) / cycles,
        )
