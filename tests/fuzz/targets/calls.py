"""Senseless sequences of calls."""

from __future__ import annotations

import ctypes
from random import Random
from typing import Any

from cudla_sim.constants import cudart, cudla, cupva, nvsci

from .common import api, documented

# Calls whose pointers are handles, places for results, or memory whose size is another argument:
# whatever they get, they answer a status. h: a handle; r: a place for a result; n: a number.
_CALLS: dict[str, tuple[str, Any]] = {
    "cudaMalloc": ("rn", cudart.cudaError),
    "cudaMallocHost": ("rn", cudart.cudaError),
    "cudaFree": ("h", cudart.cudaError),
    "cudaFreeHost": ("h", cudart.cudaError),
    "cudaMemsetAsync": ("hnnh", cudart.cudaError),
    "cudaMemcpyAsync": ("hhnnh", cudart.cudaError),
    "cudaStreamCreateWithFlags": ("rn", cudart.cudaError),
    "cudaStreamDestroy": ("h", cudart.cudaError),
    "cudaStreamQuery": ("h", cudart.cudaError),
    "cudaStreamSynchronize": ("h", cudart.cudaError),
    "cudaStreamWaitEvent": ("hhn", cudart.cudaError),
    "cudaStreamBeginCapture": ("hn", cudart.cudaError),
    "cudaStreamEndCapture": ("hr", cudart.cudaError),
    "cudaEventCreate": ("r", cudart.cudaError),
    "cudaEventRecord": ("hh", cudart.cudaError),
    "cudaEventQuery": ("h", cudart.cudaError),
    "cudaEventSynchronize": ("h", cudart.cudaError),
    "cudaEventElapsedTime": ("rhh", cudart.cudaError),
    "cudaEventDestroy": ("h", cudart.cudaError),
    "cudaGraphInstantiate": ("rhn", cudart.cudaError),
    "cudaGraphLaunch": ("hh", cudart.cudaError),
    "cudaGraphDestroy": ("h", cudart.cudaError),
    "cudlaCreateDevice": ("nrn", cudla.cudlaStatus),
    "cudlaDestroyDevice": ("h", cudla.cudlaStatus),
    "cudlaMemRegister": ("hhnrn", cudla.cudlaStatus),
    "cudlaMemUnregister": ("hh", cudla.cudlaStatus),
    "cudlaModuleUnload": ("hn", cudla.cudlaStatus),
    "cudlaModuleGetAttributes": ("hnr", cudla.cudlaStatus),
    "cudlaSetTaskTimeoutInMs": ("hn", cudla.cudlaStatus),
    "cudlaGetLastError": ("h", cudla.cudlaStatus),
    "cudlaGetNvSciSyncAttributes": ("hn", cudla.cudlaStatus),
    "NvSciBufModuleOpen": ("r", nvsci.NvSciError),
    "NvSciBufAttrListCreate": ("hr", nvsci.NvSciError),
    "NvSciBufAttrListClone": ("hr", nvsci.NvSciError),
    "NvSciBufObjAlloc": ("hr", nvsci.NvSciError),
    "NvSciBufObjGetCpuPtr": ("hr", nvsci.NvSciError),
    "NvSciSyncModuleOpen": ("r", nvsci.NvSciError),
    "NvSciSyncAttrListCreate": ("hr", nvsci.NvSciError),
    "NvSciSyncAttrListIsReconciled": ("hr", nvsci.NvSciError),
    "NvSciSyncObjAlloc": ("hr", nvsci.NvSciError),
    "NvSciSyncObjSignal": ("h", nvsci.NvSciError),
    "NvSciSyncCpuWaitContextAlloc": ("hr", nvsci.NvSciError),
    "CupvaStreamCreate": ("rnn", cupva.cupvaError_t),
    "CupvaStreamDestroy": ("h", cupva.cupvaError_t),
    "CupvaStreamSynchronize": ("h", cupva.cupvaError_t),
    "CupvaSyncObjCreate": ("rnnn", cupva.cupvaError_t),
    "CupvaSyncObjDestroy": ("h", cupva.cupvaError_t),
    "CupvaMemAlloc": ("rnnn", cupva.cupvaError_t),
    "CupvaMemFree": ("h", cupva.cupvaError_t),
    "CupvaMemGetHostPointer": ("rh", cupva.cupvaError_t),
    "CupvaMemGetPointerAttributes": ("hr", cupva.cupvaError_t),
    "CupvaContextCreate": ("rn", cupva.cupvaError_t),
    "CupvaContextSetCurrent": ("h", cupva.cupvaError_t),
    "CupvaContextDestroy": ("h", cupva.cupvaError_t),
    "CupvaDataFlowGetId": ("hr", cupva.cupvaError_t),
    "CupvaCheckCommandStatus": ("hr", cupva.cupvaError_t),
}


def calls(random: Random) -> None:
    """A sequence of calls with handles of any kind, live, freed, or of nobody."""
    c = api()
    known: list[int] = [0, 1, 2, 0xDEAD, 1 << 63]
    results = [(ctypes.c_uint64 * 128)() for _ in range(8)]
    try:
        for _ in range(40):
            name = random.choice(list(_CALLS))
            form, statuses = _CALLS[name]
            words: list[Any] = []
            place = None
            for letter in form:
                if letter == "h":
                    words.append(random.choice(known[:5] if random.random() < 0.1 else known))
                elif letter == "r":
                    place = random.choice(results)
                    words.append(ctypes.addressof(place) if random.random() < 0.95 else None)
                else:
                    words.append(random.choice((0, 1, 2, 3, 4, 64, 4096, 65536, 1 << 40)))
            kinds = getattr(c, name).argtypes
            arguments = [_fitting(k, w) for k, w in zip(kinds, words, strict=True)]
            status = documented(getattr(c, name)(*arguments), statuses, name)
            if status == 0 and place is not None:
                known.append(place[0])
    finally:
        c.cudaDeviceReset()
        c.simReset()


def _fitting(kind: Any, word: Any) -> Any:
    """The number as the parameter's type takes it."""
    if kind is ctypes.c_void_p or word is None:
        return word
    if kind is ctypes.c_bool:
        return bool(word)
    if kind in (ctypes.c_int, ctypes.c_int32):
        return ((word + (1 << 31)) % (1 << 32)) - (1 << 31)
    return word
