"""What the units of a core compute, by the rules of their chains (``chains.RULES``)."""

from __future__ import annotations

from ..launch import Launch
from .bdma import launch as bdma
from .cdp import launch as cdp
from .pdp import launch as pdp
from .rubik import launch as rubik
from .sdp import launch as sdp

UNITS: dict[str, Launch] = {
    "SDP": sdp.launch,
    "PDP": pdp.launch,
    "SDP_RDMA": sdp.launch_idle_rdma,
    "CDP": cdp.launch,
    "BDMA": bdma.launch,
    "RUBIK": rubik.launch,
}
