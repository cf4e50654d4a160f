"""The named networks: how each is made and exported."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import onnx
import torch
from torch import nn
from torchvision import models

from . import alexnet, classifiers, detectors, segmenters
from .blocks import settle
from .pictures import pictures

Shape = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Recipe:
    """*make* gives a torch module. *keep_bn* exports batch normalisations as nodes of their own."""

    make: Callable[[], nn.Module]
    shape: Shape
    opset: int
    keep_bn: bool = False
    shift: float = 0.7
    exporter: str = "old"


def _plain(function: Callable[..., nn.Module], **options: object) -> Callable[[], nn.Module]:
    return lambda: function(weights=None, **options)


PICTURE: Shape = (1, 3, 224, 224)
RECIPES: dict[str, Recipe] = {
    "lenet": Recipe(classifiers.Lenet, (1, 1, 28, 28), 11),
    "resnet8_cifar": Recipe(classifiers.resnet8, (1, 3, 32, 32), 13),
    "mobilenet_v1_025_vww": Recipe(classifiers.MobilenetVww, (1, 3, 96, 96), 13, shift=2.0),
    "resnet18": Recipe(_plain(models.resnet18), PICTURE, 17),
    "resnet50": Recipe(_plain(models.resnet50), PICTURE, 13),
    "resnext50_32x4d": Recipe(_plain(models.resnext50_32x4d), PICTURE, 13),
    "vgg16": Recipe(_plain(models.vgg16), PICTURE, 13),
    "squeezenet1_1": Recipe(_plain(models.squeezenet1_1), PICTURE, 9),
    "inception_v3": Recipe(
        _plain(models.inception_v3, aux_logits=False, init_weights=True, transform_input=False),
        (1, 3, 299, 299),
        13,
        keep_bn=True,
    ),
    "mobilenet_v2": Recipe(_plain(models.mobilenet_v2), PICTURE, 13),
    "mobilenet_v3_large": Recipe(_plain(models.mobilenet_v3_large), PICTURE, 17),
    "yolov3_tiny": Recipe(detectors.Yolov3Tiny, (1, 3, 416, 416), 12),
    "yolov5s": Recipe(detectors.Yolov5s, (1, 3, 640, 640), 12),
    "yolov5s_320": Recipe(detectors.Yolov5s, (1, 3, 320, 320), 12),
    "unet_bilinear": Recipe(segmenters.Unet, (1, 3, 256, 256), 13),
    "lraspp_mobilenet_v3": Recipe(segmenters.Lraspp, (1, 3, 320, 320), 16),
    "espcn_x3": Recipe(classifiers.espcn, (1, 1, 120, 160), 13),
    "mtcnn_onet": Recipe(classifiers.Onet, (1, 3, 48, 48), 11),
    "resnet18_dynamo": Recipe(_plain(models.resnet18), PICTURE, 18, exporter="dynamo"),
}
OTHERS = ("alexnet_lrn", "resnet18_qdq")
NAMES = (*RECIPES, *OTHERS)


def _export(recipe: Recipe, seed: int) -> bytes:
    torch.manual_seed(seed)
    torch.set_num_threads(2)
    samples = torch.from_numpy(pictures(seed + 100, 8, recipe.shape))
    model = settle(recipe.make(), samples, seed, recipe.shift)
    target = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            (samples[:1],),
            target,
            opset_version=recipe.opset,
            dynamo=recipe.exporter == "dynamo",
            training=torch.onnx.TrainingMode.PRESERVE
            if recipe.keep_bn
            else torch.onnx.TrainingMode.EVAL,
        )
    return target.getvalue()


def _quantised(source: Path, target: Path) -> None:
    from onnxruntime import quantization as q

    from .baseline import Feeder

    q.quantize_static(
        str(source),
        str(target),
        Feeder(source, pictures(7, 8, PICTURE)),
        quant_format=q.QuantFormat.QDQ,
        per_channel=True,
        activation_type=q.QuantType.QInt8,
        weight_type=q.QuantType.QInt8,
        extra_options={"ActivationSymmetric": True, "WeightSymmetric": True},
    )


def model(name: str, folder: Path, seed: int = 1) -> Path:
    """The ONNX file of a network, made when it is not in *folder*."""
    file = folder / f"{name}.onnx"
    if file.exists():
        return file
    folder.mkdir(parents=True, exist_ok=True)
    made = file.with_suffix(".part")
    if name == "alexnet_lrn":
        made.write_bytes(alexnet.alexnet_lrn(seed).SerializeToString())
    elif name == "resnet18_qdq":
        _quantised(model("resnet18", folder, seed), made)
    else:
        made.write_bytes(_export(RECIPES[name], seed))
    return made.rename(file)


def input_of(file: Path) -> tuple[str, Shape]:
    """Name and shape of the (only) input."""
    proto = onnx.load(file)
    constants = {item.name for item in proto.graph.initializer}
    (found,) = (item for item in proto.graph.input if item.name not in constants)
    sizes = [dim.dim_value or 1 for dim in found.type.tensor_type.shape.dim]
    n, c, h, w = sizes
    return found.name, (n, c, h, w)


def samples(file: Path, seed: int, count: int) -> list[dict[str, np.ndarray]]:
    """Pictures for a network."""
    name, shape = input_of(file)
    return [{name: item[None]} for item in pictures(seed, count, shape)]
