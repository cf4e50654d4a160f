"""Our register tables equal the published maps, field by field."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cudla_sim.nvdla.facts import registers

_ACCESS = {"c": "r", "wo": "w", "wto": "w", "rwto": "rw", "rwt": "rw", "rwo": "rw"}


@pytest.mark.parametrize(
    ("name", "line"), [("nv_full", "v1"), ("nv_small", "master"), ("nv_large", "master")]
)
def test_map(data: Path, name: str, line: registers.MapName) -> None:
    published = json.loads((data / "registers" / f"{name}.json").read_text())["blocks"]
    ours = registers.blocks(line)
    assert {"NVDLA_" + block for block in ours} == set(published)
    for block_name, block in ours.items():
        wanted = published["NVDLA_" + block_name]
        assert block.base == wanted["base"]
        assert len(block.registers) == len(wanted["regs"])
        for mine, theirs in zip(block.registers, wanted["regs"], strict=True):
            assert mine.name == theirs["name"].removeprefix("CFGROM_"), block_name
            assert block.base + mine.offset == theirs["offset"]
            assert mine.reset == theirs["reset"], mine.name
            assert mine.read_mask == theirs["read_mask"], mine.name
            assert mine.write_mask == theirs["write_mask"], mine.name
            assert [_field(item) for item in mine.fields] == [
                _published(item) for item in theirs["fields"]
            ]


def _field(item: registers.Field) -> tuple:
    return (item.name, item.lsb, item.msb, item.access, item.reset)


def _published(item: list) -> tuple:
    return (item[0], item[1], item[2], _ACCESS.get(item[3], item[3]), item[4])


@pytest.mark.parametrize(("name", "line"), [("nv_full", "v1"), ("nv_small", "master")])
def test_value_names(data: Path, name: str, line: registers.MapName) -> None:
    published = json.loads((data / "registers" / f"{name}.json").read_text())["blocks"]
    sizes = ("KERNEL_WIDTH", "KERNEL_HEIGHT")  # their values are the number minus 1
    for block_name, block in registers.blocks(line).items():
        for mine, theirs in zip(
            block.registers, published["NVDLA_" + block_name]["regs"], strict=True
        ):
            for field, wanted in zip(mine.fields, theirs["fields"], strict=True):
                if len(wanted) > 5 and field.name not in sizes:
                    assert field.values == wanted[5], (mine.name, field.name)
