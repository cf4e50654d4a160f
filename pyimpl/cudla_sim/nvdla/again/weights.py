"""What was made of convolution weights, for the next layer that has the same ones."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..hw.units.conv.weights import Entry


class Lasting(NamedTuple):
    """Weights as long as the bytes at a host address are those that they were made from; None:
    as long as they are those that a layer left in the convolution buffer."""

    host: int | None
    entry: weakref.ref[Entry]


class WeightCache:
    """Unpacked weights of recent layers, keyed by content, for all cores of a machine.

    An entry is used only if shape and every byte of weight memory are equal to what it was made
    from, so stale entries cannot be seen, and a network that is loaded again finds its own. Holds
    at most *limit* bytes.
    """

    _SAMPLES = 64

    def __init__(self, limit: int = 384 << 20) -> None:
        self.limit = limit
        self.used = 0
        self._entries: OrderedDict[Any, Entry] = OrderedDict()
        self._lock = threading.Lock()

    def _place(self, key: Any, raw: NDArray[np.uint8]) -> Any:
        """Where an entry for these bytes is kept. A few bytes tell most contents apart."""
        step = max(1, raw.size // self._SAMPLES)
        return key, raw.size, raw[::step].tobytes(), raw[-self._SAMPLES :].tobytes()

    def find(self, key: Any, raw: NDArray[np.uint8]) -> Entry | None:
        """Return what is stored for these bytes, or None."""
        place = self._place(key, raw)
        with self._lock:
            entry = self._entries.get(place)
            if entry is not None:
                self._entries.move_to_end(place)
        if entry is None or not np.array_equal(entry.raw, raw):
            return None
        return entry

    def store(self, key: Any, raw: NDArray[np.uint8], value: Any, size: int) -> Entry:
        """Keep *value* (of *size* bytes), made from *raw*; return the entry."""
        place, entry = self._place(key, raw), Entry(raw.copy(), value, size + raw.nbytes)
        with self._lock:
            old = self._entries.pop(place, None)
            if old is not None:
                self.used -= old.size
            if entry.size > self.limit:
                return entry
            self._entries[place] = entry
            self.used += entry.size
            while self.used > self.limit:
                _, dropped = self._entries.popitem(last=False)
                self.used -= dropped.size
        return entry
