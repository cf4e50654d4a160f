"""onnxruntime, imported when it is needed: the float reference, and nodes left to the host."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from ...core import process
from ..errors import NvdlaError, Status
from .settings import Settings

EXTRA = "pip install 'cudla-sim[onnx]'"
_FATAL = 4
"""onnxruntime's severity: what is wrong arrives as an exception and need not be printed, too."""


class HostError(NvdlaError):
    """A part on the host cannot be loaded or run: one sentence."""

    def __init__(self, message: str) -> None:
        super().__init__(message, Status.NOT_SUPPORTED)


class TooLong(HostError):
    """It was ended, because it took longer than it may."""


class Session:
    """A model ready to run on the CPU."""

    def __init__(self, running: Any, kept: Any) -> None:
        self._running = running
        self._kept = kept  # constants used in place must live as long as the session

    def run(
        self, names: Sequence[str] | None, feeds: Mapping[str, Any], seconds: float | None = None
    ) -> list[Any]:
        """The named tensors (or all outputs) for *feeds*.

        Raises HostError for what onnxruntime cannot do, TooLong for what takes longer than
        *seconds*, or the setting ``host_seconds``.
        """
        import onnxruntime

        limit = process.current().config.of(Settings).host_seconds
        which = "CUDLA_SIM_HOST_SECONDS"
        if seconds is not None and seconds < limit:
            limit, which = max(seconds, 1e-3), "what the task had left"
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
                raise TooLong(
                    f"a part of the model ran on the host for more than {limit:g} s ({which})"
                ) from None
            raise HostError(f"onnxruntime: {_line(error)}") from None
        finally:
            timer.cancel()

    def input_types(self) -> dict[str, str]:
        """onnxruntime's words for the inputs' types, as "tensor(float)", by name."""
        return {item.name: item.type for item in self._running.get_inputs()}

    def output_names(self) -> list[str]:
        """In the model's order."""
        return [item.name for item in self._running.get_outputs()]


def session(data: bytes, constants: Mapping[str, NDArray[Any]] | None = None) -> Session:
    """A session on the CPU that computes what a serialised model says, node by node.

    *constants* are those that the model says to be elsewhere, by name; they are used in place.
    Without optimisations: onnxruntime merges Pad and MaxPool as if zeros were minus infinity.
    Raises HostError for a model that onnxruntime refuses, and where it is not installed.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # compiling is nobody else's business
    try:
        import onnxruntime
    except ImportError:
        raise HostError(f"onnxruntime is missing: {EXTRA}") from None
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = _FATAL
    outside = constants or {}
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in outside.values()]
    if values:
        options.add_external_initializers(list(outside), values)
    try:
        made = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its classes have no base of their own
        raise HostError(f"onnxruntime: {_line(error)}") from None
    return Session(made, (values, outside))


def has_external_data(data: bytes) -> bool:
    """Whether a serialised model wants data from other files. Raises HostError for what is no
    model."""
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError:
        raise HostError(f"parts on the host need the package onnx: {EXTRA}") from None
    try:
        proto = onnx.load_model_from_string(data)
        return any(
            tensor.data_location == onnx.TensorProto.EXTERNAL
            for tensor in onnx.external_data_helper._get_all_tensors(proto)
        )
    except (DecodeError, ValueError, TypeError, RuntimeError, RecursionError) as error:
        raise HostError(f"no ONNX model (protobuf): {_line(error)}") from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
