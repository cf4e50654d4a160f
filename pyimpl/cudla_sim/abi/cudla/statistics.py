"""The table of ``cudlaExternalEtbl.hpp`` and the translation of layer statistics."""

from __future__ import annotations

from typing import Any

from ...constants import cudla as c
from ...constants.cudla import cudlaStatus as Status
from ...core.memory import read_host
from ...cudla import statistics
from ...cudla.errors import CudlaError, invalid_param, unsupported
from ..embedding import address, ffi, lib
from .family import cudla, device_of, module_of, null, only_flags


@cudla.export("cudlaGetExternalExportTable")
def external_export_table(table: Any, flags: int) -> None:
    null(exportTable=table)
    only_flags(flags, 0, "only 0")
    table[0] = lib.sim_external_table()


def _translate(data: Any, frequency_mhz: int, kind: int, answer: Any) -> None:
    if not data:
        raise invalid_param("input is NULL; it is a CPU copy of a statistics buffer")
    null(csvAttribute=answer)
    if frequency_mhz == 0:
        raise invalid_param("dlaFreqMHz is 0; it is the DLA clock in MHz")
    where = address(data)
    size = statistics.read_size(read_host(where, statistics.head_size()))
    text = statistics.to_csv(read_host(where, size), frequency_mhz).encode() + b"\0"
    if kind == c.cudlaTranslateAttributeType.CUDLA_GET_CSV_LENGTH:
        answer.csvStreamLength = len(text)
    elif kind == c.cudlaTranslateAttributeType.CUDLA_GET_CSV_STATS:
        null(csvStreamStats=answer.csvStreamStats)
        ffi.memmove(answer.csvStreamStats, text, len(text))
    else:
        raise invalid_param(f"csvAttrType is {kind}; CUDLA_GET_CSV_LENGTH 0 or _STATS 1")


@cudla.export("etiTranslateStats")
def translate_stats(
    dev_handle: Any, data: Any, frequency_mhz: int, index: int, kind: int, answer: Any
) -> None:
    found = device_of(dev_handle, status=Status.cudlaErrorInvalidParam)
    if len(found.modules) != 1:
        raise unsupported(
            f"{len(found.modules)} modules are loaded on this handle; etiTranslateStats needs "
            "exactly one, etiTranslateStatsForMultiModule names the module"
        )
    _translate(data, frequency_mhz, kind, answer)


@cudla.export("etiTranslateStatsForMultiModule")
def translate_stats_of_module(
    dev_handle: Any,
    module: Any,
    data: Any,
    frequency_mhz: int,
    index: int,
    kind: int,
    answer: Any,
) -> None:
    found = device_of(dev_handle, status=Status.cudlaErrorInvalidParam)
    if module_of(module) not in found.modules:
        raise CudlaError(
            Status.cudlaErrorInvalidModule, "hModule is not a module of this device handle"
        )
    _translate(data, frequency_mhz, kind, answer)
