"""Every compiled loadable gives the recorded output; those the real driver rejects are rejected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from golden_nvdla import execute, manifest

from cudla_sim.nvdla import KmdError, Loadable, UnsupportedOperation, layout

CASES = manifest()


def _case_folder(data: Path) -> Path:
    return data / "compiled" / "loadables"


def _run(data: Path, tag: str):
    case, folder = CASES[tag], _case_folder(data)
    inputs = [folder / case["inputs"][str(i)]["file"] for i in range(len(case["inputs"]))]
    return execute(folder / f"{tag}.nvdla", case["config"], inputs)


@pytest.mark.skipif(not CASES, reason="no NVDLA fixtures")
@pytest.mark.parametrize("tag", [tag for tag in CASES if ".int8." in tag] or ["none"])
def test_int8_loadable_is_bit_exact(data: Path, tag: str) -> None:
    case = CASES[tag]
    if case["expect"] == "submit_false":
        with pytest.raises(KmdError) as caught:
            _run(data, tag)
        assert caught.value.firmware == -3
        return
    outcome = _run(data, tag)
    for number, tensor in enumerate(outcome.loadable.outputs):
        file = _case_folder(data) / case["outputs"][str(number)]["file"]
        golden = np.fromfile(file, np.int8)
        result = layout.unpack_tensor(tensor, outcome.outputs[number]).ravel()
        np.testing.assert_array_equal(result, golden)
    assert outcome.report.note == ""


@pytest.mark.skipif(not CASES, reason="no NVDLA fixtures")
@pytest.mark.parametrize("tag", [tag for tag in CASES if ".fp16." in tag] or ["none"])
def test_fp16_loadable_is_close(data: Path, tag: str) -> None:
    case = CASES[tag]
    if case["expect"] == "submit_false":
        with pytest.raises(KmdError):
            _run(data, tag)
        return
    try:
        outcome = _run(data, tag)
    except UnsupportedOperation as error:
        pytest.skip(str(error))
    for number, tensor in enumerate(outcome.loadable.outputs):
        file = _case_folder(data) / case["outputs"][str(number)]["file"]
        golden = np.fromfile(file, np.float16).astype(np.float32)
        result = layout.unpack_tensor(tensor, outcome.outputs[number]).astype(np.float32).ravel()
        scale = float(np.abs(golden).max())
        loose = 2.5 if tag.startswith("lrnnet") else 1.0  # the table itself works in FP17
        np.testing.assert_allclose(result, golden, rtol=4e-3, atol=2e-3 * scale * loose)
    assert outcome.report.note == "fp16: float32"


@pytest.mark.skipif(not CASES, reason="no NVDLA fixtures")
def test_tensor_descriptors_are_those_of_the_public_runtime(data: Path) -> None:
    for tag, case in CASES.items():
        loadable = Loadable.parse((_case_folder(data) / f"{tag}.nvdla").read_bytes())
        for kind, tensors in (("in", loadable.inputs), ("out", loadable.outputs)):
            wanted = {item["id"]: item for item in case["tensors"] if item["dir"] == kind}
            assert len(tensors) == len(wanted)
            for number, tensor in enumerate(tensors):
                assert wanted[number] == {
                    "dir": kind,
                    "id": number,
                    "name": tensor.name,
                    "size": tensor.size,
                    "n": tensor.n,
                    "c": tensor.c,
                    "h": tensor.h,
                    "w": tensor.w,
                    "dataFormat": tensor.data_format,
                    "dataType": tensor.data_type,
                    "dataCategory": tensor.data_category,
                    "pixelFormat": tensor.pixel_format,
                    "pixelMapping": tensor.pixel_mapping,
                    "stride": list(tensor.strides),
                }


@pytest.mark.skipif(not CASES, reason="no NVDLA fixtures")
def test_input_files_survive_unpacking_and_packing(data: Path) -> None:
    for tag, case in CASES.items():
        loadable = Loadable.parse((_case_folder(data) / f"{tag}.nvdla").read_bytes())
        for number, tensor in enumerate(loadable.inputs):
            raw = np.fromfile(_case_folder(data) / case["inputs"][str(number)]["file"], np.uint8)
            array = layout.unpack_tensor(tensor, raw)
            again = layout.pack_tensor(tensor, array)
            assert len(again) == len(raw)
            assert layout.unpack_tensor(tensor, again).tobytes() == array.tobytes()
