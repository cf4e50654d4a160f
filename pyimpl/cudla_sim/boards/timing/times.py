"""What an estimate says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """Milliseconds, or images a second: of ten published values, nine lie within."""

    low: float
    value: float
    high: float


@dataclass(frozen=True, slots=True)
class OperationTime:
    """One operation for the whole batch.

    *layers* run as one. *compute_ms* and *memory_ms* go on at the same time; *ms* is the larger
    one and the gap to the next operation. *bound* is "compute" or "memory". *spread* is the factor
    up and down, *known* what its name is in the table of spreads. *bytes*: in DRAM.
    """

    layers: tuple[str, ...]
    kind: str
    engine: str
    precision: str
    subgraph: int
    macs: int
    bytes: int
    compute_ms: float
    memory_ms: float
    ms: float
    bound: str
    known: str
    spread: float

    @property
    def name(self) -> str:
        return " + ".join(self.layers)


@dataclass(frozen=True, slots=True)
class SubgraphTime:
    """One loadable."""

    name: str
    operations: int
    ms: Interval


@dataclass(frozen=True, slots=True)
class Times:
    """Times of a network on a board; *batch* pictures on each of *cores*.

    *dla*: operations of the subgraphs. *transitions*: tensors between GPU and DLA, of which there
    are *to_dla* and *from_dla*; nothing where all layers are on the DLA. *latency* is their sum.
    *throughput* in images a second of all cores. *gpu_layers* are not in any of these.
    """

    network: str
    board: str
    mode: str
    clock_mhz: float
    memory_mhz: float
    precision: str
    batch: int
    cores: int
    sparse: bool
    sram_bytes: int
    operations: tuple[OperationTime, ...]
    subgraphs: tuple[SubgraphTime, ...]
    to_dla: int
    from_dla: int
    dla: Interval
    transitions: Interval
    latency: Interval
    throughput: Interval
    gpu_layers: tuple[str, ...]
    notes: tuple[str, ...]
