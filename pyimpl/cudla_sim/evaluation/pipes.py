"""Pickled messages over a pair of pipes between an evaluation and its worker processes."""

from __future__ import annotations

import pickle
import struct
from typing import IO, Any

_LENGTH = struct.Struct("<Q")


def send(pipe: IO[bytes], message: Any) -> None:
    """Raises OSError when the other side is gone."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Raises EOFError when the other side is gone."""
    head = pipe.read(_LENGTH.size)
    if len(head) != _LENGTH.size:
        raise EOFError
    (size,) = _LENGTH.unpack(head)
    data = pipe.read(size)
    if len(data) != size:
        raise EOFError
    return pickle.loads(data)
