"""The memories of the DPUs on the workers of a Dask cluster: ``store.Store`` for that.

Rank r lives on worker r modulo their number, in the order of their addresses. Bytes go straight to
the workers, to all of them at once, in pieces of at most 64 MiB, four for each worker under way.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...cluster.connection import ClusterError, connect, workers
from ...constants.dpu_protocol import FaultKind
from ...core.events import warn
from ...core.pages import accessible
from ...native.dpu_memory import Addresses, DpuCopies, Numbers, Place, SgResult, Slots
from ..errors import DpuError, Status, error
from ..memory import STRIDE, MachineMemory
from ..store import neighbours
from ..workers.checks import Checks
from ..workers.outcome import Launch, Outcome
from .host import UnknownImage
from .machine import Call, RemoteMachine
from .small import SMALL, Bytes, Collected, Window, Writes

_PIECE = 64 << 20
_UNDER_WAY = 4


class ClusterStore:
    """Raises DpuError(DPU_ERR_ALLOCATION): no cluster, no workers, or they cannot hold ranks."""

    base = 0

    def __init__(
        self,
        address: str,
        ranks: int,
        per_rank: int,
        pool_size: int | None,
        copies: DpuCopies,
        limit_s: float,
    ) -> None:
        self._per_rank = per_rank
        self._copies = copies
        self._count = ranks * per_rank
        self._shadow: MachineMemory | None = None
        self._lock = threading.Lock()
        self._closed = False
        try:
            self._client = connect(address, direct=True)
            found = workers(self._client)
        except ClusterError as problem:
            warn(f"upmem_cluster: {problem}")
            raise error(Status.DPU_ERR_ALLOCATION, f"upmem_cluster: {problem}") from None
        number = len(found)
        self.machines = [
            RemoteMachine(
                self._client,
                where,
                name,
                list(range(i, ranks, number)),
                per_rank,
                pool_size,
                limit_s,
            )
            for i, (where, name) in enumerate(found.items())
            if i < ranks
        ]
        for machine in self.machines:
            machine.connect()
        self._collected = [Collected() for _ in range(ranks)]
        self._window = Window()

    # ---- who has what ----

    def _of(self, rank: int) -> RemoteMachine:
        return self.machines[rank % len(self.machines)]

    def _there(self, slot: int) -> int:
        """The number of a slot on its machine."""
        rank, dpu = divmod(slot, self._per_rank)
        return rank // len(self.machines) * self._per_rank + dpu

    def _split(self, slots: Sequence[int]) -> dict[RemoteMachine, list[int]]:
        """Positions in ``slots``, by machine."""
        parts: dict[RemoteMachine, list[int]] = {}
        for position, slot in enumerate(slots):
            parts.setdefault(self._of(slot // self._per_rank), []).append(position)
        return parts

    def _pieces(
        self, slots: Slots, wanted: NDArray[np.bool_], size: int
    ) -> Iterator[tuple[RemoteMachine, list[int], Slots]]:
        """Positions and slots of what goes in one message, machines in turn."""
        step = max(_PIECE // max(size, 1), 1)
        queues = [
            deque((machine, part[i : i + step]) for i in range(0, len(part), step))
            for machine, all_of_it in self._split(slots.tolist()).items()
            if (part := [p for p in all_of_it if wanted[p]])
        ]
        while queues:
            for queue in queues:
                machine, part = queue.popleft()
                there = np.array([self._there(int(slots[p])) for p in part], np.uint32)
                yield machine, part, there
            queues = [queue for queue in queues if queue]

    def _before(self, slots: Iterable[int], *, ends: bool = True) -> list[Writes]:
        """The collected writes of the ranks of slots (of the machine), which go with the next
        operation on them."""
        ranks = dict.fromkeys(slot // self._per_rank for slot in slots)
        taken = (self._collected[rank].take(ends=ends) for rank in ranks)
        return [writes for writes in taken if writes is not None]

    # ---- copies ----

    def transfer(self, place: Place, slots: Numbers, hosts: Numbers) -> int:
        addresses = np.asarray(hosts, np.uint64)
        bad = _first_bad(addresses, place.size, write=not place.to_dpu)
        if bad >= 0:
            return bad
        move = self._write if place.to_dpu else self._read
        move(place, np.asarray(slots, np.uint32), addresses)
        return -1

    def _write(self, place: Place, slots: Slots, hosts: Addresses) -> None:
        given = hosts[hosts != 0]
        same = bool(len(given)) and bool((given == given[0]).all())
        once = _gathered(given[:1], place.size) if same else None

        small = place.size * len(given) <= SMALL
        self._window.drop()

        def begin(machine: RemoteMachine, part: list[int], there: Slots) -> Call | None:
            data = _gathered(hosts[part], place.size) if once is None else once
            if small and self._postpone(place, machine, slots[part], there, data):
                return None
            before = self._before(slots[part].tolist(), ends=not small)
            return machine.call("write", before, place.offset, place.size, there, data)

        # the same bytes for all go once to each machine
        size = 0 if same else place.size
        self._all(self._pieces(slots, hosts != 0, size), begin, lambda part, answer: None)

    def _postpone(
        self, place: Place, machine: RemoteMachine, slots: Slots, there: Slots, data: Bytes
    ) -> bool:
        """Collects a small write, unless it should be sent: a machine that is lost is told now,
        and so is what goes wrong with the first ones of a row."""
        ranks = slots // self._per_rank
        of = [(self._collected[rank], ranks == rank) for rank in np.unique(ranks).tolist()]
        counted = [each.postpones() for each, _ in of]
        if not all(counted) or machine.lost:
            return False
        for each, mine in of:
            part = data
            if len(data) > place.size and not mine.all():
                part = data.reshape(len(slots), place.size)[mine].reshape(-1)
            each.add(place.offset, place.size, there[mine], part)
        return True

    def _read(self, place: Place, slots: Slots, hosts: Addresses) -> None:
        wanted = hosts != 0
        if place.size * int(wanted.sum()) <= SMALL and not any(m.lost for m in self.machines):
            self._read_small(place, slots[wanted], hosts[wanted])
            return
        self._fetch(place.offset, place.size, slots, wanted, hosts)

    def _read_small(self, place: Place, slots: Slots, hosts: Addresses) -> None:
        """With what lies behind it, when it is one of a row."""
        size, window = place.size, self._window
        found = window.find(slots, place.offset, size)
        if found is None:
            fetched = window.size(slots, place.offset, size)
            data = np.empty((len(slots), fetched), np.uint8)
            steps = np.arange(len(slots), dtype=np.uint64) * np.uint64(fetched)
            window.drop()
            try:
                everything = np.ones(len(slots), bool)
                targets = steps + np.uint64(data.ctypes.data)
                self._fetch(place.offset, fetched, slots, everything, targets)
            except DpuError:
                self._fetch(place.offset, size, slots, everything, hosts)  # what is not lost
                raise
            window.keep(slots, place.offset, data)
            found = data[:, :size]
        for address, row in zip(hosts.tolist(), np.ascontiguousarray(found), strict=True):
            ctypes.memmove(address, row.ctypes.data, size)

    def _fetch(
        self, offset: int, size: int, slots: Slots, wanted: NDArray[np.bool_], hosts: Addresses
    ) -> None:
        def begin(machine: RemoteMachine, part: list[int], there: Slots) -> Call:
            return machine.call("read", self._before(slots[part].tolist()), offset, size, there)

        def end(part: list[int], data: NDArray[np.uint8]) -> None:
            source = np.ascontiguousarray(data).ctypes.data
            for i, position in enumerate(part):
                ctypes.memmove(int(hosts[position]), source + i * size, size)

        self._all(self._pieces(slots, wanted, size), begin, end)

    def _all(
        self,
        pieces: Iterator[tuple[RemoteMachine, list[int], Slots]],
        begin: Callable[[RemoteMachine, list[int], Slots], Call | None],
        end: Callable[[list[int], Any], None],
    ) -> None:
        """All pieces, whatever becomes of some; then the first error. ``begin`` gives None for
        what is done already."""
        limit = _UNDER_WAY * len(self.machines)
        under_way: deque[tuple[list[int], Call]] = deque()
        problems: list[DpuError] = []

        def finish() -> None:
            part, call = under_way.popleft()
            try:
                end(part, call.result())
            except DpuError as problem:
                problems.append(problem)

        for machine, part, there in pieces:
            try:
                call = begin(machine, part, there)
                if call is not None:
                    under_way.append((part, call))
            except DpuError as problem:
                problems.append(problem)
            if len(under_way) >= limit:
                finish()
        while under_way:
            finish()
        if problems:
            raise problems[0]

    def scatter_gather(
        self,
        place: Place,
        slots: Slots,
        indexes: Slots,
        function: int,
        arguments: int,
        max_blocks: int,
        check_length: bool,
        most_compared: int = 0,
        overlap_fails: bool = False,
        token: int = 0,
    ) -> SgResult:
        """Blocks are collected in, and handed out from, memory of this process that is laid out
        as the DPUs' is."""
        with self._lock:
            if self._shadow is None:
                self._shadow = MachineMemory(self._count)
                self._shadow.reserve(self._count)
            shadow = self._shadow
        here = place._replace(base=shadow.base)
        starts = shadow.base + slots.astype(np.uint64) * np.uint64(STRIDE) + np.uint64(place.offset)
        try:
            if not place.to_dpu:
                self._read(place, slots, starts)
            found = self._copies.scatter_gather(
                here,
                slots,
                indexes,
                function,
                arguments,
                max_blocks,
                check_length,
                most_compared,
                overlap_fails,
                token,
            )
            if place.to_dpu and not found.problem:
                self._write(place, slots, starts)
        finally:
            for run in neighbours(slots.tolist()):
                shadow.cleared(shadow.clear(self._copies, run[0], len(run)))
        return found

    def read(self, slot: int, offset: int, size: int) -> NDArray[np.uint8]:
        machine = self._of(slot // self._per_rank)
        there = np.array([self._there(slot)], np.uint32)
        before = self._before([slot])
        data: NDArray[np.uint8] = machine.call("read", before, offset, size, there).result()
        data.flags.writeable = False
        return data

    # ---- programs ----

    def launch(
        self, path: str, image: bytes, slots: Sequence[int], checks: Checks, timed: bool
    ) -> Launch:
        """DPUs whose machine is lost end in fault, and the fault names it."""
        digest = hashlib.sha256(image).digest()
        whole = Launch([], 0.0)
        begun: list[tuple[RemoteMachine, list[int], Call | DpuError]] = []

        self._window.drop()
        before: dict[RemoteMachine, list[Writes]] = {}

        def begin(machine: RemoteMachine, there: list[int], contents: bytes | None) -> Call:
            return machine.call(
                "launch", before[machine], path, digest, contents, there, checks, timed
            )

        for machine, part in self._split(slots).items():
            there = [self._there(slots[p]) for p in part]
            before[machine] = self._before([slots[p] for p in part])
            try:
                contents = None if digest in machine.images else image
                begun.append((machine, part, begin(machine, there, contents)))
            except DpuError as problem:
                begun.append((machine, part, problem))
        for machine, part, call in begun:
            by_there = {self._there(slots[p]): slots[p] for p in part}
            try:
                if isinstance(call, DpuError):
                    raise call
                try:
                    ended: Launch = call.result()
                except UnknownImage:
                    ended = begin(machine, list(by_there), image).result()
                machine.images.add(digest)
            except DpuError as problem:
                why = machine.why() if machine.lost else problem.explanation
                whole.faulted += [_lost(slots[p], why) for p in part]
                continue
            whole.seconds = max(whole.seconds, ended.seconds)
            whole.faulted += [replace(o, number=by_there[o.number]) for o in ended.faulted]
            whole.times.update((by_there[slot], times) for slot, times in ended.times.items())
        order = {slot: position for position, slot in enumerate(slots)}
        whole.faulted.sort(key=lambda outcome: order[outcome.number])
        return whole

    def cancel(self, slots: Sequence[int]) -> None:
        self._ignoring_lost(
            (machine, "cancel", [self._there(slots[p]) for p in part])
            for machine, part in self._split(slots).items()
        )

    def together(self, slots: Sequence[int]) -> bool:
        """Raises DpuError: launches on other machines are answered when they have ended."""
        raise error(
            Status.DPU_ERR_INTERNAL,
            "UnsupportedOperation: DPUs on other machines (upmem_cluster) are not reached while "
            "they run; WRAM FIFOs and DPU_XFER_PARALLEL need DPUs on this machine",
        )

    # ---- ranks ----

    def prepare(self, ranks: Sequence[int]) -> None:
        """Memory reads as zero since the ranks were freed."""

    def clear(self, ranks: Sequence[int]) -> None:
        self._window.drop()
        for rank in ranks:
            self._collected[rank].take(ends=True)  # nobody will see them
        self._ignoring_lost(
            (self._of(rank), "clear", self._there(rank * self._per_rank), self._per_rank)
            for rank in ranks
        )

    def _ignoring_lost(self, calls: Iterable[tuple[Any, ...]]) -> None:
        """(machine, method, arguments), all at once."""
        begun = []
        for machine, method, *arguments in calls:
            with contextlib.suppress(DpuError):
                begun.append((machine, machine.call(method, *arguments)))
        for machine, call in begun:
            try:
                call.result()
            except DpuError:
                if not machine.lost:
                    raise

    def usable(self, rank: int) -> bool:
        return not self._of(rank).lost

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for machine in self.machines:
            machine.close()
        self._client.close()
        if self._shadow is not None:
            self._shadow.close()


def _first_bad(hosts: Addresses, size: int, *, write: bool) -> int:
    """The first address that is not memory of this process; -1 when all are, or none is given."""
    known: set[int] = set()
    for position, address in enumerate(hosts.tolist()):
        if address and address not in known:
            if not accessible(address, size, write=write):
                return position
            known.add(address)
    return -1


def _gathered(hosts: Addresses, size: int) -> NDArray[np.uint8]:
    """The bytes behind addresses, one after the other."""
    made = np.empty(len(hosts) * size, np.uint8)
    target = made.ctypes.data
    for i, address in enumerate(hosts.tolist()):
        ctypes.memmove(target + i * size, address, size)
    return made


def _lost(slot: int, why: str) -> Outcome:
    return Outcome(slot, "fault", FaultKind.WORKER, text=why)
