"""onnxruntime, imported when it is needed: the float reference, and nodes left to the host."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from cudla_sim.core import process

from .errors import CompileError
from .settings import Settings

if TYPE_CHECKING:
    import onnx


_FATAL = 4
"""onnxruntime's severity: what is wrong arrives as an exception and need not be printed, too."""


class Session:
    """A model ready to run on the CPU."""

    def __init__(self, running: Any, kept: Any) -> None:
        self._running = running
        self._kept = kept  # constants used in place must live as long as the session

    def run(self, names: Sequence[str] | None, feeds: Mapping[str, Any]) -> list[Any]:
        """The named tensors (or all outputs) for *feeds*.

        Raises CompileError for what onnxruntime cannot do, and what takes longer than the setting
        ``host_seconds``.
        """
        import onnxruntime

        limit = process.current().config.of(Settings).host_seconds
        options = onnxruntime.RunOptions()
        options.log_severity_level = _FATAL
        late = threading.Event()

        def stop() -> None:
            late.set()
            options.terminate = True

        timer = threading.Timer(limit, stop)
        timer.daemon = True
        timer.start()
        try:
            return list(self._running.run(names, dict(feeds), options))
        except Exception as error:  # its classes have no base of their own
            if late.is_set():
                raise CompileError(
                    f"a part of the model ran on the host for more than {limit:g} s"
                    " (CUDLA_SIM_HOST_SECONDS)"
                ) from None
            raise CompileError(f"onnxruntime: {_line(error)}") from None
        finally:
            timer.cancel()

    def input_types(self) -> dict[str, str]:
        """onnxruntime's words for the inputs' types, as "tensor(float)", by name."""
        return {item.name: item.type for item in self._running.get_inputs()}


def session(
    model: onnx.ModelProto | bytes, constants: Mapping[str, NDArray[Any]] | None = None
) -> Session:
    """A session on the CPU that computes what the model says, node by node.

    *constants* are those that the model says to be elsewhere, by name; they are used in place.
    Without optimisations: onnxruntime merges Pad and MaxPool as if zeros were minus infinity.
    Raises CompileError for a model that onnxruntime refuses.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # compiling is nobody else's business
    try:
        import onnxruntime
    except ImportError:
        raise CompileError("onnxruntime is missing: pip install 'cudla-sim[onnx]'") from None
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = _FATAL
    outside = constants or {}
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in outside.values()]
    if values:
        options.add_external_initializers(list(outside), values)
    data = model if isinstance(model, bytes) else model.SerializeToString()
    try:
        made = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its classes have no base of their own
        raise CompileError(f"onnxruntime: {_line(error)}") from None
    return Session(made, (values, outside))


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
