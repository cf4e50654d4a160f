"""Settings with which a chip does other than its registers seem to say.

Strict, such a layer is an error. Otherwise the model does what the chip does, and says so once.
"""

from __future__ import annotations

from collections.abc import Callable

from ..errors import HardwareFault


class Doubt:
    """Called with a unit and what is wrong. *tell* gets the line where that is no error; *told* are
    lines that it got already, for cores that share them."""

    def __init__(
        self,
        strict: bool = True,
        tell: Callable[[str], None] | None = None,
        told: set[str] | None = None,
    ) -> None:
        self.strict = strict
        self._tell = tell
        self._told = set[str]() if told is None else told

    def __call__(self, unit: str, message: str) -> None:
        """Raise HardwareFault, or tell it once."""
        if self.strict:
            raise HardwareFault(
                unit, f"{message} (CUDLA_SIM_HARDWARE=chip computes what the chip does)"
            )
        self.warn(unit, message)

    def warn(self, unit: str, message: str) -> None:
        """Report it once; strict or not, the layer is computed."""
        text = f"{unit}: {message}"
        if self._tell is not None and text not in self._told:
            self._told.add(text)
            self._tell(text)
