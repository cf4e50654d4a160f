"""A small cuDLA client in Python: the calls a standalone or hybrid C program makes."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudla_sim.constants import cudla as c
from cudla_sim.constants import nvsci as n
from cudla_sim.testing import CApi
from cudla_sim.testing import prototypes as p

HYBRID, STANDALONE = 0, 1
Bytes = NDArray[np.uint8]


def pointer() -> ctypes.c_void_p:
    return ctypes.c_void_p()


def check(status: int, what: str = "") -> None:
    import cudla_sim

    assert status == 0, f"{what} answered {status:#x}: {cudla_sim.last_explanation()}"


class Sync:
    """A sync object between the CPU and the DLA, imported into a device."""

    def __init__(
        self,
        client: Client,
        *,
        dla_waits: bool,
        deterministic: bool = False,
        timestamps: bool = False,
        own_attributes: bool = False,
    ) -> None:
        """``own_attributes``: the program itself writes what cudlaGetNvSciSyncAttributes would."""
        api, self.client = client.api, client
        self.lists = [pointer(), pointer()]
        for each in self.lists:
            check(api.NvSciSyncAttrListCreate(client.sync_module, ctypes.byref(each)))
        cpu, dla = self.lists
        perm = n.NvSciSyncAccessPerm_SignalOnly if dla_waits else n.NvSciSyncAccessPerm_WaitOnly
        self._set(cpu, n.NvSciSyncAttrKey.NvSciSyncAttrKey_NeedCpuAccess, ctypes.c_bool(True))
        self._set(cpu, n.NvSciSyncAttrKey.NvSciSyncAttrKey_RequiredPerm, ctypes.c_uint64(perm))
        if deterministic:
            key = n.NvSciSyncAttrKey.NvSciSyncAttrKey_RequireDeterministicFences
            self._set(cpu, key, ctypes.c_bool(True))
        if timestamps:
            key = n.NvSciSyncAttrKey.NvSciSyncAttrKey_WaiterRequireTimestamps
            self._set(cpu, key, ctypes.c_bool(True))
        if own_attributes:
            mine = ctypes.c_uint64(1 if dla_waits else 2)
            self._set(dla, n.NvSciSyncAttrKey.NvSciSyncAttrKey_RequiredPerm, mine)
        else:
            check(api.cudlaGetNvSciSyncAttributes(dla, 1 if dla_waits else 2), "attributes")
        self.obj, conflict = pointer(), pointer()
        array = (ctypes.c_void_p * 2)(cpu, dla)
        check(
            api.NvSciSyncAttrListReconcileAndObjAlloc(
                array, 2, ctypes.byref(self.obj), ctypes.byref(conflict)
            ),
            "reconcile",
        )
        self.device_pointer = pointer()
        desc = p.cudlaExternalSemaphoreHandleDesc_t(self.obj)
        check(
            api.cudlaImportExternalSemaphore(
                client.device, ctypes.byref(desc), ctypes.byref(self.device_pointer), 0
            ),
            "import semaphore",
        )

    def _set(self, attributes: ctypes.c_void_p, key: int, value: Any) -> None:
        pair = p.NvSciSyncAttrKeyValuePair(
            key, ctypes.cast(ctypes.byref(value), ctypes.c_void_p), ctypes.sizeof(value)
        )
        check(self.client.api.NvSciSyncAttrListSetAttrs(attributes, ctypes.byref(pair), 1), "set")

    def generate(self) -> p.NvSciSyncFence:
        fence = p.NvSciSyncFence()
        check(self.client.api.NvSciSyncObjGenerateFence(self.obj, ctypes.byref(fence)))
        return fence

    def signal(self) -> None:
        check(self.client.api.NvSciSyncObjSignal(self.obj))

    def wait(self, fence: p.NvSciSyncFence, timeout_us: int = 20_000_000) -> int:
        status: int = self.client.api.NvSciSyncFenceWait(
            ctypes.byref(fence), self.client.context, timeout_us
        )
        return status


@dataclass(eq=False)
class Buffer:
    """Memory of the program (``array``), and the pointer its tasks use for it."""

    array: Bytes = field(repr=False)  # printing it after it was freed would be the last thing
    address: int
    device_pointer: ctypes.c_void_p
    handle: ctypes.c_void_p


class Client:
    """One device handle with everything a program makes around it."""

    def __init__(self, api: CApi, mode: int = STANDALONE, core: int = 0) -> None:
        self.api, self.mode = api, mode
        self.device = pointer()
        check(api.cudlaCreateDevice(core, ctypes.byref(self.device), mode), "create")
        if mode == STANDALONE:
            self.buf_module, self.sync_module, self.context = pointer(), pointer(), pointer()
            check(api.NvSciBufModuleOpen(ctypes.byref(self.buf_module)))
            check(api.NvSciSyncModuleOpen(ctypes.byref(self.sync_module)))
            check(api.NvSciSyncCpuWaitContextAlloc(self.sync_module, ctypes.byref(self.context)))
        self.module = pointer()

    # --- modules ---

    def load(self, image: bytes, flags: int = 0) -> int:
        status: int = self.api.cudlaModuleLoadFromMemory(
            self.device, image or None, len(image), ctypes.byref(self.module), flags
        )
        return status

    def count(self, kind: int) -> int:
        answer = p.cudlaModuleAttribute_t()
        check(self.api.cudlaModuleGetAttributes(self.module, kind, ctypes.byref(answer)))
        return int(answer.numInputTensors)

    def descriptors(self, kind: int) -> list[p.cudlaModuleTensorDescriptor_t]:
        """``kind``: 2 inputs, 3 outputs, 5 statistics."""
        array = (p.cudlaModuleTensorDescriptor_t * self.count({2: 0, 3: 1, 5: 4}[kind]))()
        answer = p.cudlaModuleAttribute_t()
        answer.inputTensorDesc = ctypes.addressof(array)
        check(self.api.cudlaModuleGetAttributes(self.module, kind, ctypes.byref(answer)))
        return list(array)

    # --- memory ---

    def allocate(self, size: int, flags: int = 0) -> Buffer:
        """NvSciBuf or CUDA memory, imported or registered."""
        if self.mode == HYBRID:
            return self._cuda_memory(size, flags)
        array_of = ctypes.c_int * 1
        types = array_of(n.NvSciBufType.NvSciBufType_RawBuffer)
        values: list[tuple[int, Any]] = [
            (n.NvSciBufAttrKey.NvSciBufGeneralAttrKey_Types, types),
            (n.NvSciBufAttrKey.NvSciBufGeneralAttrKey_NeedCpuAccess, ctypes.c_bool(True)),
            (n.NvSciBufAttrKey.NvSciBufGeneralAttrKey_RequiredPerm, ctypes.c_int(3)),
            (n.NvSciBufAttrKey.NvSciBufRawBufferAttrKey_Size, ctypes.c_uint64(size)),
            (n.NvSciBufAttrKey.NvSciBufRawBufferAttrKey_Align, ctypes.c_uint64(512)),
        ]
        pairs = (p.NvSciBufAttrKeyValuePair * len(values))()
        for pair, (key, value) in zip(pairs, values, strict=True):
            pair.key = key
            pair.value = ctypes.addressof(value)
            pair.len = ctypes.sizeof(value)
        attributes, obj, conflict, cpu = pointer(), pointer(), pointer(), pointer()
        api = self.api
        check(api.NvSciBufAttrListCreate(self.buf_module, ctypes.byref(attributes)))
        check(api.NvSciBufAttrListSetAttrs(attributes, pairs, len(values)), "set")
        one = (ctypes.c_void_p * 1)(attributes)
        check(
            api.NvSciBufAttrListReconcileAndObjAlloc(
                one, 1, ctypes.byref(obj), ctypes.byref(conflict)
            ),
            "reconcile",
        )
        check(api.NvSciBufObjGetCpuPtr(obj, ctypes.byref(cpu)))
        desc = p.cudlaExternalMemoryHandleDesc_t(obj, size)
        device_pointer = pointer()
        check(
            api.cudlaImportExternalMemory(
                self.device, ctypes.byref(desc), ctypes.byref(device_pointer), flags
            ),
            "import",
        )
        assert cpu.value is not None
        return Buffer(_bytes(cpu.value, size), cpu.value, device_pointer, obj)

    def _cuda_memory(self, size: int, flags: int) -> Buffer:
        where, device_pointer = pointer(), pointer()
        check(self.api.cudaMalloc(ctypes.byref(where), size), "cudaMalloc")
        check(
            self.api.cudlaMemRegister(
                self.device, where, size, ctypes.byref(device_pointer), flags
            ),
            "register",
        )
        assert where.value is not None
        return Buffer(_bytes(where.value, size), where.value, device_pointer, where)

    # --- tasks ---

    def task(
        self,
        inputs: Sequence[Buffer] | None,
        outputs: Sequence[Buffer] | None,
        waits: Iterable[tuple[p.NvSciSyncFence, int]] | None = None,
        signals: Iterable[tuple[Sync, p.NvSciSyncFence | None, int]] | None = None,
    ) -> p.cudlaTask_t:
        """A cudlaTask; what it points to lives as long as it does."""
        task = p.cudlaTask_t()
        task.moduleHandle = self.module.value or 0
        keep: list[Any] = []
        if inputs is not None:
            array = (ctypes.c_void_p * max(len(inputs), 1))(*(b.device_pointer for b in inputs))
            task.inputTensor, task.numInputTensors = ctypes.addressof(array), len(inputs)
            keep.append(array)
        if outputs is not None:
            array = (ctypes.c_void_p * max(len(outputs), 1))(*(b.device_pointer for b in outputs))
            task.outputTensor, task.numOutputTensors = ctypes.addressof(array), len(outputs)
            keep.append(array)
        if waits is not None:
            fences = list(waits)
            entries = (p.CudlaFence * len(fences))()
            for entry, (fence, kind) in zip(entries, fences, strict=True):
                entry.fence, entry.type = ctypes.addressof(fence), kind
            events = p.cudlaWaitEvents(ctypes.addressof(entries), len(fences))
            task.waitEvents = ctypes.addressof(events)
            keep += [entries, events, fences]
        if signals is not None:
            wanted = list(signals)
            pointers = (ctypes.c_void_p * len(wanted))(*(s.device_pointer for s, _, _ in wanted))
            entries = (p.CudlaFence * len(wanted))()
            for entry, (_, fence, kind) in zip(entries, wanted, strict=True):
                entry.fence = 0 if fence is None else ctypes.addressof(fence)
                entry.type = kind
            signal_events = p.cudlaSignalEvents(
                ctypes.addressof(pointers), ctypes.addressof(entries), len(wanted)
            )
            task.signalEvents = ctypes.addressof(signal_events)
            keep += [pointers, entries, signal_events, wanted]
        task.keep = keep
        return task

    def submit(self, *tasks: p.cudlaTask_t, stream: Any = None, flags: int = 0) -> int:
        array = (p.cudlaTask_t * len(tasks))(*tasks)
        status: int = self.api.cudlaSubmitTask(self.device, array, len(tasks), stream, flags)
        return status

    def infer(self, inputs: Sequence[bytes]) -> list[Bytes]:
        """Loads nothing: runs the module once on whole input buffers; whole output buffers."""
        into = [self.allocate(d.size) for d in self.descriptors(2)]
        out = [self.allocate(d.size) for d in self.descriptors(3)]
        for buffer, data in zip(into, inputs, strict=True):
            buffer.array[: len(data)] = np.frombuffer(data, np.uint8)
        if self.mode == HYBRID:
            check(self.submit(self.task(into, out)), "submit")
            check(self.api.cudaStreamSynchronize(None), "synchronize")
        else:
            done, fence = Sync(self, dla_waits=False), p.NvSciSyncFence()
            check(self.submit(self.task(into, out, None, [(done, fence, 1)])), "submit")
            check(done.wait(fence), "wait")
        status = self.api.cudlaGetLastError(self.device)
        check(status, "the task")
        return [b.array.copy() for b in out]


def _bytes(address: int, size: int) -> Bytes:
    return np.frombuffer((ctypes.c_uint8 * size).from_address(address), np.uint8)


def valid_elements(buffer: Bytes, tensor: p.cudlaModuleTensorDescriptor_t, atom: int) -> bytes:
    """The elements of a feature tensor in planar c,h,w order, as the goldens have them.

    Written from the NVDLA memory format: channel c of pixel (h, w) lies at
    (c // E) * surface + h * line + w * atom + (c % E) * size, E elements to an atom.
    """
    size = {c.CUDLA_DATA_TYPE_HALF: 2, c.CUDLA_DATA_TYPE_INT16: 2}.get(tensor.dataType, 1)
    per_atom = atom // size
    line, surface = tensor.stride[1], tensor.stride[2]
    image = tensor.size // tensor.n  # the images of a batch follow one another
    parts = []
    for number, channel, row in np.ndindex(tensor.n, tensor.c, tensor.h):
        base = (
            number * image
            + (channel // per_atom) * surface
            + row * line
            + channel % per_atom * size
        )
        for column in range(tensor.w):
            at = base + column * atom
            parts.append(buffer[at : at + size].tobytes())
    return b"".join(parts)
