"""What only moves elements, as layers that the DLA has: convolutions of ones and zeros, pools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..rules.rule import most
from .edit import Edit, NotPossible
from .pools import KERNEL, depthwise
from .registry import rewrites

if TYPE_CHECKING:
    import onnx

STRIDE = most("pooling-stride")


def _ranges(edit: Edit, node: onnx.NodeProto) -> dict[int, range]:
    """What a Slice takes of each axis that it cuts."""
    shape = edit.shape(node.input[0])
    if edit.opset < 10:
        starts, ends = edit.attribute(node, "starts"), edit.attribute(node, "ends")
        axes = edit.attribute(node, "axes", list(range(len(starts))))
        steps = [1] * len(starts)
    else:
        arrays = [edit.given(node, i) for i in range(1, len(node.input))]
        if any(a is None and edit.input(node, i) for i, a in enumerate(arrays, 1)):
            raise NotPossible("its start, end or steps are computed at run time")
        lists = [a.reshape(-1).tolist() if a is not None else [] for a in arrays]
        starts, ends, axes, steps = (*lists, [], [])[:4]
        axes = axes or list(range(len(starts)))
        steps = steps or [1] * len(starts)
    found = {}
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        axis %= len(shape)
        taken = range(shape[axis])[slice(int(start), int(end), int(step))]
        if taken != range(shape[axis]):
            found[axis] = taken
    return found


@rewrites("slice-stride", "Slice")
def strided(edit: Edit, node: onnx.NodeProto) -> str:
    """A Slice where it begins, then a pool of one element with the stride."""
    value = node.input[0]
    edit.picture(value)
    ranges = _ranges(edit, node)
    if set(ranges) - {2, 3} or any(r.step < 1 or not len(r) for r in ranges.values()):
        raise NotPossible("it goes backwards, takes nothing, or cuts other axes than H and W")
    steps = [ranges[axis].step if axis in ranges else 1 for axis in (2, 3)]
    if max(steps) > STRIDE:
        raise NotPossible(f"its stride is above {STRIDE}")
    begins = {
        a: (r.start, (r.start + (len(r) - 1) * r.step) + 1)
        for a, r in ranges.items()
        if r.start or r[-1] + r.step < edit.shape(value)[a]
    }
    made = []
    if begins:
        made.append(edit.slice(value, begins, f"{node.name}/begin", ()))
        value = made[0].output[0]
    made.append(
        edit.make(
            "MaxPool", [value], f"{node.name}/stride", node.output,
            kernel_shape=[1, 1], strides=steps,
        )
    )  # fmt: skip
    edit.put([node], made)
    return ("a Slice, then " if begins else "") + f"MaxPool 1 x 1 of stride {steps[0]}, {steps[1]}"


@rewrites("select-channels", "Gather")
def select(edit: Edit, node: onnx.NodeProto) -> str:
    """A Gather of channels: a 1 x 1 convolution."""
    value = edit.varying(node)
    channels = edit.picture(value)[1]
    indices = edit.given(node, 1)
    if edit.attribute(node, "axis", 0) % 4 != 1 or indices is None or indices.ndim != 1:
        raise NotPossible("it does not gather channels by a constant list")
    kernel = np.zeros((len(indices), channels, 1, 1))
    kernel[np.arange(len(indices)), indices % channels] = 1
    name = edit.constant(kernel, f"{node.name}/kernel", value)
    edit.put([node], [edit.make("Conv", [value, name], f"{node.name}/conv", node.output)])
    return "a 1 x 1 convolution of ones and zeros"


@rewrites("depth-to-space", "DepthToSpace")
def depth_to_space(edit: Edit, node: onnx.NodeProto) -> str:
    """A deconvolution of ones and zeros whose kernel is the block."""
    value = node.input[0]
    channels = edit.picture(value)[1]
    block = int(edit.attribute(node, "blocksize"))
    results = channels // block**2
    kernel = np.zeros((channels, results, block, block))
    for c in range(channels):
        if edit.attribute(node, "mode", "DCR") == "CRD":
            place, result = c % block**2, c // block**2
        else:
            place, result = c // results, c % results
        kernel[c, result, place // block, place % block] = 1
    name = edit.constant(kernel, f"{node.name}/kernel", value)
    made = edit.make(
        "ConvTranspose", [value, name], f"{node.name}/conv", node.output, strides=[block, block]
    )
    edit.put([node], [made])
    return f"a deconvolution of {block} x {block}, of ones and zeros"


@rewrites("space-to-depth", "SpaceToDepth")
def space_to_depth(edit: Edit, node: onnx.NodeProto) -> str:
    value = node.input[0]
    channels = edit.picture(value)[1]
    block = int(edit.attribute(node, "blocksize"))
    kernel = np.zeros((channels * block**2, channels, block, block))
    for c in range(channels):
        for place in range(block**2):
            kernel[place * channels + c, c, place // block, place % block] = 1
    name = edit.constant(kernel, f"{node.name}/kernel", value)
    made = edit.make(
        "Conv", [value, name], f"{node.name}/conv", node.output, strides=[block, block]
    )
    edit.put([node], [made])
    return f"a convolution of {block} x {block} with stride {block}, of ones and zeros"


@rewrites("deconvolution-padding", "ConvTranspose")
def without_padding(edit: Edit, node: onnx.NodeProto) -> str:
    """A deconvolution without padding, and a Slice that cuts the edges off."""
    get = edit.attribute
    if get(node, "auto_pad", "NOTSET") != "NOTSET" or get(node, "output_shape"):
        raise NotPossible("auto_pad and output_shape are not rewritten")
    pads = get(node, "pads", [0, 0, 0, 0])
    more = get(node, "output_padding", [0, 0])
    if len(pads) != 4 or any(m > p for m, p in zip(more, pads[2:], strict=True)):
        raise NotPossible("its output padding is more than the padding at the end")
    attributes = {
        a.name: get(node, a.name) for a in node.attribute
        if a.name not in ("pads", "output_padding", "auto_pad")
    }  # fmt: skip
    _, _, height, width = edit.picture(node.output[0])
    hint = f"{node.name}/whole"
    made = edit.make("ConvTranspose", list(node.input), hint, **attributes)
    cut = {2: (pads[0], pads[0] + height), 3: (pads[1], pads[1] + width)}
    sliced = edit.slice(made.output[0], cut, f"{node.name}/inside", node.output)
    edit.put([node], [made, sliced])
    return "a deconvolution without padding, then a Slice"


@rewrites("pad", "Pad")
def pad(edit: Edit, node: onnx.NodeProto) -> str:
    """Zeros around a picture: into the convolution that reads them, or a convolution of its own."""
    if edit.attribute(node, "mode", "constant") != "constant":
        raise NotPossible("it does not pad with zeros")
    given = edit.given(node, 1) if edit.opset >= 11 else edit.attribute(node, "pads")
    fill = edit.given(node, 2)
    value = edit.attribute(node, "value", 0.0) if fill is None else float(fill.reshape(-1)[0])
    if given is None or value != 0 or edit.input(node, 3):
        raise NotPossible("its sizes are computed, or it does not pad with zeros")
    pads = [int(p) for p in given]
    n = edit.picture(node.input[0])
    if len(pads) != 2 * len(n) or any(pads[:2] + pads[4:6]) or min(pads) < 0:
        raise NotPossible("it pads the batch or the channels, or cuts")
    around = [pads[2], pads[3], pads[6], pads[7]]
    return _into_reader(edit, node, around) or _as_convolution(edit, node, around)


def _into_reader(edit: Edit, node: onnx.NodeProto, around: list[int]) -> str:
    readers = edit.readers(node.output[0])
    if len(readers) != 1 or readers[0].op_type != "Conv" or node.output[0] in edit.results:
        return ""
    (reader,) = readers
    kernel = edit.given(reader, 1)
    if kernel is None or edit.attribute(reader, "auto_pad", "NOTSET") != "NOTSET":
        return ""
    attributes = {a.name: edit.attribute(reader, a.name) for a in reader.attribute}
    dilations = attributes.get("dilations", [1, 1])
    sizes = [(k - 1) * d + 1 for k, d in zip(kernel.shape[2:], dilations, strict=True)]
    pads = [p + q for p, q in zip(attributes.get("pads", [0] * 4), around, strict=True)]
    if any(p >= sizes[i % 2] for i, p in enumerate(pads)):
        return ""
    attributes["pads"] = pads
    made = edit.make(
        "Conv", [node.input[0], *reader.input[1:]], f"{reader.name}/padded", reader.output,
        **attributes,
    )  # fmt: skip
    edit.put([node, reader], [made])
    return f"padding of {reader.name or reader.output[0]}"


def _as_convolution(edit: Edit, node: onnx.NodeProto, around: list[int]) -> str:
    """Kernel 2p + 1 with a one in the middle and padding 2p: p zeros more on each side."""
    size = [2 * max(around[i], around[i + 2]) + 1 for i in (0, 1)]
    if max(size) > KERNEL:
        raise NotPossible(f"it pads with {max(around)}; up to {(KERNEL - 1) // 2} go")
    kernel = np.zeros(size)
    kernel[size[0] // 2, size[1] // 2] = 1
    pads = [around[i] + size[i % 2] // 2 for i in range(4)]
    value = node.input[0]
    made = depthwise(
        edit, value, kernel, f"{node.name}/conv", edit.picture(value)[1], outputs=node.output,
        pads=pads,
    )  # fmt: skip
    edit.put([node], [made])
    return f"a depthwise convolution of {size[0]} x {size[1]} with padding"
