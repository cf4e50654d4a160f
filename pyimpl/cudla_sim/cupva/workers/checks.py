"""What is looked for in a kernel's use of the DMA, each with its own switch."""

from __future__ import annotations

from dataclasses import dataclass

from ...workers.switches import Switches


@dataclass(frozen=True)
class Checks(Switches):
    """Each is ``off``, ``warn`` (a line on stderr, once for each dataflow) or ``fault`` (the
    command ends with CUPVA_VPU_APPLICATION_ERROR). Hardware has other data then, or has not.
    """

    sync: str = "warn"
    """A dataflow that the kernel has synced less often than triggered when it ends."""
    pending: str = "off"
    """VMEM of a transfer that is written to between its trigger and its sync. Costs a copy and a
    comparison of each tile."""
