"""What the checker says."""

from __future__ import annotations

from dataclasses import dataclass

WHOLE_TASK = -1


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that real hardware (or the public firmware) would not take.

    *operation* is :data:`WHOLE_TASK` where the task as such is wrong. *field* is the member of
    the descriptor, with dots for members of members.
    """

    task: int
    operation: int
    unit: str
    field: str
    message: str

    def __str__(self) -> str:
        where = f"task {self.task}"
        if self.operation != WHOLE_TASK:
            where += f" operation {self.operation} ({self.unit})"
        return f"{where}: {self.field}: {self.message}"
