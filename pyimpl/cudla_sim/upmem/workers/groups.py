"""Several tasklets in words."""

from __future__ import annotations


def numbers(tasklets: list[int]) -> str:
    """``tasklet 3``, ``each of tasklets 1 to 15``."""
    if len(tasklets) == 1:
        return f"tasklet {tasklets[0]}"
    if tasklets == list(range(tasklets[0], tasklets[-1] + 1)):
        return f"each of tasklets {tasklets[0]} to {tasklets[-1]}"
    return "each of tasklets " + ", ".join(map(str, tasklets))
