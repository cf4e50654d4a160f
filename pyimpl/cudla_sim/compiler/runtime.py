"""onnxruntime, imported when it is needed: the float reference, and nodes left to the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .errors import CompileError

if TYPE_CHECKING:
    import onnx


def session(model: onnx.ModelProto | bytes) -> Any:
    """An ``InferenceSession`` on the CPU that computes what the model says, node by node.

    Without optimisations: onnxruntime merges Pad and MaxPool as if zeros were minus infinity.
    """
    try:
        import onnxruntime
    except ImportError:
        raise CompileError("onnxruntime is missing: pip install 'cudla-sim[onnx]'") from None
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    data = model if isinstance(model, bytes) else model.SerializeToString()
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
