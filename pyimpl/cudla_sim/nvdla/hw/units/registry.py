"""The units of a core, in the order in which ready ones start."""

from __future__ import annotations

from ..launch import Launch
from . import bdma_launch, cdp_launch, pdp_launch, rubik_launch, sdp_launch

UNITS: tuple[Launch, ...] = (
    sdp_launch.launch,
    pdp_launch.launch,
    sdp_launch.launch_idle_rdma,
    cdp_launch.launch,
    bdma_launch.launch,
    rubik_launch.launch,
)
