"""What has to be moved between host and hardware where a network runs on both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class Placed(Protocol):
    """Something that runs on the host or on the hardware."""

    @property
    def host(self) -> bool: ...

    @property
    def inputs(self) -> tuple[str, ...]: ...

    @property
    def outputs(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Transfer:
    """A tensor that the host puts into a buffer of hardware part *part* (*into*), or takes out."""

    tensor: str
    part: int
    into: bool


def transfers(parts: Sequence[Placed]) -> list[Transfer]:
    """All of one run, in order.

    A hardware part's buffers have scales and a layout of their own, so what another part computed
    is written into them once for each part that reads it, and what other parts read is taken out
    of them once. The network's own inputs and outputs are not counted.
    """
    made = {name for part in parts for name in part.outputs}
    found = []
    for number, part in enumerate(parts):
        if part.host:
            continue
        found += [Transfer(name, number, True) for name in part.inputs if name in made]
        others = (other for other in parts[number + 1 :])
        wanted = {name for other in others for name in other.inputs}
        found += [Transfer(name, number, False) for name in part.outputs if name in wanted]
    return found
