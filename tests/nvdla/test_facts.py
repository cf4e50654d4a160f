"""Rules of the hardware stand in ``nvdla/facts`` and nowhere else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from cudla_sim.nvdla.facts import formats, limits, memory, precisions, tables
from cudla_sim.nvdla.facts.configs import CONFIGS
from cudla_sim.nvdla.facts.windows import extent, output_size
from tests.conftest import ROOT

PACKAGE = ROOT / "pyimpl" / "cudla_sim"
SOURCES = sorted(
    path
    for folder in ("nvdla", "compiler")
    for path in (PACKAGE / folder).rglob("*.py")
    if path.parent.name != "facts" and path.name != "dla_interface.py"  # generated
)
NUMBERS = {
    limits.LARGEST: "limits.LARGEST",
    limits.MOST_ADDRESSES: "limits.MOST_ADDRESSES",
    formats.FEATURE: "formats.FEATURE",
    formats.FEATURE_X8: "formats.FEATURE_X8",
    tables.LE_ENTRIES: "tables.LE_ENTRIES",
    tables.LO_ENTRIES: "tables.LO_ENTRIES",
    precisions.INT8_TOP: "precisions.INT8_TOP",
    precisions.INT16_TOP: "precisions.INT16_TOP",
    precisions.FP16_TOP: "precisions.FP16_TOP",
    precisions.INT16_TOP + 1: "precisions.RANGES",
    memory.PAGE: "memory.PAGE",
}
OTHERS = {
    ("nvdla/cosim/lockstep.py", 4096): "so many differences are looked at",
    ("nvdla/again/plan.py", 4096): "steps of a plan that is kept",
    ("nvdla/flatbuffer.py", 4096): "the longest name",
    ("nvdla/loadable.py", 127): "the last character of ASCII",
    ("nvdla/timing/inception.py", 4096): "kilobytes of SRAM",
    ("nvdla/timing/stripes.py", 4096): "results that are kept",
    ("nvdla/hw/fields.py", 8192): "parameter objects that are kept",
    ("nvdla/hw/units/cdp/lut.py", 127): "the lowest exponent of a bias",
    ("nvdla/hw/units/conv/reference/fp16.py", 65): "a bias of exponents",
    ("nvdla/replay/player.py", 36): "bits of an address",
    ("compiler/lower/lrn.py", 37): "bits of an end of CDP's table that nothing reaches",
}
"""Where a number means something else."""

NAMES_OF_PRECISIONS = {
    "compiler/front/inputs.py": "types of ONNX",
    "compiler/front/operators/quantization.py": "types of ONNX",
}


def numbers(path: Path) -> Iterator[tuple[int, int]]:
    """Line and value of the integers (also 127.0) of a module. What is written in hexadecimal is a
    pattern of bits, not a number."""
    text = path.read_text()
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            if lines[node.lineno - 1].encode()[node.col_offset :].startswith(b"0x"):
                continue
            yield node.lineno, node.value  # type: ignore[misc]


def texts(node: ast.AST) -> set[object]:
    """The constants that a display holds itself."""
    match node:
        case ast.Tuple() | ast.List() | ast.Set():
            inside: list[ast.expr | None] = [*node.elts]
        case ast.Dict():
            inside = [*node.keys, *node.values]
        case _:
            inside = []
    return {item.value for item in inside if isinstance(item, ast.Constant)}


def where(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("path", SOURCES, ids=where)
def test_numbers_of_the_hardware_have_their_names(path: Path) -> None:
    for line, value in numbers(path):
        if value in NUMBERS and (where(path), value) not in OTHERS:
            pytest.fail(f"{where(path)}:{line}: {value} is {NUMBERS[value]}")


@pytest.mark.parametrize("path", SOURCES, ids=where)
def test_there_is_one_table_of_precisions(path: Path) -> None:
    """Names of one alone may stand in defaults and comparisons."""
    if where(path) in NAMES_OF_PRECISIONS:
        return
    for node in ast.walk(ast.parse(path.read_text())):
        assert len(texts(node) & set(precisions.NAMES)) < 2, f"{ast.dump(node)}: precisions.NAMES"


@pytest.mark.parametrize("path", SOURCES, ids=where)
def test_no_rule_depends_on_the_name_of_a_configuration(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Compare):
            text = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant)}
            if text & set(CONFIGS):
                assert where(path) == "nvdla/replay/packed.py", f"line {node.lineno}: a capability"
        assert len(texts(node) & set(CONFIGS)) < 2, f"{ast.dump(node)}: configs.CONFIGS"


def test_every_exception_is_needed() -> None:
    there = {(where(path), value) for path in SOURCES for _, value in numbers(path)}
    assert set(OTHERS) <= there


@pytest.mark.parametrize("dilation", [1, 2, 5])
def test_windows_are_counted_as_a_loop_counts_them(dilation: int) -> None:
    for size in (1, 5, 8):
        for taps in (1, 2, 3):
            for stride in (1, 2, 3):
                for before, after in ((0, 0), (1, 0), (2, 3)):
                    window = extent(taps, dilation)
                    if window > size + before + after:
                        continue
                    starts = range(-before, size + after, stride)
                    fit = [s for s in starts if s + window <= size + after]
                    assert output_size(size, window, stride, before, after) == len(fit)
