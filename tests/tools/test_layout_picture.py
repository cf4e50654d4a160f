"""The pictures say what the packing does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from cudla_sim.nvdla import layout, layout_picture
from cudla_sim.nvdla.errors import NvdlaError
from cudla_sim.nvdla.loadable import Loadable
from tests import warm
from tests.conftest import FIXTURES, ROOT

DIGITS = ROOT / "c_examples" / "cudla" / "data" / "digits_int8.nvdla"
TAGS = ["lenet.small.int8.nchw", "convrelu.full.int8.nhwc.b2", "convrelu.full.fp16.ncxhwx"]


@pytest.mark.parametrize("tag", TAGS)
def test_sums_are_where_packing_puts_elements(fixtures: Path, tag: str) -> None:
    file = FIXTURES / "nvdla" / "compiled" / "loadables" / f"{tag}.nvdla"
    loadable = Loadable.parse(file.read_bytes())
    for tensor in (*loadable.inputs, *loadable.outputs):
        shape = (tensor.n, tensor.c, tensor.h, tensor.w)
        assert f"{'x'.join(map(str, shape))}" in layout_picture.picture(tensor)
        last = tuple(s - 1 for s in shape)
        array = np.zeros(shape, layout.tensor_dtype(tensor))
        array[last] = 1
        byte = int(np.flatnonzero(layout.pack_tensor(tensor, array))[0])
        offset = int(layout_picture.where(tensor, *last).rpartition("= ")[2])
        assert offset <= byte < offset + array.itemsize


def test_outside_the_tensor() -> None:
    tensor = Loadable.parse(DIGITS.read_bytes()).inputs[0]
    with pytest.raises(NvdlaError, match="outside"):
        layout_picture.where(tensor, 0, 1, 0, 0)


def test_command() -> None:
    command = [warm.python(), "-m", "cudla_sim", "nvdla", "layout", str(DIGITS)]
    result = subprocess.run(
        [*command, "--element", "0,0,0,0"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0
    assert "31 padding channel(s)" in result.stdout
    bad = subprocess.run(
        [*command, "--element", "0,9"], capture_output=True, text=True, check=False
    )
    assert bad.returncode == 2
    assert "'0,9' is no N,C,H,W" in bad.stderr
    assert "Traceback" not in bad.stderr
