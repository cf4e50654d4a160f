"""Mode, clock, batch, cores and SRAM of an estimate, checked against the board."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from math import isfinite

from ...board_table import Board, PowerMode
from ..checking import Report
from ..errors import DlaError
from .compute import Setting

SRAM_BYTES = 1 << 20
"""Default of kDLA_MANAGED_SRAM (NvInfer.h)."""
_LEAST_POOL = 4096
MOST_PICTURES = 4096
"""getMaxDLABatchSize (developer guide)."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """*pictures*: that the model's shapes have; *mark*: how sure the mode's clock is."""

    setting: Setting
    mode: str
    mark: str
    memory_mhz: float
    batch: int
    pictures: int
    sram_bytes: int


def surroundings(
    report: Report,
    mode: str,
    clock_mhz: float | None,
    batch: int | None,
    cores: int,
    sparse: bool,
    sram_bytes: int | None,
) -> Surroundings:
    """Raises DlaError for what the board does not have."""
    board = report.board
    name, chosen = power_mode(board, mode)
    if clock_mhz is not None and not (isfinite(clock_mhz) and clock_mhz > 0):
        raise DlaError(f"the clock is {clock_mhz:g} MHz; it is above 0")
    pictures = _pictures(report)
    wanted = pictures if batch is None else batch
    if not 1 <= wanted <= MOST_PICTURES:
        raise DlaError(f"the batch is {wanted}; 1 to {MOST_PICTURES} are possible")
    if not 1 <= cores <= board.cores:
        has = f"{board.cores} DLA core{'s' * (board.cores != 1)}"
        raise DlaError(f"{cores} cores are asked for; {board.name} has {has}")
    if sparse and (board.generation != "orin" or report.precision != "int8"):
        raise DlaError("2:4 sparsity is for INT8 on Orin's DLA")
    fastest = max(each.memory_mhz for each in board.modes.values())
    return Surroundings(
        setting=Setting(
            board.generation,
            clock_mhz or chosen.dla_mhz,
            chosen.memory_mhz / fastest,
            sparse,
        ),
        mode=name,
        mark="" if clock_mhz else chosen.mark,
        memory_mhz=chosen.memory_mhz,
        batch=wanted,
        pictures=pictures,
        sram_bytes=_sram(board, sram_bytes),
    )


def power_mode(board: Board, name: str) -> tuple[str, PowerMode]:
    """Its own name, whatever the letters' case, and the mode. Raises DlaError, with the nearest."""
    wanted = name or board.default_mode
    for own, mode in board.modes.items():
        if own.lower() == wanted.lower():
            return own, mode
    near = difflib.get_close_matches(wanted.upper(), list(board.modes), 1)
    guess = f" (did you mean {near[0]}?)" if near else ""
    raise DlaError(
        f"{board.name} has no power mode {wanted!r}{guess}; there are {', '.join(board.modes)}"
    )


def _sram(board: Board, given: int | None) -> int:
    most = board.sram_kib << 10
    if given is None:
        return min(SRAM_BYTES, most)
    if given and not _LEAST_POOL <= given <= most:
        raise DlaError(
            f"{given} bytes of SRAM; 0, or {_LEAST_POOL} to {most} ({board.sram_kib >> 10} MiB) "
            f"are possible on {board.name}"
        )
    return given


def _pictures(report: Report) -> int:
    """The first dimension of the network's inputs."""
    shapes = [tensor.shape for tensor in report.network.inputs if len(tensor.shape) > 1]
    return max((shape[0] for shape in shapes), default=1)
