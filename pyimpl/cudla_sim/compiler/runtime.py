"""onnxruntime, imported when it is needed: the float reference, and nodes left to the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from .errors import CompileError

if TYPE_CHECKING:
    import onnx


def session(
    model: onnx.ModelProto | bytes, constants: Mapping[str, NDArray[Any]] | None = None
) -> Any:
    """An ``InferenceSession`` on the CPU that computes what the model says, node by node.

    *constants* are those that the model says to be elsewhere, by name; they are used in place.
    Without optimisations: onnxruntime merges Pad and MaxPool as if zeros were minus infinity.
    """
    try:
        import onnxruntime
    except ImportError:
        raise CompileError("onnxruntime is missing: pip install 'cudla-sim[onnx]'") from None
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    outside = constants or {}
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in outside.values()]
    if values:
        options.add_external_initializers(list(outside), values)
    data = model if isinstance(model, bytes) else model.SerializeToString()
    made = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    made.kept = (values, outside)  # they must live as long as the session
    return made
