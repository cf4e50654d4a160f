"""The constants of the estimate, from ``parameters.toml``, each with its origin."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import resources
from typing import Any

from ...core import untrusted

FITTED = "fitted"


@dataclass(frozen=True, slots=True)
class Parameters:
    """Values of the table's constants; units stand there."""

    orin_macs: float
    xavier_macs: float
    full_channels: float
    channel_power: float
    atom: float
    group_block: float
    depthwise_rate: float
    stride_factor: float
    output_rate: float
    xavier_output_rate: float
    pool_rate: float
    xavier_pool_rate: float
    rubik_rate: float
    fp16_atom: float
    softmax_cycles: float
    xavier_efficiency: float
    sparse_speedup: float
    sparse_over: float
    bandwidth: float
    weight_buffer: float
    gap_us: float
    xavier_gap_us: float
    two_cores: float
    two_cores_gpu: float


@dataclass(frozen=True, slots=True)
class Constant:
    """One of the table. *start*: of a fitted one, the value without any published time."""

    name: str
    value: float
    unit: str
    origin: str
    source: str
    start: float | None = None


@dataclass(frozen=True, slots=True)
class Spread:
    """A factor up and down around an estimate; *rows* published times are behind it."""

    name: str
    value: float
    rows: int
    what: str


@dataclass(frozen=True, slots=True)
class Range:
    """Milliseconds as published: the least, the usual, the most."""

    low: float
    value: float
    high: float


@functools.cache
def constants() -> tuple[Constant, ...]:
    return tuple(Constant(name, **row) for name, row in _table()["constant"].items())


@functools.cache
def parameters() -> Parameters:
    """The values that estimates use."""
    return Parameters(**{c.name: float(c.value) for c in constants()})


@functools.cache
def spreads() -> Mapping[str, Spread]:
    return {name: Spread(name, **row) for name, row in _table()["spread"].items()}


@functools.cache
def transitions() -> Mapping[str, Range]:
    """Of a tensor: "to_dla" and "from_dla"."""
    return {
        name: Range(row["low"], row["value"], row["high"])
        for name, row in _table()["transition"].items()
    }


def names() -> list[str]:
    return [field.name for field in fields(Parameters)]


def _table() -> dict[str, Any]:
    text = (resources.files(__package__) / "parameters.toml").read_text("utf-8")
    return dict(untrusted.parse_toml(text))
