"""Trains two networks on scikit-learn's digits and writes them as ONNX, as a training tool would.

    python export.py FOLDER

Writes ``digits_relu.onnx``, ``digits_silu.onnx`` (a Sigmoid and a Mul for each activation, the way
PyTorch exports SiLU) and ``training.npy``, pictures for the calibration.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cudla" / "model"))

from train import digits, relu, silu, train  # the network and its training

Array = NDArray[np.float32]


def model(arrays: dict[str, Array], activation: str) -> onnx.ModelProto:
    """Convolution, activation, pooling, twice; then a classifier. Opset 13."""
    nodes, last = [], "image"
    for number in (1, 2):
        names = [last, f"conv{number}.weight", f"conv{number}.bias"]
        nodes.append(helper.make_node("Conv", names, [f"conv{number}"], pads=[1, 1, 1, 1]))
        if activation == "silu":
            nodes.append(helper.make_node("Sigmoid", [f"conv{number}"], [f"sigmoid{number}"]))
            both = [f"conv{number}", f"sigmoid{number}"]
            nodes.append(helper.make_node("Mul", both, [f"active{number}"]))
        else:
            nodes.append(helper.make_node("Relu", [f"conv{number}"], [f"active{number}"]))
        last = f"pool{number}"
        window = {"kernel_shape": [2, 2], "strides": [2, 2]}
        nodes.append(helper.make_node("MaxPool", [f"active{number}"], [last], **window))
    nodes.append(helper.make_node("Flatten", [last], ["features"]))
    names = ["features", "fc.weight", "fc.bias"]
    nodes.append(helper.make_node("Gemm", names, ["digit"], transB=1))
    for node in nodes:
        node.name = node.output[0]
    stored = {**arrays, "fc.weight": arrays["fc.weight"].reshape(10, -1)}
    graph = helper.make_graph(
        nodes,
        f"digits_{activation}",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("digit", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(array.astype(np.float32), k) for k, array in stored.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(made)
    return made


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, activation in (("relu", relu), ("silu", silu)):
        print(f"{name}: ", end="", flush=True)
        onnx.save(model(train(activation), name), folder / f"digits_{name}.onnx")
    np.save(folder / "training.npy", digits()[0][:256])


if __name__ == "__main__":
    main()
