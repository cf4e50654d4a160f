"""Public loadables through cuDLA: outputs must equal what the public reference model gave."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cudla_sim.testing import CApi
from tests.conftest import FIXTURES

from .driver import HYBRID, STANDALONE, Client, check, valid_elements

COMPILED = FIXTURES / "nvdla" / "compiled"
PUBLIC = FIXTURES / "nvdla" / "public"
ATOM = {"full": 32, "large": 32, "small": 8}


def cases() -> dict[str, Any]:
    manifest = COMPILED / "MANIFEST.json"
    if not manifest.exists():
        return {}
    found: dict[str, Any] = json.loads(manifest.read_text())["cases"]
    return found


CASES = cases()


def tags(expected: str) -> list[str]:
    return sorted(t for t, case in CASES.items() if case["expect"] == expected) or ["none"]


@pytest.mark.parametrize("tag", tags("ok"))
def test_loadables_are_bit_exact(tag: str, fixtures: Path, sim: ModuleType, sim_api: CApi) -> None:
    case = CASES[tag]
    sim.configure(config="nv_" + case["config"])
    client = Client(sim_api, HYBRID if "nchw" in tag else STANDALONE)
    folder = COMPILED / "loadables"
    check(client.load((folder / f"{tag}.nvdla").read_bytes()), "load")
    tensors = client.descriptors(2) + client.descriptors(3)
    for tensor, expected in zip(tensors, case["tensors"], strict=True):
        assert tensor.name.decode() == expected["name"]
        assert [tensor.size, tensor.n, tensor.c, tensor.h, tensor.w] == [
            expected[k] for k in ("size", "n", "c", "h", "w")
        ]
        assert list(tensor.stride) == expected["stride"]
    inputs = [(folder / case["inputs"][k]["file"]).read_bytes() for k in sorted(case["inputs"])]
    outputs = client.infer(inputs)
    for number, (output, tensor) in enumerate(zip(outputs, client.descriptors(3), strict=True)):
        golden = (folder / case["outputs"][str(number)]["file"]).read_bytes()
        assert valid_elements(output, tensor, ATOM[case["config"]]) == golden


@pytest.mark.parametrize("tag", tags("submit_false"))
def test_rejected_loadables_fail_in_the_engine(
    tag: str, fixtures: Path, sim: ModuleType, sim_api: CApi
) -> None:
    """The real driver loads them and refuses the task; so do we, and the device lives on."""
    case = CASES[tag]
    sim.configure(config="nv_" + case["config"])
    client = Client(sim_api)
    check(client.load((COMPILED / "loadables" / f"{tag}.nvdla").read_bytes()), "load")
    with pytest.raises(AssertionError, match="the task answered 0x40000001"):
        client.infer([bytes(d.size) for d in client.descriptors(2)])
    check(client.api.cudlaDestroyDevice(client.device))


def test_public_fp16_lenet(fixtures: Path, sim_api: CApi) -> None:
    """The regression's own golden: a zero image; a DIMG head of 36 bytes, then 10 fp16 values."""
    client = Client(sim_api)
    check(client.load((PUBLIC / "loadables" / "NN_L0_0.nvdla").read_bytes()))
    (tensor,) = client.descriptors(3)
    (output,) = client.infer([b""])
    found = np.frombuffer(valid_elements(output, tensor, 32), np.float16)
    (golden_file,) = (PUBLIC / "golden" / "NN_L0_0").rglob("*.dimg")
    golden = np.frombuffer(golden_file.read_bytes()[36:], np.float16)
    assert found.tobytes() == golden.tobytes()
