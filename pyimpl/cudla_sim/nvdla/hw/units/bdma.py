"""BDMA: not simulated yet."""

from __future__ import annotations

from cudla_sim.nvdla.hw.configs import HardwareConfig
from cudla_sim.nvdla.hw.csb import RegisterFile
from cudla_sim.nvdla.hw.memory import Memory


def launch(csb: RegisterFile, config: HardwareConfig, memory: tuple[Memory, Memory]) -> bool:
    """Run the stored descriptors if a launch register was written."""
    return False
