"""Tells ``cudla-sim dpu debug`` of a worker before it gets work."""

from __future__ import annotations

import json
import socket

from ...core.text import tell


def announce(where: str, pid: int, program: str, native: bool) -> None:
    """Waits until the debugger is ready. *where*: its socket."""
    with socket.socket(socket.AF_UNIX) as end:
        try:
            end.connect(where)
            end.sendall(json.dumps({"pid": pid, "program": program, "native": native}).encode())
            end.shutdown(socket.SHUT_WR)
            end.recv(1)
        except OSError as error:
            tell(f"cudla-sim: no debugger at {where}: {error.strerror}")
