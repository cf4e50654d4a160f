"""Boards of Jetson and DRIVE that have a DLA, or are taken to have one: what is public of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

XAVIER, ORIN = "xavier", "orin"
GENERATIONS = (XAVIER, ORIN)
"""Of the DLA: ``CUDLA_DEVICE_VERSION`` 1.0 and 2.0 (cuDLA API)."""

MARKS = ("documented", "measured by others", "inferred", "recalled")
"""How sure a rule is, the surest first."""
RECALLED = MARKS[-1]


@dataclass(frozen=True, slots=True)
class PowerMode:
    """A power mode: clocks in MHz. *mark* is how sure the DLA's clock is: one published,
    "inferred" from published peaks, or "recalled"."""

    dla_mhz: float
    memory_mhz: float
    mark: str = "inferred"


@dataclass(frozen=True, slots=True)
class Board:
    """One module.

    *generation*: "xavier" or "orin". *cores*: DLA instances. *modes*: by nvpmodel's name, the first
    is the default. *memory_bits*: width of its LPDDR. *sram_kib*: that TensorRT may give to one
    core. *why_none*: where it has no DLA.
    """

    name: str
    title: str
    generation: str
    cores: int
    modes: Mapping[str, PowerMode] = field(default_factory=dict)
    memory_bits: int = 256
    sram_kib: int = 1024
    aliases: tuple[str, ...] = ()
    why_none: str = ""

    @property
    def device_version(self) -> str:
        """What CUDLA_DEVICE_VERSION answers (cuDLA API: Xavier has 1.0 and Orin has 2.0)."""
        return "1.0" if self.generation == XAVIER else "2.0"

    @property
    def picture_line(self) -> int:
        """Bytes that a line of kDLA_HWC4 is a multiple of (developer guide, DLA I/O formats)."""
        return 32 if self.generation == XAVIER else 64

    @property
    def default_mode(self) -> str:
        return next(iter(self.modes), "")


# Clocks of AGX Orin: published TOPS of each mode over the MACs (Deep-Learning-Accelerator-SW);
# memory: 3199 MHz in MaxP runs of MLPerf, 2133 MHz in 15 W modes.
_AGX_ORIN = {
    "MAXN": PowerMode(1600.0, 3199.0, "documented"),
    "50W": PowerMode(1408.0, 3199.0),
    "30W": PowerMode(1369.6, 3199.0),
    "15W": PowerMode(614.4, 2133.0),
}
_ORIN_NX = {
    "MAXN": PowerMode(614.4, 3199.0),
    "MAXN_SUPER": PowerMode(1228.8, 3199.0, RECALLED),
    "MAXQ": PowerMode(780.2, 3199.0, "documented"),
}

_LISTED = (
    Board("orin", "Jetson AGX Orin 64GB", ORIN, 2, _AGX_ORIN, aliases=("agx-orin", "orin-agx")),
    Board("orin-nx", "Jetson Orin NX 16GB", ORIN, 2, _ORIN_NX, 128, aliases=("orin-nx-16gb",)),
    Board("orin-nx-8gb", "Jetson Orin NX 8GB", ORIN, 1, _ORIN_NX, 128),
    Board(
        "drive-orin", "DRIVE Orin-X", ORIN, 2, {"MAXN": PowerMode(1331.0, 3199.0, "documented")},
        aliases=("orin-x",),
    ),
    Board(
        "xavier", "Jetson AGX Xavier", XAVIER, 2,
        {
            "MAXN": PowerMode(1395.2, 2133.0, "documented"),
            "MAXQ": PowerMode(1100.0, 1331.2, "documented"),
        },
        sram_kib=4096, aliases=("agx-xavier", "xavier-agx"),
    ),
    Board(
        "xavier-nx", "Jetson Xavier NX", XAVIER, 2,
        {"MAXN": PowerMode(1100.8, 1866.0, "documented")}, 128, sram_kib=4096,
    ),
    Board("orin-nano", "Jetson Orin Nano", ORIN, 0, why_none="the module has none"),
    Board("thor", "Jetson AGX Thor", ORIN, 0, why_none="Thor has none"),
)  # fmt: skip

BOARDS: Mapping[str, Board] = {
    name: board for board in _LISTED for name in (board.name, *board.aliases)
}
"""By name and alias."""
NAMES = tuple(board.name for board in _LISTED)
