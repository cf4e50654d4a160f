"""What the runtime's functions have in common: the checks before, the last error after."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from ...constants import cudart_parameters
from ...constants.cudart import cudaError as Status
from ...core.errors import ApiError
from ...core.handles import BadHandle
from ...core.memory import MemoryFault
from ...core.shortage import shortage
from ...cudart import context, device
from ...cudart.context import Context
from ...cudart.errors import CudaError, invalid_value
from ..embedding import address
from ..entry import Family, Handler


class InjectedError(CudaError):
    """A fault rule fails a call before its handler runs; the thread has to remember it too."""

    def __init__(self, status: int, explanation: str) -> None:
        super().__init__(status, explanation)
        context.current().thread.last_error = self.status


class Runtime(Family):
    """The runtime: every failure becomes the calling thread's last error."""

    def status_of(self, error: BaseException) -> int:
        if isinstance(error, ApiError):
            return error.status
        if isinstance(error, BadHandle):
            return self.bad_handle
        if isinstance(error, MemoryFault):
            return self.bad_memory
        return self.no_memory if shortage(error) else self.unknown

    def export(
        self,
        name: str,
        *,
        failure: Any = None,
        status: bool = True,
        always: bool = False,
        ruined: str = "refuse",
    ) -> Callable[[Handler], Handler]:
        """Attaches a handler that needs a device.

        ``ruined``: what happens once asynchronous work ruined the context: ``refuse`` answers
        its error at once, ``report`` does its work first (freeing), ``ignore`` does not look at
        it, and does not need a device either. ``always``: needs nothing and cannot fail.
        """
        attach = super().export(name, failure=failure, status=status, always=always)
        return attach if always else self._checking(attach, ruined)

    def export_as(
        self, shown: str, name: str, *, failure: Any = None, status: bool = True
    ) -> Callable[[Handler], Handler]:
        """The same for a private function of shim/, refused once the context is ruined."""
        return self._checking(
            super().export_as(shown, name, failure=failure, status=status), "refuse"
        )

    def _checking(
        self, attach: Callable[[Handler], Handler], ruined: str
    ) -> Callable[[Handler], Handler]:
        def decorate(handler: Handler) -> Handler:
            @wraps(handler)
            def checked(*args: Any) -> Any:
                current = context.current()
                try:
                    if ruined != "ignore":
                        enter(current)
                    if ruined == "refuse":
                        current.check()
                    result = handler(*args)
                    if ruined == "report":
                        current.check()
                except BaseException as error:
                    current.thread.last_error = self.status_of(error)
                    raise
                return result

            attach(checked)
            return handler

        return decorate


cudart = Runtime("cudart", Status, cudart_parameters, error=InjectedError)

null = partial(cudart.require, Status.cudaErrorInvalidValue)


def enter(current: Context) -> None:
    """For a call that needs a device. Raises CudaError: NoDevice, or NotPermitted from inside a
    host function.
    """
    if current.calls.inside():
        raise CudaError(
            Status.cudaErrorNotPermitted, "a host function in a stream must not call CUDA"
        )
    device.require(current.devices, current.thread.device)
    current.driver_initialized = True  # the runtime's first call does what cuInit does
    if not current.thread.driver_context:  # else it works with that one, whichever it is
        current.thread.uses_runtime = True


def required_flags(flags: int, allowed: int, names: str) -> None:
    """Raises CudaError (InvalidValue) for a flag that does not exist."""
    if flags & ~allowed:
        raise invalid_value(f"flags is {flags:#x}; {names}")


number = address
"""The address or handle value in a pointer argument."""
