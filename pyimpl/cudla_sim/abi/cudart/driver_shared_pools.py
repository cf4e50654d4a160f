"""Pools for other processes by the driver's names: the runtime's."""

from __future__ import annotations

from typing import Any

from ..embedding import address, ffi, pointer
from . import ipc
from .driver import driver, null

driver.export("cuMemPoolExportToShareableHandle")(ipc.export_to_shareable_handle)
driver.export("cuMemPoolImportFromShareableHandle")(ipc.import_from_shareable_handle)


@driver.export("cuMemPoolExportPointer")
def export_pointer(data: Any, where: int) -> None:
    null(shareData_out=data)
    ipc.export_pointer(data, pointer(where))


@driver.export("cuMemPoolImportPointer")
def import_pointer(target: Any, pool: Any, data: Any) -> None:
    null(ptr_out=target, shareData=data)
    made = ffi.new("void **")
    ipc.import_pointer(made, pool, ffi.cast("struct cudaMemPoolPtrExportData *", data))
    target[0] = address(made[0])
