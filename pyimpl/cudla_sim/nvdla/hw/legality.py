"""Register values that a configuration does not have: what becomes of them when a chain starts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ..errors import HardwareFault
from ..facts.configs import HardwareConfig
from ..facts.legal_registers import Illegal, LowBits, Taken, illegal
from .doubt import Doubt


@lru_cache(2048)
def _found(config: HardwareConfig, block: str, group: tuple[int, ...]) -> tuple[Illegal, ...]:
    return tuple(illegal(config, block, group))


def settle(
    config: HardwareConfig, groups: Mapping[str, list[int]], doubt: Doubt
) -> dict[str, list[int]]:
    """Return the registers as the units take them.

    Raises HardwareFault for values that stop a unit or whose results are not known, and if *doubt*
    is strict for all others, except for those that the model computes all the same.
    """
    result = dict(groups)
    for block, group in groups.items():
        for item in _found(config, block, tuple(group)):
            rule = item.rule
            if isinstance(item.chip, Taken):
                raise HardwareFault(block, f"{item.message}; {item.chip.value}")
            if rule.computed and doubt.strict:
                doubt.warn(
                    block,
                    f"{item.message}; computed as other configurations do, the chip passes the"
                    " data by (CUDLA_SIM_HARDWARE=chip does that, too)",
                )
                continue
            corrected = item.corrected(result[block])
            assert corrected is not None
            taken = (
                f"its low {item.chip.width} bits" if isinstance(item.chip, LowBits) else item.chip
            )
            doubt(block, f"{item.message}; the chip takes {taken}")
            result[block] = corrected
    return result
