"""onnxruntime as the compiler uses it: the float network, tensor by tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from cudla_sim.nvdla.parts import host

from .errors import CompileError

if TYPE_CHECKING:
    import onnx


class Session:
    """A model ready to run on the CPU."""

    def __init__(self, running: host.Session) -> None:
        self._running = running

    def run(self, names: Sequence[str] | None, feeds: Mapping[str, Any]) -> list[Any]:
        """The named tensors (or all outputs) for *feeds*. Raises CompileError."""
        try:
            return self._running.run(names, feeds)
        except host.HostError as error:
            raise CompileError(str(error)) from None


def session(
    model: onnx.ModelProto | bytes, constants: Mapping[str, NDArray[Any]] | None = None
) -> Session:
    """A session on the CPU, as ``host.session``. Raises CompileError for a model that onnxruntime
    refuses."""
    data = model if isinstance(model, bytes) else model.SerializeToString()
    try:
        return Session(host.session(data, constants))
    except host.HostError as error:
        raise CompileError(str(error)) from None
