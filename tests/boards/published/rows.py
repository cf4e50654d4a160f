"""What was measured in each published row: network, board, clock, and the time in milliseconds.

The rows are data of others (``CUDLA_SIM_FIXTURES``); their words are read here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import onnx

from tests.boards.networks import residual, small, yolo
from tests.conftest import FIXTURES

FILE = FIXTURES / "nvdla" / "timing" / "orin.json"


@dataclass(frozen=True)
class Recipe:
    """*make* builds the network for a batch. *family* is left out together: one network. *fp16*:
    patterns of layers that were kept in FP16. *part*: of its layers in order, which ones; "" all.
    """

    make: Callable[[int], onnx.ModelProto]
    family: str
    fp16: tuple[str, ...] = ()
    part: tuple[int, int] | str = ""


_STEPS = {  # ResNet-34, in the order in which its operations run
    "Conv_219+BN_220+Relu_221+MaxPool_222": 0,
    "MaxPool_222": 1,
    "Conv_223+BN_224+Relu_225": 2,
    "Conv_230+BN_231+Relu_232": 4,
    "Conv_237+BN_238+Relu_239": 6,
    "Conv_240+BN_241+Add_242+Relu_243": 7,
}
_LAST_THREE = ("/model.24/m.*/Conv",)
_ENDS = ("/head/*/last/Conv",)
_NETWORKS = {
    "RetinaNet ResNeXt-50": Recipe(residual.retinanet, "RetinaNet ResNeXt-50"),
    "ResNet-34 backbone (retinanet dummy)": Recipe(residual.resnet34_backbone, "ResNet-34"),
    "SSD-ResNet-34": Recipe(residual.ssd_resnet34, "SSD-ResNet-34"),
    "ResNet-50 v1": Recipe(residual.resnet50_prepared, "ResNet-50"),
    "ResNet-50 torchvision": Recipe(residual.resnet50, "ResNet-50"),
    # its build script names the last convolution but three, too
    "YOLOv5s trimmed (3 last convs FP16)": Recipe(
        lambda n: yolo.yolov5s(batch=n), "YOLOv5s", (*_LAST_THREE, "/model.23/cv3/conv/Conv")
    ),
    "YOLOv5s trimmed, int8:hwc4 in + int8:chw32 out": Recipe(
        lambda n: yolo.yolov5s(batch=n), "YOLOv5s"
    ),
    "YOLOv5s v7.0, 57 of 60 conv int8": Recipe(
        lambda n: yolo.yolov5s(batch=n), "YOLOv5s", _LAST_THREE
    ),
    "YOLOv5su, ~92 % conv int8": Recipe(
        lambda n: yolo.yolov5s(batch=n, free=True), "YOLOv5su", _ENDS
    ),
    "YOLOv8s, 65 of 71 conv int8": Recipe(lambda n: yolo.yolov8s(batch=n), "YOLOv8s", _ENDS),
    # twelve convolutions with 9.1 % of the multiplications: those of boxes have 8.8 %
    "YOLOv8s, 59 of 71 conv int8": Recipe(
        lambda n: yolo.yolov8s(batch=n), "YOLOv8s", ("/head/boxes*", *_ENDS)
    ),
    "ModelBN (4 conv s2 + BN + ReLU, GAP on GPU, Linear)": Recipe(small.model_bn, "ModelBN"),
    "SSD-MobileNetV1": Recipe(small.ssd_mobilenet, "SSD-MobileNetV1"),
    "GoogLeNet (Caffe)": Recipe(lambda n: small.googlenet(n)[0], "GoogLeNet"),
    "YOLOv4": Recipe(lambda n: yolo.yolov4(batch=n), "YOLOv4"),
    "YOLO11n": Recipe(lambda n: yolo.yolo11n(batch=n), "YOLO11n"),
}
_BOARDS = {
    "Jetson AGX Orin 64GB": "orin",
    "Jetson AGX Orin": "orin",
    "Orin (board not stated)": "orin",
    "Orin-X (DRIVE)": "drive-orin",
    "Jetson AGX Xavier": "xavier",
    "Jetson AGX Xavier 32GB": "xavier",
    "Jetson Xavier NX": "xavier-nx",
    "Jetson Orin NX 16GB Super": "orin-nx",
    "Jetson with DLA (module not stated)": "orin-nx",
}
_MODES = {"MaxP": "MAXN", "MAXN_SUPER, jetson_clocks": "MAXN_SUPER"}
_FACTORY = {"orin": "30W"}
"""The mode of a board that nobody has changed (recalled); for rows that state neither mode nor
clock."""


MEASURED, EXPECTED, MIXED = "measured", "expected", "with the GPU"
"""A log or a report; a rounded expectation in a configuration; a time in which layers on the GPU,
or its other work, have a part that nobody states (nothing is fitted on these)."""
_WITH_GPU = ("while the GPU runs", "fallback", "attention", "latency, DLA0")


@dataclass(frozen=True)
class Row:
    """*ms*: of one batch on one core. *cores* ran at once. *kind*: MEASURED, EXPECTED or MIXED."""

    id: str
    what: str
    recipe: Recipe
    batch: int
    int8: bool
    sparse: bool
    board: str
    mode: str
    clock: float | None
    cores: int
    ms: float
    kind: str
    note: str

    @property
    def family(self) -> str:
        return self.recipe.family


def rows() -> list[Row]:
    return [_row(entry) for entry in json.loads(FILE.read_text())]


def _row(entry: dict[str, Any]) -> Row:
    board = _BOARDS[entry["board"]]
    stated = entry["power_mode"]
    mode = _MODES.get(stated, stated)
    if "not" in stated or board == "xavier-nx":  # its 15W has the clock of the only mode known
        mode = "" if entry["dla_clock_mhz"] else _FACTORY.get(board, "")
    unit, value, batch = entry["unit"], float(entry["value"]), int(entry["batch"])
    cores = 2 if "2 DLA" in unit else 1
    if unit.startswith("images/s"):
        ms = 1e3 * cores * batch / value
    else:
        ms = 1e3 / value if unit == "batches/s" else value
    return Row(
        id=entry["id"],
        what=entry["network"],
        recipe=_recipe(entry["network"], entry["quantity"]),
        batch=batch,
        int8="int8" in entry["precision"],
        sparse="sparse" in entry["precision"],
        board=board,
        mode=mode,
        clock=entry["dla_clock_mhz"],
        cores=cores,
        ms=ms,
        kind=_kind(entry),
        note=entry["note"],
    )


def _kind(entry: dict[str, Any]) -> str:
    if "expectation" in entry["quantity"]:
        return EXPECTED
    words = entry["quantity"] + entry["network"]
    alone = "GPU idle" in words
    return MIXED if not alone and any(word in words for word in _WITH_GPU) else MEASURED


def _recipe(network: str, quantity: str) -> Recipe:
    if network in _NETWORKS:
        return _NETWORKS[network]
    if found := re.search(r"^ResNet-34 .* layer (\S+)$", network):
        step = _STEPS[found[1]]
        return Recipe(residual.resnet34_backbone, "ResNet-34", part=(step, step + 1))
    if network.startswith("ResNet-34 backbone, first 9"):
        return Recipe(residual.resnet34_backbone, "ResNet-34", part=(0, 9))
    if found := re.search(r"^GoogLeNet \(Caffe\) layer group (\d+)-(\d+)$", network):
        first, last = int(found[1]), int(found[2])
        return Recipe(lambda n: small.googlenet(n)[0], "GoogLeNet", part=f"layers {first} {last}")
    if network.startswith("YOLO26/YOLO11n-pose"):
        part = "only /model.10/*" if "only" in quantity else ""
        part = "but /model.10/*" if "hybrid" in quantity else part
        return Recipe(lambda n: yolo.yolo11n(batch=n, pose=True), "YOLO11n-pose", part=part)
    raise LookupError(f"no recipe for {network}")
