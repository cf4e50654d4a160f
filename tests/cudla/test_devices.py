"""Library version, device handles and their attributes."""

from __future__ import annotations

import ctypes
from types import ModuleType

import pytest

from cudla_sim.constants.cudla import cudlaStatus as S
from cudla_sim.testing import CApi
from cudla_sim.testing import prototypes as p

from .driver import HYBRID, STANDALONE, pointer


def create(api: CApi, device: int, flags: int) -> tuple[int, ctypes.c_void_p]:
    handle = pointer()
    return api.cudlaCreateDevice(device, ctypes.byref(handle), flags), handle


def test_version_is_1_5_0(sim_api: CApi) -> None:
    version = ctypes.c_uint64()
    assert sim_api.cudlaGetVersion(ctypes.byref(version)) == 0
    assert version.value == 1_005_000


def test_two_cores(sim_api: CApi) -> None:
    count = ctypes.c_uint64()
    assert sim_api.cudlaDeviceGetCount(ctypes.byref(count)) == 0
    assert count.value == 2


@pytest.mark.parametrize("cores", [0, 1])
def test_number_of_cores_is_a_setting(sim: ModuleType, sim_api: CApi, cores: int) -> None:
    sim.configure(dla_count=cores)
    count = ctypes.c_uint64(9)
    assert sim_api.cudlaDeviceGetCount(ctypes.byref(count)) == 0
    assert count.value == cores
    assert create(sim_api, cores, STANDALONE)[0] == S.cudlaErrorInvalidParam


def test_sixteen_handles_a_core(sim: ModuleType, sim_api: CApi) -> None:
    handles = [create(sim_api, 0, STANDALONE) for _ in range(16)]
    assert {status for status, _ in handles} == {0}
    assert create(sim_api, 0, STANDALONE)[0] == S.cudlaErrorOutOfResources
    assert "16" in sim.last_explanation()
    assert create(sim_api, 1, STANDALONE)[0] == 0
    assert sim_api.cudlaDestroyDevice(handles[3][1]) == 0
    assert create(sim_api, 0, STANDALONE)[0] == 0


@pytest.mark.parametrize("device", [2, 3, 1 << 40, (1 << 64) - 1])
def test_core_that_is_not_there(sim_api: CApi, device: int) -> None:
    assert create(sim_api, device, STANDALONE)[0] == S.cudlaErrorInvalidParam


@pytest.mark.parametrize("flags", [4, 5, 8, 0xFFFFFFFF])
def test_unknown_mode(sim_api: CApi, flags: int) -> None:
    assert create(sim_api, 0, flags)[0] == S.cudlaErrorInvalidParam


@pytest.mark.parametrize("mode", [HYBRID, STANDALONE])
def test_scratch_memory_flag_goes_with_both_modes(sim_api: CApi, mode: int) -> None:
    assert create(sim_api, 0, mode | 2)[0] == 0


def test_hybrid_mode_needs_the_integrated_gpu(sim: ModuleType, sim_api: CApi) -> None:
    sim.configure(gpu="discrete")
    assert create(sim_api, 0, HYBRID)[0] == S.cudlaErrorUnsupportedOperation
    assert "discrete" in sim.last_explanation()
    assert create(sim_api, 0, STANDALONE)[0] == 0
    sim.configure(gpu="none")
    assert create(sim_api, 0, HYBRID)[0] == S.cudlaErrorCuda


@pytest.mark.parametrize(("version", "number"), [("1.0", 1), ("2.0", 2)])
def test_attributes(sim: ModuleType, sim_api: CApi, version: str, number: int) -> None:
    sim.configure(dla_version=version)
    _, handle = create(sim_api, 0, STANDALONE)
    answer = p.cudlaDevAttribute_t()
    assert sim_api.cudlaDeviceGetAttribute(handle, 0, ctypes.byref(answer)) == 0
    assert answer.unifiedAddressingSupported == 1
    assert sim_api.cudlaDeviceGetAttribute(handle, 1, ctypes.byref(answer)) == 0
    assert answer.deviceVersion == number
    assert (
        sim_api.cudlaDeviceGetAttribute(handle, 2, ctypes.byref(answer))
        == S.cudlaErrorInvalidAttribute
    )


@pytest.mark.parametrize(
    ("milliseconds", "status"),
    [(0, 1), (1, 0), (30_000, 0), (1_000_000, 0), (1_000_001, 1), (0xFFFFFFFF, 1)],
)
def test_task_timeout_range(sim_api: CApi, milliseconds: int, status: int) -> None:
    _, handle = create(sim_api, 0, STANDALONE)
    assert sim_api.cudlaSetTaskTimeoutInMs(handle, milliseconds) == status


def test_task_timeout_answers_invalid_param_for_a_bad_handle(sim_api: CApi) -> None:
    assert sim_api.cudlaSetTaskTimeoutInMs(None, 5) == S.cudlaErrorInvalidParam


def test_destroyed_handle_is_explained(sim: ModuleType, sim_api: CApi) -> None:
    _, handle = create(sim_api, 0, STANDALONE)
    assert sim_api.cudlaDestroyDevice(handle) == 0
    assert sim_api.cudlaDestroyDevice(handle) == S.cudlaErrorInvalidDevice
    text = sim.last_explanation()
    assert text.startswith("cudlaDestroyDevice: devHandle (0x")
    assert "freed by cudlaDestroyDevice" in text


@pytest.mark.parametrize("value", [0, 1, 0x10, 0xD1A0_0000_0000, (1 << 64) - 16])
def test_garbage_handles(sim_api: CApi, value: int) -> None:
    handle = ctypes.c_void_p(value)
    out = pointer()
    answer = p.cudlaDevAttribute_t()
    assert sim_api.cudlaDestroyDevice(handle) == S.cudlaErrorInvalidDevice
    assert sim_api.cudlaGetLastError(handle) == S.cudlaErrorInvalidDevice
    assert (
        sim_api.cudlaDeviceGetAttribute(handle, 0, ctypes.byref(answer))
        == S.cudlaErrorInvalidDevice
    )
    assert (
        sim_api.cudlaMemRegister(handle, 64, 64, ctypes.byref(out), 0) == S.cudlaErrorInvalidDevice
    )
    assert sim_api.cudlaMemUnregister(handle, 64) == S.cudlaErrorInvalidDevice
    assert (
        sim_api.cudlaModuleLoadFromMemory(handle, b"x", 1, ctypes.byref(out), 0)
        == S.cudlaErrorInvalidDevice
    )
    task = p.cudlaTask_t()
    assert (
        sim_api.cudlaSubmitTask(handle, ctypes.byref(task), 1, None, 0) == S.cudlaErrorInvalidDevice
    )


def test_a_module_handle_is_no_device_handle(sim: ModuleType, sim_api: CApi) -> None:
    buf_module = pointer()
    assert sim_api.NvSciBufModuleOpen(ctypes.byref(buf_module)) == 0
    assert sim_api.cudlaDestroyDevice(buf_module) == S.cudlaErrorInvalidDevice
    assert "is a NvSciBufModule" in sim.last_explanation()
