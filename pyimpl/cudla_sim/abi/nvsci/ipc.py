"""The inter-process functions of all NvSci headers: they exist, and say why they do nothing."""

from __future__ import annotations

from typing import Any

from ...constants.nvsci import NvSciIpcMajorVersion, NvSciIpcMinorVersion
from .lists import null, nvsci, serves


@nvsci.export("NvSciIpcCheckVersionCompatibility")
def check_version(major: int, minor: int, compatible: Any) -> None:
    null(isCompatible=compatible)
    compatible[0] = serves((NvSciIpcMajorVersion, NvSciIpcMinorVersion), major, minor)


nvsci.unsupported(
    "NvSciIpcInit",
    "NvSciIpcDeinit",
    "NvSciIpcOpenEndpoint",
    "NvSciIpcOpenEndpointWithEventService",
    "NvSciIpcGetEventNotifier",
    "NvSciIpcCloseEndpoint",
    "NvSciIpcCloseEndpointSafe",
    "NvSciIpcResetEndpoint",
    "NvSciIpcResetEndpointSafe",
    "NvSciIpcRead",
    "NvSciIpcReadSafe",
    "NvSciIpcReadGetNextFrame",
    "NvSciIpcReadAdvance",
    "NvSciIpcWrite",
    "NvSciIpcWriteSafe",
    "NvSciIpcWriteGetNextFrame",
    "NvSciIpcWriteAdvance",
    "NvSciIpcGetEndpointInfo",
    "NvSciIpcGetLinuxEventFd",
    "NvSciIpcGetEvent",
    "NvSciIpcGetEventSafe",
    "NvSciIpcSetQnxPulseParam",
    "NvSciIpcSetQnxPulseParamSafe",
    "NvSciIpcInspectEventQnx",
    "NvSciBufIpcExportAttrListAndObj",
    "NvSciBufIpcImportAttrListAndObj",
    "NvSciBufAttrListAndObjFreeDesc",
    "NvSciBufObjIpcExport",
    "NvSciBufObjIpcImport",
    "NvSciBufAttrListIpcExportUnreconciled",
    "NvSciBufAttrListIpcExportReconciled",
    "NvSciBufAttrListIpcImportUnreconciled",
    "NvSciBufAttrListIpcImportReconciled",
    "NvSciBufAttrListFreeDesc",
    "NvSciSyncAttrListIpcExportUnreconciled",
    "NvSciSyncAttrListIpcExportReconciled",
    "NvSciSyncAttrListIpcImportUnreconciled",
    "NvSciSyncAttrListIpcImportReconciled",
    "NvSciSyncAttrListFreeDesc",
    "NvSciSyncObjIpcExport",
    "NvSciSyncObjIpcImport",
    "NvSciSyncIpcExportFence",
    "NvSciSyncIpcImportFence",
    "NvSciSyncIpcExportAttrListAndObj",
    "NvSciSyncAttrListAndObjFreeDesc",
    "NvSciSyncIpcImportAttrListAndObj",
    because="all NvSci objects live in this process; use the same object instead of exporting it",
)
