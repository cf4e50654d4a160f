"""The C++ classes and the C functions, driven by compiled programs."""

from __future__ import annotations

import pytest

from .cases import Cases, names

_PROGRAMS = ("static_rules.cpp", "tensor_rules.cpp", "raster_rules.cpp", "runtime.cpp", "runtime.c")


@pytest.mark.parametrize(
    ("program", "case"), [(program, case) for program in _PROGRAMS for case in names(program)]
)
def test_case(cases: Cases, program: str, case: str) -> None:
    wrong = cases.outcome(program, case)
    assert not wrong, wrong
