"""Resize as the DLA has it: scales instead of sizes, positions that come to the same."""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np

from .edit import Edit, NotPossible
from .registry import rewrites

if TYPE_CHECKING:
    import onnx

NEAREST_SCALE, LINEAR_SCALE = 32, 4
"""Developer guide 8.4, Resize: integers of 1 to 32 (nearest), 1 to 4 (linear)."""


def position(mode: str, index: int, size: int, result: int) -> float:
    """Where an element of the result lies in the input (ONNX, Resize)."""
    scale = result / size
    if mode == "align_corners":
        return index * (size - 1) / (result - 1) if result > 1 else 0.0
    if mode == "asymmetric":
        return index / scale
    if mode == "pytorch_half_pixel" and result == 1:
        return 0.0
    if mode in ("half_pixel", "pytorch_half_pixel"):
        return (index + 0.5) / scale - 0.5
    raise NotPossible(f"positions by {mode}")


def nearest(rounding: str, place: float) -> int:
    """The element that is taken there."""
    if rounding == "floor":
        return floor(place)
    if rounding == "ceil":
        return ceil(place)
    whole = floor(place)
    if place - whole == 0.5:
        return whole if rounding == "round_prefer_floor" else whole + 1
    return floor(place + 0.5)


def _scales(edit: Edit, node: onnx.NodeProto) -> list[int]:
    """Of H and W. Raises NotPossible for others than integers."""
    before, after = edit.picture(node.input[0]), edit.picture(node.output[0])
    if before[:2] != after[:2]:
        raise NotPossible("it scales the batch or the channels")
    found = [b / a for a, b in zip(before[2:], after[2:], strict=True)]
    most = LINEAR_SCALE if edit.attribute(node, "mode", "nearest") == "linear" else NEAREST_SCALE
    if any(scale != int(scale) or not 1 <= scale <= most for scale in found):
        raise NotPossible(f"its scales are {found[0]:g} and {found[1]:g}; integers up to {most} go")
    return [int(scale) for scale in found]


def _put(edit: Edit, node: onnx.NodeProto, scales: list[int], **attributes: str) -> None:
    if edit.opset < 11:
        raise NotPossible("Resize before opset 11 has no such modes")
    name = edit.constant(np.array([1, 1, *scales], np.float32), f"{node.name}/scales")
    inputs = [node.input[0], "", name]
    made = edit.make("Resize", inputs, f"{node.name}/scaled", node.output, **attributes)
    edit.put([node], [made])


@rewrites("resize-scales", "Resize")
def by_scales(edit: Edit, node: onnx.NodeProto) -> str:
    attributes = {a.name: edit.attribute(node, a.name) for a in node.attribute}
    if attributes.get("axes") or attributes.get("antialias") or attributes.get(
        "coordinate_transformation_mode"
    ) in ("tf_crop_and_resize", "align_corners"):  # fmt: skip
        raise NotPossible("axes, antialias, crops and aligned corners are not rewritten")
    attributes.pop("keep_aspect_ratio_policy", None)
    scales = _scales(edit, node)
    _put(edit, node, scales, **attributes)
    return f"scales {scales[0]} and {scales[1]}"


@rewrites("resize-places", "Resize")
def same_places(edit: Edit, node: onnx.NodeProto) -> str:
    """Other modes that take the same elements: asymmetric with floor, or half_pixel."""
    scales = _scales(edit, node)
    places = edit.attribute(node, "coordinate_transformation_mode", "half_pixel")
    sizes, results = edit.picture(node.input[0])[2:], edit.picture(node.output[0])[2:]
    if edit.attribute(node, "mode", "nearest") == "linear":
        same = all(
            position(places, i, size, result) == position("half_pixel", i, size, result)
            for size, result in zip(sizes, results, strict=True)
            for i in range(result)
        )
        if not same:
            raise NotPossible(f"{places} takes other places than half_pixel")
        _put(edit, node, scales, mode="linear", coordinate_transformation_mode="half_pixel")
        return "half_pixel, which comes to the same"
    rounding = edit.attribute(node, "nearest_mode", "round_prefer_floor")
    same = all(
        min(max(nearest(rounding, position(places, i, size, result)), 0), size - 1) == i // scale
        for size, result, scale in zip(sizes, results, scales, strict=True)
        for i in range(result)
    )
    if not same:
        raise NotPossible(f"{places} with {rounding} takes other elements than asymmetric, floor")
    _put(
        edit, node, scales, mode="nearest", coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )  # fmt: skip
    return "asymmetric with floor, which comes to the same"
