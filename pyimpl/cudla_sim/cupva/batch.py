"""A submission: commands, and what becomes of them."""

from __future__ import annotations

from ..core.fence import Fence
from .commands import MAX_COMMANDS, Command, FencePlace, RequestFences, WaitOnFences
from .errors import invalid
from .statuses import Status
from .sync import SyncObj


class Batch:
    """One submission. Nothing outside of it changes before ``begin``."""

    def __init__(self, commands: list[Command], in_order: bool) -> None:
        if not commands:
            raise invalid("a submission without commands")
        if len(commands) > MAX_COMMANDS:
            raise invalid(f"{len(commands)} commands in a submission; at most {MAX_COMMANDS}")
        requested: list[FencePlace] = []
        for command in commands:
            command.check()
            if isinstance(command, RequestFences):
                requested += command.fences
            elif isinstance(command, WaitOnFences):
                before = set(requested)
                for place in command.fences:
                    if place not in before:
                        place.fence()
        self.commands = commands
        self.in_order = in_order
        self.statuses = [Status() for _ in commands]
        self.signals: dict[int, list[tuple[SyncObj, int]]] = {}
        self.waits: dict[int, list[Fence]] = {}
        self.begun = False

    def begin(self) -> None:
        """Promises the fences that it requests, in order; a wait may be for one of them."""
        self.begun = True
        for number, command in enumerate(self.commands):
            if isinstance(command, RequestFences):
                self.signals[number] = command.reserve()
            elif isinstance(command, WaitOnFences):
                self.waits[number] = [place.fence() for place in command.fences]
