"""Estimates beside published times of others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudla_sim.boards.timing.parameters import constants, parameters, spreads, transitions
from tests.boards.published.fitting import LeftOut, everything, fitted_constants, left_out
from tests.boards.published.predicted import Prepared, prepared
from tests.boards.published.rows import MIXED, rows
from tests.boards.published.table import (
    constants_markdown,
    families_markdown,
    markdown,
    spreads_markdown,
)
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

PAGE = ROOT / "docs" / "dla" / "times.md"


@pytest.fixture(scope="module")
def cases(fixtures: Path) -> list[Prepared]:
    assert fixtures.is_dir()
    return everything()


@pytest.fixture(scope="module")
def found(cases: list[Prepared]) -> list[LeftOut]:
    return left_out(cases, lambda case: case.row.family)


@pytest.mark.slow
def test_the_page_has_the_tables(found: list[LeftOut]) -> None:
    page = PAGE.read_text()
    for table in (markdown(found), families_markdown(found)):
        assert table in page, "python -m benchmarks.dla_times --markdown"


def test_the_page_has_the_constants() -> None:
    page = PAGE.read_text()
    for table in (constants_markdown(), spreads_markdown()):
        assert table in page, "python -m benchmarks.dla_times --markdown"


@pytest.mark.slow
def test_what_the_page_says_of_left_out_times(found: list[LeftOut]) -> None:
    text = " ".join(PAGE.read_text().split())
    for words, chosen in (
        ("all rows", found),
        ("rows without \\(g\\)", [each for each in found if each.case.row.kind != MIXED]),
    ):
        errors = sorted(abs(each.ms / each.case.row.ms - 1) for each in chosen)
        said = re.search(rf"\| {words} \| (\d+) \| ([\d.]+) % \| (\d+) of \d+ \|", text)
        assert said is not None
        assert int(said[1]) == len(chosen)
        middle = len(errors) // 2
        median = (errors[middle] + errors[-middle - 1]) / 2
        assert float(said[2]) == pytest.approx(100 * median, abs=0.11)
        assert int(said[3]) == sum(each.inside for each in chosen)


def test_the_printed_interval_holds_what_was_measured_on_the_dla(cases: list[Prepared]) -> None:
    alone = [case for case in cases if case.row.kind != MIXED]
    inside = 0
    for case in alone:
        ms, factor = case.ms(parameters()), case.factor(parameters())
        inside += ms / factor <= case.row.ms <= ms * factor
    assert inside >= 0.9 * len(alone)


def test_the_table_is_what_the_fit_finds(cases: list[Prepared]) -> None:
    from tests.boards.published.fitting import fit

    found = fit(cases)
    for constant in fitted_constants():
        again = getattr(found, constant.name)
        assert again == pytest.approx(constant.value, rel=0.01), "benchmarks.dla_times --fit"


def test_estimates_are_those_of_the_rows(cases: list[Prepared]) -> None:
    """What the function prints is what the fit computes with."""
    from cudla_sim.boards.timing import estimate

    for case in cases[::9]:
        row = case.row
        if row.recipe.part:
            continue
        times = estimate(
            case.report, row.mode, clock_mhz=row.clock, batch=row.batch, cores=row.cores,
            sparse=row.sparse, fp16_layers=row.recipe.fp16,
        )  # fmt: skip
        assert times.latency.value == pytest.approx(case.ms(parameters()))


def test_every_row_has_its_network(fixtures: Path) -> None:
    listed = rows()
    assert len({row.id for row in listed}) == len(listed) == 72
    assert len(prepared(next(row for row in listed if row.id == "r049")).items) == 9


def test_few_constants_are_fitted_and_all_say_where_they_are_from() -> None:
    assert len(fitted_constants()) <= 10
    for constant in constants():
        assert constant.source
        assert (constant.start is not None) == (constant.origin == "fitted")
        assert constant.origin in (
            "documented", "measured by others", "inferred", "recalled", "assumed", "fitted",
        )  # fmt: skip


def test_little_known_operations_have_wide_spreads() -> None:
    wide = {name: spread.value for name, spread in spreads().items()}
    assert wide["int8_orin"] < wide["fp16_orin"] < wide["depthwise"] < wide["others"]
    for each in transitions().values():
        assert 0 < each.low <= each.value <= each.high
