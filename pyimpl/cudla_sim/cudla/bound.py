"""What a task's pointers stand for, kept for tasks that come again.

A program submits the same few tasks for every frame. As long as no memory comes or goes and the
module stays, what was found for one of them is what would be found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from ..core.memory import AddressSpace
    from .diagnostics import DiagnosticsModule
    from .memory import Registered
    from .module import Module

    AnyModule: TypeAlias = Module | DiagnosticsModule

_MOST = 256


class Bound(NamedTuple):
    """A module with the engine addresses of its tensors. ``held`` is all that a task must not lose
    before it ended: the module, and the registrations behind the tensors."""

    module: AnyModule
    inputs: Sequence[int]
    outputs: Sequence[int]
    statistics: Sequence[Registered]
    held: Sequence[Any]


class Known:
    """The bound tasks of a device handle; ``registered`` is what it may use, ``program`` what
    that lies in."""

    def __init__(self, registered: AddressSpace, program: AddressSpace) -> None:
        self._registered, self._program = registered, program
        self._found: tuple[object, dict[Any, Bound]] = None, {}

    @property
    def signature(self) -> object:
        """Equal as long as nothing is registered, unregistered, or freed behind a registration."""
        return self._registered.signature, self._program.signature

    def of(self, key: object) -> Bound | None:
        """What was kept for a request with this key."""
        at, found = self._found
        return None if at != self.signature else found.get(key)

    def keep(self, key: object, bound: Bound, signature: object) -> None:
        """``signature``: what it was when the search began."""
        at, found = self._found
        if at != signature or len(found) == _MOST:
            found = {}
            self._found = signature, found
        found[key] = bound

    def forget(self) -> None:
        """A module goes."""
        self._found = None, {}
