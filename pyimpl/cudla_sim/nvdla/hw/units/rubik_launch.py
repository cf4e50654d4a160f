"""Starting RUBIK."""

from __future__ import annotations

from ..glb import Interrupt
from ..launch import Launched, Layer, Release, Site
from . import rubik


def launch(site: Site) -> Launched | None:
    """Contract, split or merge a cube."""
    if not site.ready("RBK"):
        return None
    start = site.now()
    shapes = rubik.run(site.groups(("RBK",)), site.config, site.memory)
    group = site.consumer("RBK")
    layer = Layer("RUBIK", {"RBK": group}, *shapes, start)
    return Launched(layer, [Release(("RBK",), Interrupt.RUBIK, group)])
