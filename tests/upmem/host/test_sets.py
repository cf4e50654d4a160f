"""Allocating ranks, walking over them, profiles, freeing (facts of SDK 2025.1)."""

from __future__ import annotations

import ctypes
import gc
import weakref
from ctypes import byref

import numpy as np
import pytest

import cudla_sim
from cudla_sim.capi.prototypes import dpu_set_t

from .hosting import Host, pointer, status


@pytest.mark.parametrize("dpus", [1, 8, 10, 63, 64, 65, 130, 512])
def test_a_set_counts_the_dpus_that_were_asked_for(host: Host, dpus: int) -> None:
    with host.alloc(dpus) as made:
        assert host.count(made) == len(host.dpus(made)) == dpus
        ranks = host.ranks(made)
        assert len(ranks) == -(-dpus // 64)
        assert sum(host.count(r) for r in ranks) == dpus


def test_surplus_dpus_are_disabled_from_the_highest_member_down(host: Host) -> None:
    with host.alloc(10):
        rank = cudla_sim.upmem.ranks[0]
        # Ten DPUs: member 0 of all eight slices, member 1 of slices 0 and 1.
        assert {(d.slice, d.member) for d in rank.enabled} == {
            *((s, 0) for s in range(8)),
            (0, 1),
            (1, 1),
        }
        index = next(d for d in rank.dpus if not d.enabled)
        api = host.api
        handle = api.dpu_get(ctypes.c_void_p(rank.handle), index.slice, index.member)
        assert not api.dpu_is_enabled(handle)
        one = api.dpu_set_from_dpu(handle)
        assert api.dpu_launch(one, 1) == status("DPU_DISABLED")


@pytest.mark.parametrize(
    ("dpus", "profile", "expected"),
    [
        # Lines of eight go in turn from the ranks with most DPUs, the last rank first.
        (100, "", [52, 48]),
        (130, "", [48, 42, 40]),
        (65, "", [33, 32]),
        # Lines that lack DPUs already come first: of member 0 one has no DPU here.
        (120, "disabledMask=1", [63, 57]),
        (5, "dispatchOnAllRanks=true", [1, 1, 1, 1, 1]),
        (2559, "dispatchOnAllRanks=true", [*[64] * 39, 63]),
        # The last line of a rank goes but for one DPU.
        (80, "dispatchOnAllRanks=true", [*[8] * 5, 6, *[1] * 34]),
    ],
)
def test_ranks_stay_about_equal(host: Host, dpus: int, profile: str, expected: list[int]) -> None:
    with host.alloc(dpus, profile) as made:
        assert [host.count(rank) for rank in host.ranks(made)] == expected


def test_ids_name_rank_slice_and_member(host: Host) -> None:
    with host.alloc(130) as made:
        api = host.api
        for one in host.dpus(made):
            dpu = api.dpu_from_set(one)
            rank = api.dpu_get_rank(dpu)
            expected = (
                api.dpu_get_rank_id(rank) << 16
                | api.dpu_get_slice_id(dpu) << 8
                | api.dpu_get_member_id(dpu)
            )
            assert api.dpu_get_id(dpu) == expected


def test_iterating_a_rank_counts_from_zero(host: Host) -> None:
    with host.alloc(128) as made:
        first, second = host.ranks(made)
        assert len(host.dpus(second)) == 64  # Host.dpus checks the count
        handles = {d.dpu for d in host.dpus(first)} | {d.dpu for d in host.dpus(second)}
        assert handles == {d.dpu for d in host.dpus(made)}


def test_iterating_one_dpu_gives_it_once(host: Host) -> None:
    with host.alloc(3) as made:
        one = host.dpus(made)[1]
        again = host.dpus(one)
        assert [a.dpu for a in again] == [one.dpu]
        assert host.count(one) == 1


def test_ranks_are_shared_out_and_come_back(host: Host, sim: object) -> None:
    cudla_sim.configure(upmem_ranks=3)
    api = host.api
    with host.alloc(100) as first:
        rest = dpu_set_t()
        host.ok(api.dpu_alloc(0xFFFF_FFFF, None, byref(rest)))
        assert host.count(rest) == 64
        third = dpu_set_t()
        assert api.dpu_alloc(1, None, byref(third)) == status("ALLOCATION")
        assert "ranks" in cudla_sim.last_explanation()
        assert api.dpu_alloc(0xFFFF_FFFF, None, byref(third)) == status("ALLOCATION")
        host.ok(api.dpu_free(rest))
        host.ok(api.dpu_alloc_ranks(1, None, byref(third)))
        host.ok(api.dpu_free(third))
        assert host.count(first) == 100


def test_only_what_was_allocated_can_be_freed(host: Host) -> None:
    api = host.api
    with host.alloc(128) as made:
        for part in (host.ranks(made)[0], host.dpus(made)[0]):
            assert api.dpu_free(part) == status("INVALID_DPU_SET")
        assert host.count(made) == 128
    assert api.dpu_free(made) == status("INVALID_DPU_SET")
    assert "freed" in cudla_sim.last_explanation()
    number = ctypes.c_uint32(7)
    assert api.dpu_get_nr_dpus(made, byref(number)) == status("INVALID_DPU_SET")
    assert number.value == 7
    assert api.dpu_free(dpu_set_t()) == status("INVALID_DPU_SET")
    garbage = dpu_set_t()
    garbage.kind = 5
    assert api.dpu_free(garbage) == status("INVALID_DPU_SET")


def test_dpus_of_a_freed_set_are_stale(host: Host) -> None:
    with host.alloc(2) as made:
        one = host.dpus(made)[0]
    assert host.api.dpu_launch(one, 1) == status("INVALID_DPU_SET")
    assert "dpu_free" in cudla_sim.last_explanation()


@pytest.mark.parametrize(
    "profile",
    [
        "backend=simulator",
        "backend=hw",
        "",
        "sgXferEnable=true, sgXferMaxBlocksPerDpu=3096",
        "cycleAccurate=true,nrJobsPerRank=64",
        "nrJobPerRank=8",
        "dispatchOnAllRanks=true",
        "regionMode=safe",
        "nrThreadsPerRank=1",
        "chipId=66",
        "chipId=vD_asic8",
    ],
)
def test_profiles_of_public_programs_are_taken(host: Host, profile: str) -> None:
    with host.alloc(1, profile) as made:
        assert host.count(made) == 1


@pytest.mark.parametrize(
    "profile",
    [
        "backend",
        "backend=gpu",
        "backend=hw ",
        "nrJobsPerRank=many",
        "nrJobsPerRank=",
        "nrJobsPerRank= 4",
        "nrJobsPerRank=4 ",
        "nrJobsPerRank=1_6",
        "nrJobsPerRank=08",
        "nrJobsPerRank=4294967296",
        "cmdsBufferSize=abc",
        "nrThreadsPerRank=9",
        "nrDpusPerCi=9",
        "nrJobsPerRank=4,",
        "nrJobsPerRank=4,,backend=hw",
        ",backend=hw",
        "backend=hw, ",
        "backend=hw&",
        "sgXferMaxBlocksPerDpu=4",
        "sgXferEnable=false,sgXferMaxBlocksPerDpu=4",
        "sgXferEnable=0,sgXferMaxBlocksPerDpu=4",
    ],
)
def test_broken_profiles_are_refused(host: Host, profile: str) -> None:
    made = dpu_set_t()
    assert host.api.dpu_alloc(1, profile.encode(), byref(made)) == status("INVALID_PROFILE")
    assert "profile" in cudla_sim.last_explanation()


def test_an_unknown_way_of_profiling_is_refused(host: Host) -> None:
    made = dpu_set_t()
    refused = host.api.dpu_alloc(1, b"enableProfiling=bad", byref(made))
    assert refused == status("INTERNAL")
    assert "enableProfiling=bad" in cudla_sim.last_explanation()
    assert "mcount" in cudla_sim.last_explanation()


@pytest.mark.parametrize("way", ["nop", "mcount", "statistics", "samples", "sections"])
def test_ways_of_profiling_are_taken(
    host: Host, way: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """One word asks for nothing; the others say once that they do nothing, to who asks."""
    for explain in (False, True, True):
        cudla_sim.configure(explain=explain)
        with host.alloc(1, f"enableProfiling={way}"):
            pass
        said = [line for line in capfd.readouterr().err.splitlines() if way in line]
        if explain and way != "nop":
            assert f"enableProfiling={way} has no effect" in said.pop()
            way = "nop"
        assert not said


@pytest.mark.parametrize(
    ("profile", "attribute", "value"),
    [
        ("", "nr_jobs_per_rank", 16),
        ("nrJobsPerRank=010", "nr_jobs_per_rank", 8),
        ("nrJobsPerRank=0x10", "nr_jobs_per_rank", 16),
        ("nrJobsPerRank=+5", "nr_jobs_per_rank", 5),
        ("nrJobsPerRank=4&chipId=66", "chip_id", 66),
        ("chipId=66,nrJobsPerRank=4&nrThreadsPerRank=2", "nr_threads_per_rank", 2),
        ("nrJobsPerRank=4, nrJobsPerRank=5", "nr_jobs_per_rank", 5),
        (" nrJobsPerRank=4", "nr_jobs_per_rank", 4),
        ("nrJobsPerRank =4", "nr_jobs_per_rank", 16),
        ("nrDpusPerCI=2", "dpus_per_ci", 8),
        ("nrDpusPerCi=2", "dpus_per_ci", 2),
        ("nrJobPerRank=8", "nr_jobs_per_rank", 16),
        ("=1", "nr_jobs_per_rank", 16),
        ("sgXferEnable=perhaps", "sg_enable", True),
        ("sgXferEnable=", "sg_enable", True),
        ("sgXferEnable=FALSE", "sg_enable", False),
        ("sgXferEnable=0", "sg_enable", False),
        ("sgXferMaxBlocksPerDpu=0", "sg_max_blocks", 0),
        ("cmdsBufferSize=-1,dispatchOnAllRanks=no", "on_all_ranks", True),
    ],
)
def test_profile_properties_are_read_as_the_library_reads_them(
    host: Host, profile: str, attribute: str, value: object
) -> None:
    with host.alloc(1, profile):
        assert getattr(cudla_sim.upmem.ranks[0].profile, attribute) == value


def test_blocks_without_scatter_gather_are_refused_after_the_allocation(host: Host) -> None:
    """By functions that give sets; a single rank does not read these keys."""
    profile = b"sgXferMaxBlocksPerDpu=4"
    made, rank = dpu_set_t(), ctypes.c_void_p()
    invalid = status("INVALID_PROFILE")
    assert host.api.dpu_alloc(1, profile, byref(made)) == invalid
    assert "sgXferEnable=true" in cudla_sim.last_explanation()
    assert host.api.dpu_alloc_ranks(1, profile, byref(made)) == invalid
    assert host.api.dpu_alloc(0xFFFF_FFFF, profile, byref(made)) == invalid
    assert not cudla_sim.upmem.sets
    assert host.api.dpu_alloc(1_000_000, profile, byref(made)) == status("ALLOCATION")
    host.ok(host.api.dpu_get_rank_of_type(profile, byref(rank)))
    host.ok(host.api.dpu_free_rank(rank))


def test_an_unknown_key_is_reported_only_to_who_asks(
    host: Host, capfd: pytest.CaptureFixture[str]
) -> None:
    for explain in (False, True):
        cudla_sim.configure(explain=explain)
        with host.alloc(1, "magic=42"):
            pass
        said = capfd.readouterr().err
        assert ("unused profile property: magic (= 42)" in said) is explain
        assert bool(said) is explain


def test_the_environment_has_the_first_and_the_last_word(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "UPMEM_PROFILE_BASE", "sgXferEnable=1,nrJobsPerRank=1,sgXferMaxBlocksPerDpu=1"
    )
    monkeypatch.setenv("UPMEM_PROFILE", "sgXferMaxBlocksPerDpu=3")
    with host.alloc(1, "nrJobsPerRank=2,sgXferMaxBlocksPerDpu=2"):
        profile = cudla_sim.upmem.ranks[0].profile
        assert (profile.nr_jobs_per_rank, profile.sg_max_blocks) == (2, 3)


def test_fewer_dpus_per_control_interface(host: Host) -> None:
    with host.alloc(20, "nrDpusPerCi=2") as made:  # 16 DPUs a rank
        assert [host.count(r) for r in host.ranks(made)] == [12, 8]
        assert all(d.member < 2 for d in cudla_sim.upmem.ranks[0].enabled)


def test_watched_calls_give_the_same(host: Host) -> None:
    """Logs and fault rules see every call; otherwise some are answered without Python."""
    api = host.api
    buffer = np.zeros(8, np.uint8)
    with host.alloc(70) as made:
        plain = [d.dpu for d in host.dpus(made)]
        calls: list[str] = []
        stop = cudla_sim.process.events.subscribe(lambda event: calls.append(event.name))
        watched = host.dpus(made)
        host.ok(api.dpu_prepare_xfer(watched[69], pointer(buffer)))
        stop()
        assert [d.dpu for d in watched] == plain
        assert calls.count("dpu_set_dpu_iterator_next") == 70
        assert "dpu_prepare_xfer" in calls
        assert any(cudla_sim.upmem.ranks[1].buffers)
        assert api.dpu_prepare_xfer(watched[69], pointer(buffer)) == status("TRANSFER_ALREADY_SET")
        host.ok(api.dpu_prepare_xfer(watched[69], None))
        assert not any(cudla_sim.upmem.ranks[1].buffers)
        cudla_sim.inject_fault("dpu_prepare_xfer=DPU_ERR_DRIVER")
        assert api.dpu_prepare_xfer(watched[69], pointer(buffer)) == status("DRIVER")
        cudla_sim.inject_fault("")
        host.ok(api.dpu_prepare_xfer(watched[69], pointer(buffer)))


def test_a_freed_rank_and_its_description_are_given_back(host: Host) -> None:
    api = host.api
    with host.alloc(2):
        rank = weakref.ref(cudla_sim.upmem.ranks[0])
        handle = ctypes.c_void_p(cudla_sim.upmem.ranks[0].handle)
        first, again = (api.dpu_get_description(handle) for _ in range(2))
        assert first
        assert first == again
    gc.collect()
    assert rank() is None
    api.dpu_free_description(ctypes.c_void_p(first))
    assert "was freed" in cudla_sim.last_explanation()
