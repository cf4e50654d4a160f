"""Packets of gdb's remote protocol on a socket: ``$payload#checksum``, acknowledged with ``+``."""

from __future__ import annotations

import socket

INTERRUPT = b"\x03"
"""What gdb sends, outside of packets, to stop a program that runs."""
MOST = 0x4000
"""Bytes of a packet."""
_ESCAPED = b"#$}*"
_CHUNK = 4096


class Closed(Exception):
    """The debugger has gone."""


class Connection:
    """``acknowledged``: both sides say that they got a packet, until gdb does without."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._data = bytearray()
        self.acknowledged = True

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def receive(self) -> bytes:
        """The next packet's payload, or INTERRUPT. Raises Closed."""
        while True:
            found = self._take()
            if found is not None:
                return found
            self._read()

    def interrupted(self) -> bool:
        """To be asked when there is something to read: whether it was INTERRUPT. Raises Closed."""
        self._read()
        return self.came_with_it()

    def came_with_it(self) -> bool:
        """Whether INTERRUPT was read already, behind the packet that lets the program run."""
        at = self._data.find(INTERRUPT)
        if at < 0:
            return False
        del self._data[: at + 1]
        return True

    def _read(self) -> None:
        try:
            data = self._socket.recv(_CHUNK)
        except OSError:
            data = b""
        if not data:
            raise Closed
        self._data += data

    def _take(self) -> bytes | None:
        data = self._data
        while data and data[:1] != b"$":
            first = bytes(data[:1])
            del data[:1]
            if first == INTERRUPT:
                return first
        end = data.find(b"#")
        if end < 0 or len(data) < end + 3:
            if len(data) > 2 * MOST:
                raise Closed
            return None
        payload, said = bytes(data[1:end]), bytes(data[end + 1 : end + 3])
        del data[: end + 3]
        if not self.acknowledged:
            return payload
        good = said.lower() == b"%02x" % (sum(payload) & 0xFF)
        self._write(b"+" if good else b"-")
        return payload if good else self._take()

    def send(self, text: str) -> None:
        """Raises Closed."""
        payload = bytearray()
        for byte in text.encode():
            payload += bytes((0x7D, byte ^ 0x20)) if byte in _ESCAPED else bytes((byte,))
        self._write(b"$%b#%02x" % (bytes(payload), sum(payload) & 0xFF))

    def _write(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError:
            raise Closed from None
