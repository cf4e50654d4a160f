"""Handles tell stale, foreign, NULL and garbage apart."""

from __future__ import annotations

import threading

import pytest

from cudla_sim.core.handles import BadHandle, HandleTable


def test_lookup_by_kind() -> None:
    table = HandleTable()
    thing = object()
    value = table.add("thing", thing)
    assert table.get(value, "thing") is thing
    assert table.live("thing") == [thing]


def test_entries_stand_while_all_of_them_live() -> None:
    table = HandleTable()
    one, other = table.add("thing", 1), table.add("other", 2)
    entries = table.entries([7, one, 0, other, one])
    assert [value for value, _ in entries] == [one, other, one]
    assert table.still(entries)
    assert (table.find_one(one, "thing"), table.find_one(one, "other")) == (1, None)
    table.remove(other, "other", "otherFree")
    assert not table.still(entries)
    assert table.still(entries[:1])
    assert table.find_one(other, "other") is None


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda t: 0, "is NULL"),
        (lambda t: 12345, "never issued"),
        (lambda t: t.add("other", 1), "is a other; expected a thing"),
        (lambda t: _freed(t), "was freed by thingFree"),
    ],
)
def test_explanations(make, why: str) -> None:  # type: ignore[no-untyped-def]
    table = HandleTable()
    with pytest.raises(BadHandle, match=why):
        table.get(make(table), "thing")


def _freed(table: HandleTable) -> int:
    value = table.add("thing", 1)
    table.remove(value, "thing", "thingFree")
    return value


def test_values_are_never_used_again() -> None:
    first, second = HandleTable(), HandleTable()
    values = {t.add("x", 0) for t in (first, second, first, second)}
    assert len(values) == 4


def test_one_of_several_threads_frees() -> None:
    table = HandleTable()
    value = table.add("thing", 1)
    outcomes: list[str] = []

    def free() -> None:
        try:
            table.remove(value, "thing", "free")
            outcomes.append("freed")
        except BadHandle:
            outcomes.append("stale")

    threads = [threading.Thread(target=free) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["freed"] + ["stale"] * 7


def test_all_handles_become_stale_at_a_reset() -> None:
    old, fresh = HandleTable(), HandleTable()
    value = old.add("thing", 1)
    old.drop_all("reset")
    fresh.inherit_freed(old)
    with pytest.raises(BadHandle, match="freed by reset"):
        fresh.get(value, "thing")
