"""``cudla-sim nvdla check``, and the same words when a network is loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import cudla_sim
from cudla_sim.core.errors import ConfigError
from cudla_sim.nvdla import network_run
from cudla_sim.nvdla.build import Network
from cudla_sim.nvdla.check import check
from cudla_sim.nvdla.loadable import Loadable
from cudla_sim.nvdla.machine import machine
from cudla_sim.nvdla.target import layers
from cudla_sim.tools.nvdla import command as nvdla
from tests.nvdla.wide import wide_pooling


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pooling that is wider than the line buffer."""
    file = tmp_path_factory.mktemp("check") / "wide.nvdla"
    file.write_bytes(wide_pooling())
    return file


def call(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(nvdla.app, ["check", *words])
    return result.exit_code, result.output


def test_what_is_wrong_is_named(wide: Path) -> None:
    status, text = call(str(wide), "--config", "nv_small")
    assert status == 1
    assert "task 0 operation 0 (PDP): surface.dst.width: 150" in text
    assert "would not take 1 operation" in text


def test_json(wide: Path) -> None:
    status, text = call(str(wide), "--config", "small", "--json")
    found = json.loads(text)
    assert status == 1
    assert found["config"] == "nv_small"
    assert found["violations"][0]["unit"] == "PDP"
    assert found["violations"][0]["operation"] == 0


def test_what_is_good(tmp_path: Path) -> None:
    net = Network(input=("x", (1, 8, 4, 8)), precision="int8", config="nv_small")
    net.max_pool(2)
    file = tmp_path / "good.nvdla"
    file.write_bytes(net.build(np.ones((1, 8, 4, 8))))
    assert call(str(file), "--config", "nv_small") == (0, "good.nvdla: nv_small would take it\n")
    status, text = call(str(file), "--json", "--config", "nv_small")
    assert status == 0
    assert json.loads(text) == {
        "schema_version": 1,
        "version": 1,
        "config": "nv_small",
        "violations": [],
    }


@pytest.mark.parametrize("words", [("nowhere.nvdla",), ("--config", "nv_tiny"), ()])
def test_wrong_usage(words: tuple[str, ...], wide: Path) -> None:
    file = () if "nowhere.nvdla" in words or not words else (str(wide),)
    assert call(*file, *words)[0] == 2


def test_each_operation_is_counted(wide: Path) -> None:
    loadable = Loadable.parse(wide.read_bytes())
    seen: list[tuple[int, int]] = []
    check(loadable, "nv_full", lambda done, total: seen.append((done, total)))
    assert seen == [(n, len(seen)) for n in range(len(seen))]
    assert len(seen) == len(list(layers(loadable)))


def test_no_loadable(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("hello")
    assert call(str(file))[0] == 2


# --- the setting ---------------------------------------------------------------------------------

WORDS = "cudla-sim: check: nv_small would not take task 0 operation 0 (PDP): surface.dst.width: 150"


@pytest.mark.parametrize(("setting", "lines"), [("warn", 1), ("off", 0)])
def test_loading_says_the_same(
    setting: str, lines: int, wide: Path, sim: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    cudla_sim.configure(checks=setting, config="nv_small")
    network_run.run(Loadable.parse(wide.read_bytes()), "nv_small", {})
    assert capfd.readouterr().err.count(WORDS) == lines


def test_cudla_says_it_once_for_a_module(
    wide: Path, sim: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    cudla_sim.configure(checks="warn", config="nv_small")
    cudla_sim.dla.open(0, 1).load(wide.read_bytes())
    assert capfd.readouterr().err.count(WORDS) == 1


def test_the_runtime_says_it_once(wide: Path, sim: Any, capfd: pytest.CaptureFixture[str]) -> None:
    cudla_sim.configure(checks="warn", config="nv_small")
    machine(cudla_sim.process).settle(Loadable.parse(wide.read_bytes()))
    assert capfd.readouterr().err.count(WORDS) == 1


def test_an_unknown_setting(sim: Any) -> None:
    with pytest.raises(ConfigError, match="off, warn"):
        cudla_sim.configure(checks="loud")
