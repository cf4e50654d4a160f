"""Layers that are known from before: computing them again, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....native.steps import COUNTED
from ..launch import Known, Launched, Pattern, Place, Release, Site
from .prepared import Prepared


def counter(site: Site, block: str, register: str) -> Place:
    """Where the group that a block works on counts."""
    state = site.csb.blocks[block]
    return state.counted[state.consumer], state.layout.by_name[register].offset // 4


def pattern(
    site: Site,
    chain: Sequence[str],
    releases: list[Release],
    zeros: list[Place],
    counted: Mapping[str, Place] | None = None,
    shown: Sequence[str] | None = None,
) -> Pattern:
    """The pattern of a chain on the groups that its blocks work on now; *shown* are the blocks
    that reports name, if not all; *counted* says where what its jobs count is shown."""
    return Pattern(
        [site.csb.blocks[name].active for name in chain],
        {name: site.consumer(name) for name in (chain if shown is None else shown)},
        releases,
        zeros,
        [(place, COUNTED.index(name)) for name, place in (counted or {}).items()],
    )


def launch(
    site: Site, first: str, describe: Callable[[Site, Prepared], Pattern]
) -> Launched | None:
    """Run the layer whose chain begins with block *first* as it ran before; None if it is not
    known, or something differs. *describe* says what follows it."""
    start = site.now()
    layer = site.again(first)
    if layer is None:
        return None
    consumers = tuple([state.consumer for state in layer.states])
    found: Pattern | None = layer.patterns.get(consumers)
    if found is None:
        found = layer.patterns[consumers] = describe(site, layer)
    known = site.known = Known(layer, found)
    counted = [sum(numbers) for numbers in zip(*[job.counted for job in layer.jobs], strict=True)]
    known.latch(site, counted)
    return Launched(known.describe(start, 0, counted[0]), found.releases)
