"""Whatever a program passes, a status comes back: nothing crashes, nothing hangs."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudla_sim.constants.cudart import cudaError
from cudla_sim.constants.cudart_parameters import PARAMETERS
from cudla_sim.testing import prototypes

from .conftest import Cuda

TEXTS = ("cudaGetErrorName", "cudaGetErrorString", "nvrtcGetErrorString")
HANDLES = ("stream", "hStream", "event", "start", "end", "graph", "graphExec", "extMem", "extSem")
# These take what is not theirs for NULL: nothing to do, or the answer is optional.
FINE_WITH_NULL = {
    "cudaFree",
    "cudaFreeHost",
    "cudaFreeAsync",
    "cudaDeviceGetStreamPriorityRange",
    "cudaStreamSynchronize",
    "cudaStreamQuery",
    "cudaFreeArray",
}


def no_arguments(name: str) -> list[Any]:
    """NULL for every pointer and 0 for every number."""
    _, types = prototypes.PROTOTYPES[name]

    def nothing(kind: Any) -> Any:
        if issubclass(kind, ctypes.Structure):
            return kind()
        return 0 if issubclass(kind, ctypes._SimpleCData) and kind is not ctypes.c_void_p else None

    return [nothing(t) for t in types]


@pytest.mark.parametrize("name", sorted(set(PARAMETERS) - set(TEXTS)))
def test_null_for_every_pointer(cuda: Cuda, name: str) -> None:
    status = getattr(cuda, name)(*no_arguments(name))
    assert status in cudaError._value2member_map_
    if status:
        assert cuda.sim.last_explanation().startswith(f"{name}: ")
        assert status != cudaError.cudaErrorUnknown
    pointers = [p for p in PARAMETERS[name] if p.endswith("*")]
    if pointers and name not in FINE_WITH_NULL:
        assert status, f"{name} took NULL for {pointers}"


@pytest.mark.parametrize("name", sorted(n for n, p in PARAMETERS.items() if set(HANDLES) & set(p)))
@pytest.mark.parametrize("garbage", [0x3, 0x7FFFFFFFFFFF0, 0xD1A000000008, (1 << 64) - 1])
def test_garbage_for_every_handle(cuda: Cuda, name: str, garbage: int) -> None:
    arguments = no_arguments(name)
    room = ctypes.create_string_buffer(4096)
    for index, parameter in enumerate(PARAMETERS[name]):
        if parameter in HANDLES:
            arguments[index] = garbage
        elif arguments[index] is None:
            arguments[index] = ctypes.addressof(room)
    status = getattr(cuda, name)(*arguments)
    assert status not in (0, cudaError.cudaErrorUnknown)


ADDRESSES = st.sampled_from(["null", "low", "hole", "kernel", "device", "managed", "freed", "end"])
SIZES = st.one_of(
    st.integers(0, 300), st.sampled_from([1 << 20, 1 << 40, (1 << 63) - 1, (1 << 64) - 1])
)
STREAMS = st.sampled_from([None, 1, 2, 3, "own", "gone"])
CALLS = st.one_of(
    st.tuples(st.just("cudaMemcpy"), ADDRESSES, ADDRESSES, SIZES, st.integers(-1, 5)),
    st.tuples(st.just("cudaMemcpyAsync"), ADDRESSES, ADDRESSES, SIZES, st.integers(-1, 5), STREAMS),
    st.tuples(
        st.just("cudaMemcpy2D"),
        ADDRESSES,
        SIZES,
        ADDRESSES,
        SIZES,
        SIZES,
        SIZES,
        st.integers(-1, 5),
    ),
    st.tuples(st.just("cudaMemset"), ADDRESSES, st.integers(-5, 300), SIZES),
    st.tuples(st.just("cudaMemsetAsync"), ADDRESSES, st.integers(-5, 300), SIZES, STREAMS),
    st.tuples(
        st.just("cudaMemset2DAsync"), ADDRESSES, SIZES, st.integers(0, 9), SIZES, SIZES, STREAMS
    ),
    st.tuples(st.just("cudaStreamAttachMemAsync"), STREAMS, ADDRESSES, SIZES, st.integers(0, 9)),
    st.tuples(st.just("cudaStreamSynchronize"), STREAMS),
    st.tuples(st.just("cudaStreamQuery"), STREAMS),
    st.tuples(st.just("cudaHostUnregister"), ADDRESSES),
    st.tuples(st.just("cudaDeviceSetLimit"), st.integers(-3, 9), SIZES),
    st.tuples(st.just("cudaSetDevice"), st.integers(-3, 3)),
    st.tuples(st.just("cudaSetDeviceFlags"), st.integers(0, 0x1FF)),
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(calls=st.lists(CALLS, max_size=12))
def test_any_sequence_of_calls_answers_statuses(cuda: Cuda, calls: list[Any]) -> None:
    device, managed, freed = cuda.malloc(256), cuda.managed(256), cuda.malloc(256)
    own, gone = cuda.stream(), cuda.stream(1)
    cuda.ok.cudaFree(freed)
    cuda.ok.cudaStreamDestroy(gone)
    names: dict[Any, int | None] = {
        "null": None,
        "low": 0x10,
        "hole": 0x200000000000,
        "kernel": 0xFFFF800000000000,
        "device": device,
        "managed": managed,
        "freed": freed,
        "end": device + 255,
        "own": own,
        "gone": gone,
    }
    for name, *arguments in calls:
        values = [names[a] if isinstance(a, str) else a for a in arguments]
        status = getattr(cuda, name)(*values)
        assert status in cudaError._value2member_map_, (name, values)
        assert status != cudaError.cudaErrorUnknown, cuda.sim.last_explanation()
    cuda.ok.cudaDeviceSynchronize()
    cuda.ok.cudaFree(device)
    cuda.ok.cudaFree(managed)
    cuda.ok.cudaStreamDestroy(own)
