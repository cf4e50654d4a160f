"""Every compiled loadable gives the recorded output; those the real driver rejects are rejected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from golden_nvdla import execute, manifest

from cudla_sim.nvdla import KmdError, Loadable, layout

CASES = manifest()


def _case_folder(data: Path) -> Path:
    return data / "compiled" / "loadables"


def _run(data: Path, tag: str):
    case, folder = CASES[tag], _case_folder(data)
    inputs = [folder / case["inputs"][str(i)]["file"] for i in range(len(case["inputs"]))]
    return execute(folder / f"{tag}.nvdla", case["config"], inputs)


@pytest.mark.parametrize("tag", list(CASES) or ["none"])
def test_loadable_is_bit_exact(data: Path, tag: str) -> None:
    case = CASES[tag]
    if case["expect"] == "submit_false":
        with pytest.raises(KmdError) as caught:
            _run(data, tag)
        assert caught.value.firmware == -3
        return
    outcome = _run(data, tag)
    for number, tensor in enumerate(outcome.loadable.outputs):
        file = _case_folder(data) / case["outputs"][str(number)]["file"]
        kind = np.uint16 if ".fp16." in tag else np.uint8
        golden = np.fromfile(file, kind)
        result = layout.unpack_tensor(tensor, outcome.outputs[number]).ravel().view(kind)
        np.testing.assert_array_equal(result, golden)
    assert outcome.report.note == ""


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


def test_input_files_survive_unpacking_and_packing(data: Path) -> None:
    for tag, case in CASES.items():
        loadable = Loadable.parse((_case_folder(data) / f"{tag}.nvdla").read_bytes())
        for number, tensor in enumerate(loadable.inputs):
            raw = np.fromfile(_case_folder(data) / case["inputs"][str(number)]["file"], np.uint8)
            array = layout.unpack_tensor(tensor, raw)
            again = layout.pack_tensor(tensor, array)
            assert len(again) == len(raw)
            assert layout.unpack_tensor(tensor, again).tobytes() == array.tobytes()
