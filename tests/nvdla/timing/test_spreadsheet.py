"""NVIDIA's spreadsheet: its own figures, and its published table."""

from __future__ import annotations

import json
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.nvdla.timing.spreadsheet import Machine, Sheet, SheetLayer, Total
from tests import warm


def alexnet() -> list[dict[str, Any]]:
    """AlexNet as everybody knows it, in two groups."""
    pool = {"kh": 3, "kw": 3, "sv": 2, "sh": 2}

    def conv(name: str, c: int, h: int, k: int, r: int, **more: Any) -> dict[str, Any]:
        kind = {"name": name, "kind": "conv", "c": c, "h": h, "w": h, "k": k, "r": r, "s": r}
        return {**kind, "pad": True, "stride_v": 1, "stride_h": 1, "pool": None, **more}

    winograd = {"winograd_weights_16_9": True}
    dense = {"kind": "fc", "pad": False}
    return [
        conv("conv1", 3, 224, 96, 11, pad=False, stride_v=4, stride_h=4, pool=pool),
        *[conv("conv2", 48, 27, 128, 5, pool=pool)] * 2,
        conv("conv3", 256, 13, 384, 3, **winograd),
        *[conv("conv4", 192, 13, 192, 3, **winograd)] * 2,
        *[conv("conv5", 192, 13, 128, 3, pool=pool, **winograd)] * 2,
        conv("fc6", 256, 6, 4096, 6, **dense),
        conv("fc7", 4096, 1, 4096, 1, **dense),
        conv("fc8", 4096, 1, 1000, 1, **dense),
    ]


def sheet(**changes: Any) -> Sheet:
    return Sheet("AlexNet", Machine(**changes), [SheetLayer.of(layer) for layer in alexnet()])


def test_alexnet_is_the_sheets_result() -> None:
    """The cached values of the file: 1116.8 and 1690.7 frames a second."""
    assert sheet().total().cycles == Fraction("895443.5625")
    assert sheet().total(with_sram=True).cycles == Fraction("591475.5625")
    assert float(sheet().total().fps) == pytest.approx(1116.7649664129447, rel=1e-12)


def test_every_case_to_the_last_digit(fixtures: Path) -> None:
    cases = [p for p in (fixtures / "nvdla" / "timing").glob("*.json") if p.name.count(".") > 1]
    assert len(cases) >= 28
    for path in cases:
        data = json.loads(path.read_text())
        layers = [SheetLayer.of(entry["layer"]) for entry in data["layers"]]
        found = Sheet(data["network"], Machine.of(data["config"]), layers)
        for row, entry in zip(found.rows, data["layers"], strict=True):
            assert row.layer.macs == entry["layer"]["macs"], path.name
            _equal(row, {k: v for k, v in entry["result"].items() if k[:4] not in ("out_", "with")})
            _equal(row.with_sram, entry["result"]["with_sram"])
            assert row.layer.pooled == (entry["result"]["out_h"], entry["result"]["out_w"])
        _equal(found.total(), data["total"])
        _equal(found.total(with_sram=True), data["total_with_sram"])


CONFIG = {
    "feature_bytes": 1, "weight_bytes": 1, "cbuf_kb": 512, "macs": 2048, "clock_mhz": 1000,
    "sram_read_gbps": 25, "sram_write_gbps": 25, "dram_gbps": 10, "fc_batch": 16,
}  # fmt: skip
GOOGLENET = json.loads((Path(__file__).parent / "googlenet_sheet.json").read_text())


def googlenet(config: dict[str, Any]) -> Sheet:
    layers = [SheetLayer.of(layer) for layer in GOOGLENET["layers"]]
    return Sheet("GoogLeNet", Machine.of(config), layers)


def test_googlenet_is_the_sheets_result() -> None:
    """The cached values of the file: 818.3 and 1725.0 frames a second."""
    found = googlenet(CONFIG)
    assert found.total().cycles == 1222071
    assert found.total(with_sram=True).cycles == Fraction("579712.5")
    assert float(found.total().hw_mac_utilization) == pytest.approx(0.43188079906977583)
    assert float(found.total().network_mac_utilization) == pytest.approx(0.62722787792198653)


@pytest.mark.parametrize("case", GOOGLENET["cases"], ids=lambda case: case["config"]["name"])
def test_googlenet_to_the_last_digit(case: dict[str, Any]) -> None:
    found = googlenet(case["config"])
    for row, expected in zip(found.rows, case["rows"], strict=True):
        known = dict(zip(GOOGLENET["columns"], expected, strict=True))
        _equal(row, {k: v for k, v in known.items() if " " not in k})
        _equal(row.with_sram, {k.split()[1]: v for k, v in known.items() if " " in k})
    _equal(found.total(), {k: v for k, v in case.items() if k in Total.__dataclass_fields__})
    assert float(found.total(with_sram=True).cycles) == pytest.approx(case["cycles_with_sram"])


def test_googlenets_blocks_are_asked_for() -> None:
    layers = [SheetLayer.of(layer) for layer in GOOGLENET["layers"]]
    for some in (layers[:-1], layers[1:], layers[:7], [*layers[:3], *layers[4:]]):
        with pytest.raises(ValueError, match="blocks of four layers"):
            Sheet("GoogLeNet", Machine(), some)
    for parts in ([64, 96], [64, 96, -1], "176", [176.0]):
        with pytest.raises(ValueError, match=r"parts is .* kernels that make up k"):
            SheetLayer.of({**GOOGLENET["layers"][2], "parts": parts})


def _equal(found: object, expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        mine = getattr(found, name)
        mine = mine if isinstance(value, str) else float(mine)
        assert mine == value or mine == pytest.approx(value, rel=1e-12), name


@given(st.integers(1, 8), st.integers(1, 8))
def test_more_bandwidth_or_more_macs_never_cost_time(dram: int, macs: int) -> None:
    slow = sheet(dram_gbps=Fraction(dram), macs=256 * macs).total().cycles
    assert sheet(dram_gbps=Fraction(dram + 1), macs=256 * macs).total().cycles <= slow
    assert sheet(dram_gbps=Fraction(dram), macs=256 * (macs + 1)).total().cycles <= slow


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [warm.python(), "-m", "cudla_sim", "nvdla", "time", *words],
        capture_output=True,
        text=True,
        check=False,
    )


def test_command(tmp_path: Path) -> None:
    file = tmp_path / "alexnet.json"
    network = {"network": "AlexNet", "config": CONFIG, "layers": [{"layer": x} for x in alexnet()]}
    file.write_text(json.dumps(network))
    done = command("--layers", str(file), "--json")
    answer = json.loads(done.stdout)
    assert (answer["version"], answer["total"]["cycles"]) == (1, 895443.5625)
    assert answer["layers"][0]["result"]["bound"] == "MAC"
    assert "1116.8 a second" in command("--layers", str(file)).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is no JSON"),
        ("[]", "network, config, layers"),
        (json.dumps({"config": CONFIG, "layers": []}), "layers is empty"),
        (json.dumps({"config": {}, "layers": [alexnet()[0]]}), "config.feature_bytes is None"),
        (
            json.dumps({"config": CONFIG, "layers": [{**alexnet()[0], "k": 0}]}),
            "layer conv1: k is 0; it is a positive integer",
        ),
        (
            json.dumps({"config": {**CONFIG, "cbuf_kb": 4}, "layers": [alexnet()[0]]}),
            "does not fit a convolution buffer of 4 KB",
        ),
    ],
)
def test_bad_files_are_explained(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    done = command("--layers", str(file))
    assert (done.returncode, done.stdout) == (1, "")
    assert why in done.stderr
