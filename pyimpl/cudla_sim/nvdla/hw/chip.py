"""One NVDLA core's hardware: register file, launch rules, units, delivery of "done".

Enabling a register group only takes note. ``step()`` launches the next chain of units that is
completely enabled, computes it, and releases exactly one event: a unit leaves its group, its
interrupt bit is set. The chains are those of ``chains.py``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from ...core.errors import ConfigError
from ...native import Native, load
from ...native.ints import Ints
from ..errors import NvdlaError, Status
from ..facts.configs import HardwareConfig
from .chains import RULES, Release
from .csb import CONVOLUTION, LAUNCHED, Move, Position, RegisterFile
from .doubt import Doubt
from .launch import ComputedLayer, Launched, Shortcut, Site
from .memory import Memory, Span
from .units.conv.weights import Arranged, Fresh
from .units.registry import UNITS

__all__ = ["Chip", "ComputedLayer"]


_NOTHING: frozenset[str] = frozenset()
"""Blocks that still work when a chain starts: here each is computed at once."""


def _integers(native: Native, arithmetic: str) -> Ints | None:
    if arithmetic == "numpy":
        return None
    if arithmetic == "native":
        return native.ints
    try:
        return Ints(arithmetic)
    except ValueError as error:
        raise ConfigError(f"arithmetic: {error}") from None


class Chip:
    """A core with its two memory ports; ``on_layer`` is told about every computed layer.

    *doubt* says what becomes of settings with which a chip goes wrong: errors, unless it is given.
    Without *exact*, fp16 convolutions are computed in float32, which rounds elsewhere.
    *arithmetic* of integers: "native" is compiled for the fastest instructions, "numpy" its twin in
    Python, other names are those of ``native.ints.kinds()`` and ``wide_kinds()``. The results are
    the same. *arranged* keeps what is made of weights (nobody does, unless it is given);
    ``shortcut`` stands between the chip and its units, once it is set.
    """

    def __init__(
        self,
        config: HardwareConfig,
        memory: Memory,
        secondary: Memory | None = None,
        arranged: Arranged | None = None,
        exact: bool = True,
        native: Native | None = None,
        arithmetic: str = "native",
        doubt: Doubt | None = None,
    ) -> None:
        self.config = config
        strict = doubt is None or doubt.strict
        self.csb = RegisterFile(config.line, self._note, config, spare_tables=strict)
        self.on_layer: Callable[[ComputedLayer], None] | None = None
        self.read = self.csb.read
        self.write = self.csb.write
        self.site = Site(
            config,
            self.csb,
            (secondary or memory, memory),
            arranged if arranged is not None else Fresh(),
            (native or load()).fp16 if exact else None,
            _integers(native or load(), arithmetic),
            doubt,
        )
        self.shortcut: Shortcut | None = None
        self._releases: deque[Release] = deque()
        self._changed = False

    def _note(self, block: str) -> None:
        self._changed = True

    def touch(self) -> None:
        """Look for chains that can start with the next step, whatever happened before."""
        self._changed = True

    @property
    def irq(self) -> bool:
        """Level of the interrupt line."""
        return self.csb.glb.line

    @property
    def pending(self) -> int:
        """Events of computed layers that have not been released yet."""
        return len(self._releases)

    @property
    def disturbed(self) -> bool:
        """Whether layers left something behind that changes what the next ones compute."""
        return bool(self.site.spoiled or self.site.unread) or len(self.site.kept.spare) > 0

    @property
    def position(self) -> Position | None:
        """Where pointers, groups and interrupts stand; None while something waits to be released,
        or was left behind."""
        return None if self._releases or self.disturbed else self.csb.position()

    def stands(self, position: Position) -> bool:
        """Whether that is where everything stands."""
        return not self._releases and not self.disturbed and self.csb.stands(position)

    def settle(self, position: Position, moves: Sequence[Move]) -> None:
        """Put pointers, groups and interrupts where they stood at another time."""
        self.csb.settle(position, moves)
        self._changed = True

    def step(self, first: int = 0) -> bool:
        """Release one event; False if nothing is running and nothing can start.

        *first*: interrupt status bits whose events go before the others. Which of a chain's units
        is done first is a matter of time on hardware.

        Raises NvdlaError if a launched layer is not defined or not simulated; the state of the
        chip is then undefined until it is replaced.
        """
        if not self._releases and not (self._changed and self._launch()):
            self._changed = False
            return False
        if first:
            self._prefer(first)
        self._leave()
        return True

    def _prefer(self, bits: int) -> None:
        for number, release in enumerate(self._releases):
            if release.raises(bits):
                del self._releases[number]
                self._releases.appendleft(release)
                return

    def advance(self) -> bool:
        """Take a step, and release all other events of what was computed with it."""
        progress = self.step()
        while self._releases:
            self._leave()
        return progress

    @contextmanager
    def noting_writes(self) -> Iterator[list[Span]]:
        """Collects where layers write."""
        written = list[Span]()
        ports = {id(memory): memory for memory in self.site.memory}.values()
        for memory in ports:
            memory.written = written
        try:
            yield written
        finally:
            for memory in ports:
                memory.written = None

    def _leave(self) -> None:
        """Release the next event."""
        self._releases.popleft().happen(self.csb)

    def waiting(self) -> list[str]:
        """Say which enabled units wait for which others."""
        blocks, missing = self.csb.blocks, self.csb.started_missing
        absent = [f"{missing} was started, {self.config.name} has none"] if missing else []
        enabled = [name for name in LAUNCHED if blocks[name].ready]
        if not enabled:
            return absent
        idle = [name for name in CONVOLUTION if not blocks[name].ready]
        text = "enabled: " + ", ".join(enabled)
        if 0 < len(idle) < len(CONVOLUTION):
            text += "; not enabled: " + ", ".join(idle)
        return [text, *absent]

    def _launch(self) -> bool:
        """Start the first chain whose members are all enabled."""
        try:
            launched = self._first_ready()
        except MemoryError:
            raise NvdlaError(
                "not enough host memory for the working set of a layer", Status.INSUFFICIENT_MEMORY
            ) from None
        if launched is None:
            return False
        self._releases.extend(launched.releases)
        if launched.layer is not None:
            launched.layer.end_ns = self.site.now()
            if self.on_layer is not None:
                self.on_layer(launched.layer)
        return True

    def _first_ready(self) -> Launched | None:
        site, shortcut = self.site, self.shortcut
        for unit, rule in RULES.items():
            launched = None if shortcut is None else shortcut.launch(unit)
            if launched is not None:
                return launched
            chain = rule(self.csb, _NOTHING)
            if chain is None:
                continue
            with np.errstate(all="ignore"):  # overflow and NaN are ordinary values in fp16
                if shortcut is None:
                    return UNITS[unit](site, chain)
                return shortcut.compute(unit, chain, UNITS[unit])
        return None
