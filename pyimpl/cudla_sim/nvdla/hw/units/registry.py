"""What the units of a core compute, by the rules of their chains (``chains.RULES``)."""

from __future__ import annotations

from ..launch import Launch
from . import bdma_launch, cdp_launch, pdp_launch, rubik_launch, sdp_launch

UNITS: dict[str, Launch] = {
    "SDP": sdp_launch.launch,
    "PDP": pdp_launch.launch,
    "SDP_RDMA": sdp_launch.launch_idle_rdma,
    "CDP": cdp_launch.launch,
    "BDMA": bdma_launch.launch,
    "RUBIK": rubik_launch.launch,
}
