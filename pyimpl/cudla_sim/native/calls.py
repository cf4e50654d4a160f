"""Calling functions of the program (``shim/native/calls.c``, ``dpu_calls.c``).

Such a function may throw a C++ exception, call back into the API, or never return; none of that is
allowed below a Python frame, so each runs on a thread of its own.
"""

from __future__ import annotations

from .compiled import ffi, lib, pointer


class NoThread(MemoryError):
    """The system gave no thread; the function was not called."""

    def __init__(self, function: int) -> None:
        super().__init__(
            f"the system gives no thread (memory or process limit); the function at {function:#x} "
            "was not called"
        )


class Calls:
    """Functions are given as addresses. All raise NoThread."""

    inside = staticmethod(lib.sim_in_callback)
    """Whether the calling thread runs a function of the program (1) or not (0)."""

    dpu_token = staticmethod(lib.sim_dpu_token)
    """The ``token`` of the DPU callback that the calling thread runs, 0 elsewhere."""

    @staticmethod
    def dpu_token_address() -> int:
        """Where the C function of ``dpu_token`` lies, for other C code of this process."""
        return int(ffi.cast("uintptr_t", ffi.addressof(lib, "sim_dpu_token")))

    @staticmethod
    def host_function(function: int, argument: int) -> None:
        """``void function(void *argument)`` (cudaHostFn_t)."""
        if lib.sim_run_callback(pointer(function), pointer(argument)):
            raise NoThread(function)

    @staticmethod
    def stream_callback(function: int, stream: int, status: int, argument: int) -> None:
        """``void function(cudaStream_t, cudaError_t, void *)`` (cudaStreamCallback_t)."""
        answer = lib.sim_run_stream_callback(
            pointer(function), pointer(stream), status, pointer(argument)
        )
        if answer:
            raise NoThread(function)

    @staticmethod
    def dpu_callback(function: int, dpu_set: int, number: int, argument: int, token: int) -> int:
        """``dpu_error_t function(struct dpu_set_t, uint32_t, void *)``; ``dpu_set`` is the address
        of the first argument."""
        answer = ffi.new("int *")
        if lib.sim_dpu_callback(
            pointer(function), pointer(dpu_set), number, pointer(argument), token, answer
        ):
            raise NoThread(function)
        return int(answer[0])

    @staticmethod
    def dpu_print(function: int, argument: int, text: bytes) -> int:
        """``dpu_error_t function(void *, const char *format, ...)`` (dpu_log_print_fct_t)."""
        answer = ffi.new("int *")
        if lib.sim_dpu_print(pointer(function), pointer(argument), ffi.new("char[]", text), answer):
            raise NoThread(function)
        return int(answer[0])
