"""Statuses of commands, long after the commands."""

from __future__ import annotations

import pytest

from cudla_sim.cupva import statuses as module
from cudla_sim.cupva.errors import CupvaError, Error, error
from cudla_sim.cupva.statuses import Status, Statuses


def ended(listing: Statuses, failure: CupvaError | None = None) -> int:
    status = Status()
    (number,) = listing.publish([status])
    assert listing.find(number).code == Error.CUPVA_OPERATION_PENDING
    status.end(failure)
    return number


def test_success_and_failure_are_told_apart_after_very_many_commands() -> None:
    listing = Statuses()
    pending = Status()
    (waiting,) = listing.publish([pending])
    good = ended(listing)
    bad = ended(listing, error(Error.CUPVA_VPU_HALTED, "it halted"))
    for _ in range(100_000):
        ended(listing)
    assert listing.find(good).code == Error.CUPVA_ERROR_NONE
    assert listing.find(bad).code == Error.CUPVA_VPU_HALTED
    assert listing.find(bad).explanation == "it halted"
    assert listing.find(waiting).code == Error.CUPVA_OPERATION_PENDING
    assert len(listing._pending) + len(listing._failed) == 2


def test_a_failure_among_too_many_is_never_taken_for_success(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "FAILURES_KEPT", 3)
    listing = Statuses()
    numbers = [ended(listing, error(Error.CUPVA_VPU_HALTED, "it halted")) for _ in range(5)]
    for number in numbers[:2]:
        with pytest.raises(CupvaError, match="3 newer commands failed") as raised:
            listing.find(number)
        assert raised.value.status == Error.CUPVA_FENCE_STATUS_BUFFER_FAILURE
    assert [listing.find(n).code for n in numbers[2:]] == [Error.CUPVA_VPU_HALTED] * 3


def test_numbers_that_no_submission_wrote() -> None:
    first = Statuses()
    old = ended(first)
    second = Statuses()
    for number, words in ((old, "since its reset"), (0x1234, "of this process$")):
        with pytest.raises(CupvaError, match=words) as raised:
            second.find(number)
        assert raised.value.status == Error.CUPVA_UNINITIALIZED_OBJECT
