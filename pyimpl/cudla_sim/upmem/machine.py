"""The UPMEM side of one simulated machine: which ranks are in use, and by whom."""

from __future__ import annotations

import threading
from time import monotonic

from ..core import process as processes
from ..core.live import Live
from ..core.process import Process
from . import surplus
from .errors import Status, error
from .memory import DPUS_PER_CI, DPUS_PER_RANK
from .profile import Profile, parse
from .rank import Rank, Selection
from .system import System

_PATIENCE_S = 0.02
"""How long a freed set's launch may go on before it is stopped."""

_LAST_JOB_S = 1.0
"""How long a machine that ends waits for functions of the program that its ranks still run."""

ALLOCATE_ALL = 0xFFFF_FFFF
"""DPU_ALLOCATE_ALL: everything that is free."""


class DpuSet(Selection):
    """What dpu_alloc gave: whole ranks, of which the last may have surplus DPUs disabled."""

    def __init__(self, machine: Machine, ranks: list[Rank], profile: Profile) -> None:
        super().__init__(ranks)
        self.machine = machine
        self.profile = profile

    def number_dpus(self) -> None:
        """Sets the index of each rank's first enabled DPU (``dpu_offset`` of the library)."""
        for rank, first, _ in self.each():
            rank.first_dpu = first

    def __repr__(self) -> str:
        return f"<set of {self.count} DPUs in {len(self.ranks)} ranks>"


class Machine(System):
    """Ranks 0 to ``count`` - 1. ``sets`` are those in use, oldest first."""

    def __init__(self, process: Process) -> None:
        super().__init__(process)
        self.sets: list[DpuSet] = Live([], "sets", "one is there from dpu_alloc to dpu_free")
        self._ranks: dict[int, Rank] = {}
        self._lock = threading.Lock()
        process.closers.append(self.close)

    @property
    def ranks(self) -> list[Rank]:
        """The ranks that are in use."""
        ranks = [r for s in self.sets for r in s.ranks]
        return Live(ranks, "ranks", "they are there from dpu_alloc to dpu_free")

    @property
    def free_ranks(self) -> list[int]:
        return [i for i in range(self.count) if i not in self._ranks and self.usable(i)]

    def allocate(self, dpus: int, *profiles: str) -> DpuSet:
        """Whole ranks for ``dpus`` DPUs, as few as will do unless the profile says
        dispatchOnAllRanks; surplus DPUs are disabled (``surplus``). ``profiles``: the strongest
        last.

        Raises DpuError: DPU_ERR_INVALID_PROFILE, DPU_ERR_ALLOCATION.
        """
        profile = parse(*profiles)
        per_rank = _usable(profile)
        with self._lock:
            if dpus == ALLOCATE_ALL:
                return self._take(len(self.free_ranks), profile)
            ranks = -(-dpus // per_rank)
            if profile.on_all_ranks:
                ranks = max(ranks, min(dpus, len(self.free_ranks)))
            found = self._take(ranks, profile, f"{dpus} DPUs")
            surplus.disable(found.ranks, ranks * per_rank - dpus)
            found.number_dpus()
        return found

    def allocate_ranks(self, ranks: int, *profiles: str, is_set: bool = True) -> DpuSet:
        """``ranks`` whole ranks; errors as ``allocate``. ``is_set`` False: a rank that is not a set
        (dpu_get_rank_of_type), whose scatter/gather keys the library does not read."""
        profile = parse(*profiles)
        with self._lock:
            wanted = len(self.free_ranks) if ranks == ALLOCATE_ALL else ranks
            return self._take(wanted, profile, is_set=is_set)

    def _take(self, count: int, profile: Profile, what: str = "", *, is_set: bool = True) -> DpuSet:
        store = self.store  # may fail, before anything is taken
        free = self.free_ranks
        if count < 1 or count > len(free):
            wanted = what or f"{count} ranks"
            raise error(
                Status.DPU_ERR_ALLOCATION,
                f"{wanted} asked for; {len(free)} of {self.count} ranks of {DPUS_PER_RANK} DPUs "
                "are free (the setting upmem_ranks says how many there are)",
            )
        if is_set:
            profile.check_scatter_gather()
        ranks = [Rank(self, i, profile) for i in free[:count]]
        store.prepare([rank.id for rank in ranks])
        for place, rank in enumerate(ranks):
            rank.place = place
            for dpu in rank.dpus:
                dpu.enabled = (
                    dpu.member < profile.dpus_per_ci and not profile.disabled_mask >> dpu.index & 1
                )
                dpu.handle = self.handles.add("DPU", dpu)
            rank.refresh()
            rank.handle = self.handles.add("rank", rank)
            self._ranks[rank.id] = rank
        made = DpuSet(self, ranks, profile)
        made.number_dpus()
        if profile.timing:
            self.timing = profile.timing
        self.sets.append(made)
        return made

    def free(self, dpus: DpuSet) -> None:
        """Ends a set. Launches that run are stopped, those that are queued left out: nobody can
        see their results. The next set of its ranks finds zeros."""
        for rank in dpus.ranks:
            rank.freed = True
        for rank in dpus.ranks:
            # A job that was just beginning may start its launch after it was cancelled.
            while rank.launches and not rank.drained(_PATIENCE_S):
                self.store.cancel([d.slot for d in rank.dpus])
            rank.wait_all()
        with self._lock:
            if dpus not in self.sets:
                return
            self.sets.remove(dpus)
            for rank in dpus.ranks:
                rank.close()
                for dpu in rank.dpus:
                    self.handles.remove(dpu.handle, "DPU", "dpu_free")
                self.handles.remove(rank.handle, "rank", "dpu_free")
                del self._ranks[rank.id]
            self.store.clear([rank.id for rank in dpus.ranks])

    def close(self) -> None:
        """Stops the workers; jobs that run end with an error, those that wait are left out."""
        with self._lock:
            ranks = self.ranks
            for rank in ranks:
                rank.abandon()
            self.sets.clear()
            self._ranks.clear()
        self.close_store()
        until = monotonic() + _LAST_JOB_S
        for rank in ranks:
            rank.drained(max(0.0, until - monotonic()))


def _usable(profile: Profile) -> int:
    """DPUs that a rank has under this profile."""
    usable = sum(
        1
        for index in range(DPUS_PER_RANK)
        if index % DPUS_PER_CI < profile.dpus_per_ci and not profile.disabled_mask >> index & 1
    )
    if not usable:
        raise error(Status.DPU_ERR_ALLOCATION, "profile: disabledMask leaves no DPU in a rank")
    return usable


def machine(process: Process | None = None) -> Machine:
    """The UPMEM machine of a process (the current one by default)."""
    return (process or processes.current()).family("upmem", Machine)
