"""The programs of a pool, each with workers of its own: the last used stay ready."""

from __future__ import annotations

from ...workers.image import Image
from .executable import executable
from .worker import Worker

_IDLE = 4
"""Programs whose workers stay alive though they do not run; the longest idle go first."""


class Program:
    """One program and its workers, which execute ``image``; ``users``: launches that hold it."""

    def __init__(self, path: str, contents: bytes) -> None:
        self.contents = contents
        self.image = Image(path or "dpu", executable(contents))
        self.idle: list[Worker] = []
        self.busy = 0
        self.users = 0
        self.warned: set[tuple[int, int]] = set()

    def discard(self) -> None:
        """Ends its idle workers."""
        for worker in self.idle:
            worker.kill()
        self.idle.clear()
        self.image.close()


class Programs:
    """By path and contents, the least recently used first. Each call holds the pool's lock."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], Program] = {}

    def take(self, path: str, contents: bytes) -> Program:
        """For one more user."""
        key = (path, hash(contents))
        program = self._known.pop(key, None) or Program(path, contents)
        self._known[key] = program  # now the most recently used
        program.users += 1
        unused = [k for k, p in self._known.items() if not p.users]
        for old in unused[: max(0, len(self._known) - _IDLE)]:
            self._known.pop(old).discard()
        return program

    @property
    def idle(self) -> list[Worker]:
        return [worker for program in self._known.values() for worker in program.idle]

    def kill_idle(self) -> None:
        for program in self._known.values():
            for worker in program.idle:
                worker.kill()
            program.idle.clear()

    def close(self) -> None:
        for program in self._known.values():
            program.image.close()
        self._known.clear()
