"""Loading, describing and unloading modules; the diagnostics module; broken images."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudla_sim.constants import cudla as c
from cudla_sim.constants.cudla import cudlaStatus as S
from cudla_sim.cudla.module import _pixel_format
from cudla_sim.testing import prototypes as p

from .driver import Client, Sync, check, pointer


def test_descriptors_of_the_samples_network(either: Client, digits: bytes) -> None:
    check(either.load(digits))
    assert [either.count(kind) for kind in (0, 1, 4)] == [1, 1, 1]
    (source,), (result,) = either.descriptors(2), either.descriptors(3)
    assert (source.n, source.c, source.h, source.w) == (1, 1, 8, 8)
    assert (result.n, result.c, result.h, result.w) == (1, 10, 1, 1)
    assert source.dataType == result.dataType == c.CUDLA_DATA_TYPE_INT8
    assert source.size >= 64
    (statistics,) = either.descriptors(5)
    assert statistics.size > 0


def test_pixel_formats_of_the_two_headers() -> None:
    """NVDLA's numbers are cuDLA's up to FEATURE (36); its x8 feature format (37) is one, too."""
    feature = c.CUDLA_PIXEL_FORMAT_FEATURE
    assert [_pixel_format(n) for n in (0, 35, 36, 37)] == [0, 35, feature, feature]
    assert _pixel_format(38) == c.CUDLA_PIXEL_FORMAT_UNKNOWN


def test_arguments(either: Client, digits: bytes) -> None:
    load, out = either.api.cudlaModuleLoadFromMemory, pointer()
    invalid = S.cudlaErrorInvalidParam
    size, target = len(digits), ctypes.byref(out)
    assert load(either.device, None, size, target, 0) == invalid
    assert load(either.device, digits, 0, target, 0) == invalid
    assert load(either.device, digits, size, None, 0) == invalid
    assert load(either.device, digits, size, target, 2) == invalid
    assert load(either.device, digits, size, target, 1) == invalid
    assert load(either.device, digits, 1 << 63, target, 0) == invalid
    check(load(either.device, digits, size, target, 0))


def test_size_beyond_what_is_mapped(either: Client, digits: bytes) -> None:
    """An answer, not a segmentation fault: the page behind the image is not there."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    pages = -(-len(digits) // 4096) * 4096
    where = libc.mmap(None, ctypes.c_size_t(pages + 4096), 3, 0x22, -1, 0)
    assert libc.munmap(ctypes.c_void_p(where + pages), ctypes.c_size_t(4096)) == 0
    image = where + pages - len(digits)
    ctypes.memmove(image, digits, len(digits))
    load = either.api.cudlaModuleLoadFromMemory
    out = ctypes.byref(pointer())
    assert load(either.device, image, len(digits) + 1, out, 0) == S.cudlaErrorInvalidParam
    check(load(either.device, image, len(digits), out, 0))


def test_one_module_a_handle_unless_set_otherwise(
    either: Client, digits: bytes, sim: ModuleType
) -> None:
    check(either.load(digits))
    first = ctypes.c_void_p(either.module.value)
    assert either.load(digits) == S.cudlaErrorUnsupportedOperation
    assert "CUDLA_SIM_MULTI_MODULE" in sim.last_explanation()
    check(either.api.cudlaModuleUnload(first, 0))
    check(either.load(digits))
    sim.configure(multi_module=True)
    several = Client(either.api, either.mode)
    check(several.load(digits))
    check(several.load(digits))
    assert len(sim.dla.devices[0].modules) == 2


def test_unload(either: Client, digits: bytes, sim: ModuleType) -> None:
    check(either.load(digits))
    unload = either.api.cudlaModuleUnload
    assert unload(either.module, 1) == S.cudlaErrorInvalidParam
    check(unload(either.module, 0))
    assert unload(either.module, 0) == S.cudlaErrorInvalidModule
    assert "freed by cudlaModuleUnload" in sim.last_explanation()
    assert unload(either.device, 0) == S.cudlaErrorInvalidModule
    assert unload(None, 0) == S.cudlaErrorInvalidModule


def test_module_of_a_destroyed_device(either: Client, digits: bytes) -> None:
    check(either.load(digits))
    check(either.api.cudlaDestroyDevice(either.device))
    answer = p.cudlaModuleAttribute_t()
    get = either.api.cudlaModuleGetAttributes
    assert get(either.module, 0, ctypes.byref(answer)) == S.cudlaErrorInvalidModule


def test_attribute_arguments(either: Client, digits: bytes) -> None:
    check(either.load(digits))
    get, answer = either.api.cudlaModuleGetAttributes, p.cudlaModuleAttribute_t()
    assert get(either.module, 0, None) == S.cudlaErrorInvalidParam
    for kind in (6, 7, 0x7FFFFFFF):
        assert get(either.module, kind, ctypes.byref(answer)) == S.cudlaErrorInvalidAttribute
    answer.inputTensorDesc = 0
    assert get(either.module, 2, ctypes.byref(answer)) == S.cudlaErrorInvalidParam


def test_diagnostics_module(either: Client) -> None:
    check(either.load(b"", flags=1))
    assert either.count(0) == 0
    (result,) = either.descriptors(3)
    output = either.allocate(result.size)
    output.array[:] = 0xEE
    unsupported = S.cudlaErrorUnsupportedOperation
    assert either.submit(either.task(None, [output])) == unsupported  # without the flag
    with_input = either.task([output], [output])
    assert either.submit(with_input, flags=4) == unsupported
    assert either.submit(either.task(None, None), flags=4) == unsupported
    if either.mode == 0:
        check(either.submit(either.task(None, [output]), flags=4))
        check(either.api.cudaDeviceSynchronize())
    else:
        done, fence = Sync(either, dla_waits=False), p.NvSciSyncFence()
        task = either.task(None, [output], None, [(done, fence, 1)])
        check(either.submit(task, flags=4))
        check(done.wait(fence))
    check(either.api.cudlaGetLastError(either.device))
    tests, wrong = output.array[:8].view("uint32")
    assert tests > 0
    assert wrong == 0


def test_loadable_for_another_configuration(
    sim: ModuleType, client: Callable[..., Client], digits: bytes
) -> None:
    for name in ("nv_small", "nv_large"):
        sim.configure(config=name)
        assert client().load(digits) == S.cudlaErrorUmd
        assert "nv_full" in sim.last_explanation()


@pytest.mark.parametrize(
    "image", [b"\0", b"x" * 7, bytes(1000), b"\xff" * 1000, b"ftrt" + bytes(500), b"\x7fELF" * 99]
)
def test_what_is_no_loadable(either: Client, image: bytes, sim: ModuleType) -> None:
    assert either.load(image) == S.cudlaErrorUmd
    assert len(sim.last_explanation()) > 40


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_bytes_give_a_status(
    client: Callable[..., Client], digits: bytes, data: st.DataObject
) -> None:
    """Truncated and bit-flipped images load or are refused; a loaded one runs or fails cleanly."""
    image = bytearray(digits[: data.draw(st.integers(1, len(digits)))])
    if data.draw(st.booleans()):
        image = bytearray(digits)
    for _ in range(data.draw(st.integers(0, 8))):
        image[data.draw(st.integers(0, len(image) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    made = client()
    try:
        status = made.load(bytes(image))
        assert status in (0, S.cudlaErrorUmd, S.cudlaErrorOutOfResources)
        if status == 0 and _modest(made):
            _run(made)
    finally:
        check(made.api.cudlaDestroyDevice(made.device))


def _modest(client: Client) -> bool:
    """Flipped sizes may ask for terabytes; running those proves nothing more."""
    if client.count(0) > 4 or client.count(1) > 4:
        return False
    return all(0 < d.size < 1 << 24 for d in client.descriptors(2) + client.descriptors(3))


def _run(client: Client) -> None:
    check(client.api.cudlaSetTaskTimeoutInMs(client.device, 2000))
    buffers = [[client.allocate(d.size) for d in client.descriptors(k)] for k in (2, 3)]
    done, fence = Sync(client, dla_waits=False), p.NvSciSyncFence()
    task = client.task(buffers[0], buffers[1], None, [(done, fence, 1)])
    if client.submit(task) == 0:
        check(done.wait(fence))
        status = client.api.cudlaGetLastError(client.device)
        assert status == 0 or 0x40000001 <= status <= 0x40000007
