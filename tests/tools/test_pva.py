"""``cudla-sim pva explain`` and ``pva plot``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from cudla_sim.cupva import report
from cudla_sim.cupva.dataflow.raster import RasterDataFlow
from cudla_sim.cupva.described import Described
from cudla_sim.testing import Compiler
from cudla_sim.tools.root import app
from tests.cupva.dataflow.bench import HANDLER, Bench, bench

PROGRAMS = Path(__file__).parents[1] / "cupva" / "programs"


def flow_of(machine: Bench) -> RasterDataFlow:
    flow = RasterDataFlow("RasterDataFlow 0")
    flow.handler(HANDLER)
    flow.image(True, machine.dram(np.zeros(50 * 13, np.uint8)), 50, 13, 50, 1)
    flow.tile(16, 4)
    flow.halo(1, 1)
    flow.tile_buffer(machine.variable(1024))
    return flow


def called(*words: object) -> Result:
    return CliRunner().invoke(app, ["pva", *(str(w) for w in words)])


@pytest.fixture
def described(tmp_path: Path) -> tuple[Path, str]:
    """The file of a dataflow, and its table."""
    with bench() as machine:
        flow = flow_of(machine)
        path = tmp_path / "flow.json"
        path.write_text(Described.of(flow, machine.memory.locate).to_json())
        return path, report.text(flow, machine.memory.locate)


def test_explain_prints_the_table(described: tuple[Path, str]) -> None:
    path, table = described
    assert called("explain", path).stdout == f"flow\n{table}\n"
    assert len(table.splitlines()) == 3 + 16


def test_a_program_is_run(sim_cc: Compiler) -> None:
    program = sim_cc.build(PROGRAMS / "borrowed_host.c")
    result = called("explain", program)
    assert result.exit_code == 0, result.output
    assert "StaticDataFlow 0 (no handler): 1 tiles" in result.stdout


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        ("{}", "no description of a dataflow"),
        ("[1", "Expecting"),
        ('{"format": "cudla-sim dataflow 1", "tiles": [[1]]}', "damaged"),
        (None, "No such file"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, contents: str | None, text: str) -> None:
    path = tmp_path / "flow.json"
    if contents is not None:
        path.write_text(contents)
    result = called("explain", path)
    assert result.exit_code == 1
    assert text in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_plot(described: tuple[Path, str], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    target = tmp_path / "made" / "picture.png"
    assert called("plot", described[0], "-o", target).stdout == f"{target}\n"
    assert target.read_bytes()[:4] == b"\x89PNG"
    refused = called("plot", described[0], "-o", tmp_path / "picture.odd")
    assert refused.exit_code == 1


def test_a_missing_matplotlib_is_said(
    described: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = called("plot", described[0])
    assert (result.exit_code, "pip install 'cudla-sim[plot]'" in result.stderr) == (1, True)
