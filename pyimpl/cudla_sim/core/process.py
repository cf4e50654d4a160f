"""Everything one simulated process owns, in one place, so that it can be dropped as a whole."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from . import forks
from .config import Config, from_environment
from .events import EventHub
from .faults import Faults
from .handles import HandleTable
from .hardware import Timeline, Times
from .memory import AddressSpace

if TYPE_CHECKING:
    from ..native import Native

T = TypeVar("T")


class Process:
    """Configuration, memory, handles, events and faults, the compiled functions, and the state of
    each API family.

    ``families`` holds what a model keeps per process (its devices, modules, contexts), created
    on first use by ``family``. ``closers`` run at ``close``, last added first;
    ``reports`` write what is to be written, at ``close`` or at the end of the system's process.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.memory = AddressSpace("this process's device memory")
        self.handles = HandleTable()
        self.events = EventHub(watching_changed)
        self.timed = config.general.time == "hardware"
        """Whether somebody wants hardware time."""
        self.timeline = Timeline(self.events)
        self.faults = Faults(config.general.fault, watching_changed)
        self.families: dict[str, Any] = {}
        self.closers: list[Callable[[], None]] = []
        self.reports: list[Callable[[], None]] = []
        self.lock = threading.RLock()
        self.pid = os.getpid()

    @cached_property
    def native(self) -> Native:
        """The compiled functions. Raises ImportError when the extension was not built."""
        from ..native import load  # needs numpy, which the first call of a program need not

        native = load()
        native.limit(self.config.general.isa)
        return native

    def family(self, name: str, create: Callable[[Process], T]) -> T:
        """The state of one API family; ``create`` makes it on first use."""
        state = self.families.get(name)
        if state is None:
            with self.lock:
                state = self.families.get(name)
                if state is None:
                    state = self.families[name] = create(self)
        return cast(T, state)

    @contextmanager
    def time(self) -> Iterator[Times]:
        """Has hardware time worked out inside the block, and collects it."""
        found, before = Times(), self.timed
        self.timed = True
        unsubscribe = self.events.subscribe(found)
        try:
            yield found
        finally:
            unsubscribe()
            self.timed = before

    def close(self) -> None:
        """Lets every family stop its workers."""
        self.report()
        while self.closers:
            self.closers.pop()()

    def report(self) -> None:
        """Writes the reports, once."""
        while self.reports:
            self.reports.pop()()


class _InForce:
    """The process in force. One attribute, so that replacing it is atomic. Slots: every call asks
    ``watched``, and the attribute of a class takes twice as long."""

    __slots__ = ("lock", "process", "watched", "watching")

    def __init__(self) -> None:
        self.process: Process | None = None
        self.watched = True
        """Whether calls must be looked at: there is no process yet, somebody subscribes to its
        events, or some calls are to fail. For code that runs with every call."""
        self.lock = threading.RLock()
        self.watching: tuple[Callable[[], None], ...] = ()


_Current = _InForce()


def on_watching_change(tell: Callable[[], None]) -> None:
    """``tell`` is called when somebody begins or ceases to watch calls, when faults change, and
    when another process is in force: for code that answers calls without passing the gate while
    nobody watches."""
    _Current.watching = (*_Current.watching, tell)


def _look() -> None:
    process = _Current.process
    _Current.watched = process is None or bool(process.events.subscribers) or process.faults.active


def watching_changed() -> None:
    _look()
    for tell in _Current.watching:
        tell()


def current() -> Process:
    """The simulated process; made from the environment on first use.

    Raises ConfigError when a ``CUDLA_SIM_`` variable cannot be understood.
    """
    process = _Current.process
    if process is None:
        with _Current.lock:
            process = _Current.process
            if process is None:
                process = _Current.process = Process(from_environment(os.environ))
                _look()
    return process


def write_reports() -> None:
    """The system's process ends: writes the reports of the process in force, if there is one."""
    if _Current.process is not None:
        _Current.process.report()


def replace(config: Config | None = None) -> Process:
    """Ends the current process and begins a clean one; old handles are stale, not unknown."""
    with _Current.lock:
        old = current()
        old.close()
        old.handles.drop_all("reset")
        fresh = Process(config or old.config)
        fresh.handles.inherit_freed(old.handles)
        fresh.events = old.events  # who watches, watches on
        fresh.timeline = Timeline(fresh.events)
        _Current.process = fresh
    watching_changed()
    return fresh


@forks.in_child
def _begin_child() -> None:
    """In the child: the parent's engines and their threads do not exist here.

    Locks that other threads of the parent held are not looked at again.
    """
    _Current.lock = threading.RLock()
    old = _Current.process
    if old is None:
        return
    fresh = Process(old.config)
    handles = old.handles
    handles._lock = threading.Lock()
    handles.drop_all("fork() (engine state does not survive it; open the device again)")
    fresh.handles.inherit_freed(handles)
    fresh.events = old.events
    fresh.events.unlock()
    _Current.process = fresh
    _look()
