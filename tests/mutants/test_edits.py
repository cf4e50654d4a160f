"""The list of edits fits the sources, so that ``make mutants`` can be run at any time."""

from __future__ import annotations

from tests.mutants.__main__ import ROOT, edits


def test_each_edit_has_its_place_and_its_tests() -> None:
    found = edits()  # raises where a text does not stand in its file once
    assert len(found) > 100
    for edit in found:
        for test in edit.killed_by:
            assert (ROOT / test.partition("::")[0]).exists(), f"{edit}: {test}"
