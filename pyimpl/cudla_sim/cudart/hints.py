"""Hints about ranges of managed memory: kept, and told again. Nothing moves by them.

CUDA Runtime API, cudaMemRangeGetAttribute.
"""

from __future__ import annotations

from collections.abc import Iterator

NOWHERE = -2  # cudaInvalidDeviceId
HOST = -1  # cudaCpuDeviceId

READ_MOSTLY, PREFERRED, PREFETCHED = "read mostly", "preferred location", "last prefetch"


class Hints:
    """Of one allocation. The newest that covers a byte counts for it."""

    def __init__(self) -> None:
        self._set: list[tuple[int, int, str, int]] = []  # from, to, what about, value; in order

    def set(self, begin: int, end: int, about: str, value: int) -> None:
        """``about`` one of the names above, or that of a device that accesses the range."""
        self._set = [
            old for old in self._set if old[2] != about or not (begin <= old[0] and old[1] <= end)
        ]
        self._set.append((begin, end, about, value))

    def of(self, begin: int, end: int, about: str, default: int) -> int | None:
        """The value of all bytes of a range; None where they differ."""
        found = set(self._values(begin, end, about, default))
        return found.pop() if len(found) == 1 else None

    def _values(self, begin: int, end: int, about: str, default: int) -> Iterator[int]:
        left = [(begin, end)]
        for first, last, which, value in reversed(self._set):
            if which != about:
                continue
            rest = []
            for a, b in left:
                if last <= a or b <= first:
                    rest.append((a, b))
                    continue
                yield value
                rest += [part for part in ((a, first), (last, b)) if part[0] < part[1]]
            left = rest
        if left:
            yield default


def accessed_by(device: int) -> str:
    return f"accessed by {device}"
