"""``estimate``: milliseconds of a network's layers, subgraphs and inferences on a board's DLA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from ..checking import Report
from ..errors import DlaError
from ..subgraphs import Subgraph
from . import notes, spread
from .compute import Setting, gap_ms, milliseconds, moved_bytes
from .operations import operations
from .parameters import Parameters, Range, parameters, spreads, transitions
from .surroundings import Surroundings, surroundings
from .times import Interval, OperationTime, SubgraphTime, Times
from .work import Work, work


def estimate(
    report: Report,
    mode: str = "",
    *,
    clock_mhz: float | None = None,
    batch: int | None = None,
    cores: int = 1,
    sparse: bool = False,
    sram_bytes: int | None = None,
    fp16_layers: Sequence[str] = (),
    to_dla: Range | None = None,
    from_dla: Range | None = None,
    values: Parameters | None = None,
) -> Times:
    """How long the DLA of *report*'s board takes.

    *mode*: a power mode of the board; default: its first. *clock_mhz* of the DLA replaces the
    mode's. *batch*: pictures of a submission; default: as the model has it. *cores* run the same
    network at once. *sparse*: weights are 2:4 sparse (Orin, INT8). *sram_bytes*: of
    kDLA_MANAGED_SRAM; default 1 MiB. *fp16_layers*: patterns of names of layers that are kept in
    FP16 (``"/model.24/*"``). *to_dla*, *from_dla*: milliseconds for a tensor between GPU and DLA.
    *values* replaces the table of constants.

    Raises DlaError, with what would be possible.
    """
    around = surroundings(report, mode, clock_mhz, batch, cores, sparse, sram_bytes)
    p = values or parameters()
    rows: list[OperationTime] = []
    parts: list[SubgraphTime] = []
    for number, subgraph in enumerate(lowered(report, fp16_layers)):
        items = work(
            operations(subgraph, report.board.generation), around.pictures, around.sram_bytes
        )
        timed = [_row(item, around, number, p) for item in items]
        parts.append(SubgraphTime(subgraph.name, len(timed), total(timed)))
        rows += timed
    dla = total(rows)
    inward, outward = _crossings(report)
    between = _between(
        inward, outward, to_dla or transitions()["to_dla"], from_dla or transitions()["from_dla"]
    )
    shared = 1.0
    if cores > 1:
        shared = p.two_cores_gpu if report.on_gpu else p.two_cores
    latency = Interval(*((d + t) / shared for d, t in zip(_each(dla), _each(between), strict=True)))
    images = cores * around.batch * 1e3
    high, value, low = (images / ms if ms else 0.0 for ms in _each(latency))
    found = Times(
        network=report.network.name,
        board=report.board.name,
        mode=around.mode,
        clock_mhz=around.setting.clock_mhz,
        memory_mhz=around.memory_mhz,
        precision=report.precision,
        batch=around.batch,
        cores=cores,
        sparse=sparse,
        sram_bytes=around.sram_bytes,
        operations=tuple(rows),
        subgraphs=tuple(parts),
        to_dla=inward,
        from_dla=outward,
        dla=dla,
        transitions=between,
        latency=latency,
        throughput=Interval(low, value, high),
        gpu_layers=tuple(decision.layer.name for decision in report.on_gpu),
        notes=(),
    )
    return replace(found, notes=notes.notes(found, report, around))


def lowered(report: Report, patterns: Sequence[str]) -> list[Subgraph]:
    """The subgraphs, with layers of these names in FP16. Raises DlaError for a pattern that is no
    layer's."""
    names = [decision.layer.name for decision in report.decisions]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise DlaError(f"no layer is called {pattern!r}; dla check --all lists the names")
    return [
        replace(
            subgraph,
            decisions=tuple(
                replace(decision, precision="fp16")
                if any(fnmatchcase(decision.layer.name, pattern) for pattern in patterns)
                else decision
                for decision in subgraph.decisions
            ),
        )
        for subgraph in report.subgraphs
    ]


def _row(item: Work, around: Surroundings, subgraph: int, p: Parameters) -> OperationTime:
    setting: Setting = around.setting
    compute, memory = (ms * around.batch for ms in milliseconds(item, setting, p))
    known = spread.kind(item, setting.generation)
    operation = item.operation
    return OperationTime(
        layers=tuple(layer.name for layer in operation.layers),
        kind=operation.main.kind,
        engine=operation.engine,
        precision=operation.precision,
        subgraph=subgraph,
        macs=round(item.macs * around.batch),
        bytes=round(moved_bytes(item, p) * around.batch),
        compute_ms=compute,
        memory_ms=memory,
        ms=max(compute, memory) + gap_ms(setting.generation, p) * around.batch,
        bound="compute" if compute >= memory else "memory",
        known=known,
        spread=spreads()[known].value,
    )


def total(rows: Sequence[OperationTime]) -> Interval:
    """Of operations one after another; what is wrong of one is taken to be wrong of all alike."""
    return Interval(
        sum(row.ms / row.spread for row in rows),
        sum(row.ms for row in rows),
        sum(row.ms * row.spread for row in rows),
    )


def _crossings(report: Report) -> tuple[int, int]:
    """Tensors to and from the DLA. Where all layers are on it, the caller's buffers are in formats
    of the DLA and nothing is reformatted."""
    if not report.on_gpu:
        return 0, 0
    return (
        sum(len(subgraph.inputs) for subgraph in report.subgraphs),
        sum(len(subgraph.outputs) for subgraph in report.subgraphs),
    )


def _between(inward: int, outward: int, to_dla: Range, from_dla: Range) -> Interval:
    return Interval(
        inward * to_dla.low + outward * from_dla.low,
        inward * to_dla.value + outward * from_dla.value,
        inward * to_dla.high + outward * from_dla.high,
    )


def _each(interval: Interval) -> tuple[float, float, float]:
    return interval.low, interval.value, interval.high
