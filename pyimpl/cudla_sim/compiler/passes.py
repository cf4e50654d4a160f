"""Named steps of a compilation: ``cudla-sim compile --passes`` lists them, ``--dump-after`` looks
behind one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

State = TypeVar("State")

Watch = Callable[[str, Any], None]
"""Gets the name of a pass that is over, and what it has changed: a graph of the front or the
compilation of the back end; :func:`.dump.text` shows both."""


@dataclass(frozen=True, slots=True)
class Pass(Generic[State]):
    """One step; *summary* is one line for people."""

    name: str
    summary: str
    run: Callable[[State], object]


def run(passes: Iterable[Pass[State]], state: State, watch: Watch | None = None) -> None:
    """All of them, in order; *watch* looks at the state behind each."""
    for item in passes:
        item.run(state)
        if watch is not None:
            watch(item.name, state)
