"""Layers that are known from before: computing them again, and what follows."""

from __future__ import annotations

from collections.abc import Mapping

from ....native.steps import COUNTED
from ..chains import Chain
from ..launch import Describe, Launched, Pattern, Place, Site, layer_known


def counter(site: Site, block: str, register: str) -> Place:
    """Where the group that a block works on counts."""
    state = site.csb.blocks[block]
    return state.counted[state.consumer], state.layout.by_name[register].offset // 4


def pattern(
    site: Site,
    chain: Chain,
    zeros: list[Place],
    counted: Mapping[str, Place] | None = None,
) -> Pattern:
    """The pattern of a chain on the groups that its blocks work on now; *counted* says where what
    its jobs count is shown."""
    return Pattern(
        [site.csb.blocks[name].active for name in chain.blocks],
        chain.groups(site.csb),
        chain.releases(site.csb),
        zeros,
        [(place, COUNTED.index(name)) for name, place in (counted or {}).items()],
    )


def launch(site: Site, first: str, describe: Describe) -> Launched | None:
    """Run the layer whose chain begins with block *first* as it ran before; None if it is not
    known, or something differs. *describe* says what follows it."""
    start = site.now()
    layer = site.again(first)
    if layer is None:
        return None
    known = site.known = layer_known(site, layer, describe)
    counted = [sum(numbers) for numbers in zip(*[job.counted for job in layer.jobs], strict=True)]
    known.latch(site, counted)
    return Launched(known.describe(start, 0, counted[0]), known.pattern.releases)
