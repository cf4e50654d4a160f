"""Generated descriptors are as long as a compiler makes the structures of dla_interface.h."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from codegen.descriptors import _RECORDS
from cudla_sim import paths
from cudla_sim.nvdla import dla_interface


@pytest.mark.parametrize("new", [True, False])
def test_sizes(new: bool, tmp_path: Path) -> None:
    lines = [] if new else ["#define DLA_OLD_DATA_CUBE"]
    lines.append('#include "nvdla/dla_interface.h"')
    for tag, (name, *_) in _RECORDS.items():
        size = getattr(dla_interface, name).byte_size(new)
        lines.append(f'_Static_assert(sizeof(struct dla_{tag}) == {size}, "{tag}");')
    if new:
        surface = dla_interface.SURFACE_SIZE
        lines.append(f'_Static_assert(sizeof(union dla_surface_container) == {surface}, "");')
    (tmp_path / "check.c").write_text("\n".join(lines) + "\n")
    include = paths.include_dir()
    command = ["gcc", "-fsyntax-only", f"-I{include}", f"-I{include / 'nvdla'}", "check.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
