"""Every exported function, called with nothing but zeros: a status, never a crash."""

from __future__ import annotations

import ctypes

import pytest

from cudla_sim.capi.prototypes import PROTOTYPES
from cudla_sim.testing import CApi

# All zeros is a legal call of these.
LEGAL = {
    "simReset", "simWarmup", "simTraceStop", "simInjectFault", "simExplain",
    "simNvdlaStep", "simNvdlaWrite", "simNvdlaReset", "simSetInterruptHandler", "NvDlaSleepMS",
    "cudaFree", "cudaFreeHost", "cudaFreeAsync", "cudaMemcpy", "cudaMemcpyAsync", "cudaMemset",
    "cudaMemsetAsync", "cudaMemcpy2D", "cudaMemcpy2DAsync", "cudaMemset2D", "cudaMemset2DAsync",
    "cudaSetDevice", "cudaSetDeviceFlags", "cudaInitDevice", "cudaDeviceSynchronize",
    "cudaDeviceReset", "cudaThreadSynchronize", "cudaThreadExit", "cudaGetLastError",
    "cudaPeekAtLastError", "cudaStreamSynchronize", "cudaStreamQuery", "cudaProfilerStart",
    "cudaProfilerStop", "cuInit", "cudaCtxResetPersistingL2Cache", "cudaDeviceSetCacheConfig",
    "cudaDeviceSetLimit", "cudaSetValidDevices", "cudaDeviceGetStreamPriorityRange",
    "cudaMemcpyPeer", "cudaMemcpyPeerAsync", "cudaSignalExternalSemaphoresAsync",
    "cudaSignalExternalSemaphoresAsync_v2", "cudaWaitExternalSemaphoresAsync",
    "cudaWaitExternalSemaphoresAsync_v2", "CupvaCmdDestroy", "CupvaCmdBufferDestroy",
    "CupvaContextSetCurrent", "CupvaMemFree", "CupvaStreamDestroy", "CupvaSyncObjDestroy",
    "cudaFreeArray", "cudaFreeMipmappedArray", "cudaMemset3D", "cudaMemset3DAsync",
    "cudaMemcpyToArray",
    "cudaDeviceGraphMemTrim", "cudaThreadSetLimit", "cudaThreadSetCacheConfig",
    "cudaDeviceSetSharedMemConfig",
    "cudaMemcpyFromArray", "cudaDestroyTextureObject", "cudaDestroySurfaceObject",
    "CupvaExecutableDestroy", "CupvaSimDataFlowDestroy", "CupvaCudaForceDisableSupport",
    "nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags",
}  # fmt: skip

WAITS = {"NvDlaSleepMS"}  # as long as it is told: weeks, with all bits set


@pytest.mark.parametrize("name", [n for n in PROTOTYPES if n not in LEGAL])
def test_zeros(sim_api: CApi, name: str) -> None:
    result, arguments = PROTOTYPES[name]
    zeros = [t() for t in arguments]
    answer = getattr(sim_api, name)(*zeros)
    if result is ctypes.c_int:
        assert answer != 0
    version = ctypes.c_uint64()
    assert sim_api.cudlaGetVersion(ctypes.byref(version)) == 0


@pytest.mark.parametrize("name", [n for n in PROTOTYPES if n not in LEGAL | WAITS])
def test_all_bits_set_in_numbers_and_handles_but_null_pointers(sim_api: CApi, name: str) -> None:
    """Huge sizes and counts together with pointers that are NULL."""
    _, arguments = PROTOTYPES[name]
    values = [
        t() if t is ctypes.c_void_p or issubclass(t, ctypes.Structure) else t(-1) for t in arguments
    ]
    getattr(sim_api, name)(*values)


BESIDES = {
    "cudlaCreateDevice", "cudlaDeviceGetCount", "cudlaGetExternalExportTable",
    "dpu_elf_map", "dpu_elf_open", "dpu_get_common_program", "dpu_get_profile_description",
    "dpu_get_rank_of_type", "dpu_load_elf_program", "dpu_load_elf_program_from_memory",
}  # fmt: skip
POINTERS = [
    (name, index)
    for name, (_, arguments) in PROTOTYPES.items()
    if name in BESIDES or (name.startswith(("Cupva", "NvSci")) and name not in LEGAL)
    for index, kind in enumerate(arguments)
    if kind is ctypes.c_void_p and (name, index) != ("CupvaOffsetPointerInit", 1)  # the device's
]


@pytest.mark.parametrize(("name", "index"), POINTERS)
def test_a_pointer_to_no_memory(sim_api: CApi, name: str, index: int) -> None:
    """One argument at a time points to nothing, the others to 4096 bytes that are zero."""
    result, arguments = PROTOTYPES[name]
    memory = ctypes.create_string_buffer(4096)
    values: list[object] = [
        ctypes.addressof(memory) if kind is ctypes.c_void_p else kind() for kind in arguments
    ]
    values[index] = 16
    answer = getattr(sim_api, name)(*values)
    if result is ctypes.c_int:
        assert answer != 0
