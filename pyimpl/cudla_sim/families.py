"""The APIs: what each is called, and where its parts are. One entry declares an API.

From it follow: which headers the generator reads, the wrappers' failure values, the libraries under
the vendor's names, pkg-config and CMake packages, ``--cflags`` and ``--libs``, the statuses of
handlers and of fault rules, who may import whom, and the pages of the reference.

By convention an entry ``name`` has its handlers in ``abi/name``, its model in ``cudla_sim/name``,
its samples in ``c_examples/name``, its pages in ``docs/name`` and its tests in ``tests/name``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple


@dataclass(frozen=True)
class Answers:
    """The statuses of one enumeration that the gate itself gives (``abi/entry.py``)."""

    enumeration: str
    """Its tag, or its typedef where it has none."""
    unknown: str
    """For what nobody foresaw, and when Python cannot run. Never 0: that is success."""
    no_memory: str
    bad_handle: str
    """For a handle that is stale, foreign or of another kind."""
    bad_memory: str
    """For an address that is not memory of the device."""
    not_supported: str
    functions: str = ""
    """How the functions that return it begin, where an API has two enumerations."""


class DropIn(NamedTuple):
    """A library under a vendor's name."""

    file: str
    """Below ``lib/``."""
    soname: str
    """What programs that are linked with it record."""
    version: str = ""
    """The version that its symbols carry: without it the loader warns programs that were linked
    with the vendor's."""
    names: tuple[str, ...] = ("*",)
    """Which of the family's functions it has (patterns): a program takes each from the first
    library that has it, and must not take what another one is for."""


@dataclass(frozen=True)
class Package:
    """What pkg-config and CMake know; ``--libs`` links with it."""

    name: str
    """Of the package, of the CMake target, and of ``lib<name>.so``."""
    description: str
    version: str
    folders: tuple[str, ...] = ("",)
    """Below ``include/``."""
    defines: tuple[str, ...] = ()
    keep: bool = False
    """The library stays needed by programs that call none of its functions."""


@dataclass(frozen=True)
class Family:
    """One API."""

    name: str
    title: str
    headers: tuple[str, ...]
    """Below ``include/``, in an order in which a program could include them; what they include
    belongs to the same API when it lies in ``folder``."""
    answers: tuple[Answers, ...]
    folder: str = ""
    """Below ``include/``: the folder of its headers, which programs have in their search path."""
    libraries: tuple[DropIn, ...] = ()
    packages: tuple[Package, ...] = ()
    needs: tuple[str, ...] = ()
    """Other APIs whose models its own uses."""
    points: tuple[str, ...] = ()
    """Where its engines can be made to fail."""
    beside_real: bool = False
    """A machine may have the vendor's own: headers and libraries lie apart, the functions are in
    a second library, which forwards them."""
    c_only: tuple[str, ...] = ()
    """Headers whose types Python has no use for."""
    packed: tuple[str, ...] = ()
    """Structures (patterns) whose layout is ``packed``, which the generator does not see."""
    cpp_methods: tuple[str, ...] = ()
    """Public names of C++ methods, for explanations and faults."""
    cpp_symbols: tuple[str, ...] = ()
    """Exports (patterns) that no parsed header declares."""

    @property
    def real(self) -> str:
        """The library in which its functions are."""
        return "libcudart_sim.so" if self.beside_real else "libcudla_sim.so"

    def owns(self, header: str) -> bool:
        """Whether a header (a path below ``include/``) is one of this API."""
        folder, _, rest = header.partition("/")
        return header in self.headers or bool(rest and folder == self.folder)


def _versions(
    library: str, soname: str, *endings: str, version: str = "", names: tuple[str, ...] = ("*",)
) -> tuple[DropIn, ...]:
    """One library under several file names."""
    return tuple(DropIn(f"{library}{ending}", soname, version, names) for ending in ("", *endings))


def _releases(library: str, releases: tuple[str, ...]) -> tuple[DropIn, ...]:
    """A library for each release; a program asks for the one that it was linked with."""
    return tuple(DropIn(f"{library}.{r}", f"{library}.{r}") for r in releases)


_UPMEM_RELEASES = (
    "0.0",  # what UPMEM's sources make when they are told no version
    *("2020.3", "2020.4", "2020.5"),
    *("2021.1", "2021.2", "2021.3", "2021.4", "2022.1", "2023.1", "2023.2", "2024.1", "2024.2"),
    "2025.1",
)
_PVA_RELEASES = tuple(f"2.{minor}" for minor in range(3, 11))

# In the order in which a program could include all headers at once.
FAMILIES: tuple[Family, ...] = (
    Family(
        name="nvsci",
        title="NvSci",
        headers=("nvscierror.h", "nvsciipc.h", "nvscibuf.h", "nvscisync.h"),
        answers=(
            Answers(
                "NvSciError",
                unknown="NvSciError_Unknown",
                no_memory="NvSciError_InsufficientMemory",
                bad_handle="NvSciError_BadParameter",
                bad_memory="NvSciError_BadAddress",
                not_supported="NvSciError_NotSupported",
            ),
        ),
        libraries=(
            *_versions("libnvscibuf.so", "libnvscibuf.so.1", ".1"),
            *_versions("libnvscisync.so", "libnvscisync.so.1", ".1"),
            *_versions("libnvscicommon.so", "libnvscicommon.so.1", ".1"),
            DropIn("libnvsciipc.so", "libnvsciipc.so"),
        ),
        packages=(
            Package("nvscibuf", "NvSciBuf, simulated by cudla-sim", "1.5.0"),
            Package("nvscisync", "NvSciSync, simulated by cudla-sim", "1.5.0"),
        ),
        packed=(
            "NvSciSyncTaskStatus",
            "NvSciBufObjIpcExportDescriptor",
            "NvSciBufPeerHwEngine",
            "NvSciBufPeerLocationInfo",
        ),
    ),
    Family(
        name="cudla",
        title="cuDLA",
        headers=("cudla.h", "cudlaExternalEtbl.hpp"),
        answers=(
            Answers(
                "cudlaStatus",
                unknown="cudlaErrorUnknown",
                no_memory="cudlaErrorOutOfResources",
                bad_handle="cudlaErrorInvalidDevice",
                bad_memory="cudlaErrorInvalidAddress",
                not_supported="cudlaErrorUnsupportedOperation",
            ),
        ),
        libraries=_versions("libcudla.so", "libcudla.so.1", ".1", ".1.0.0"),
        packages=(Package("cudla", "cuDLA, simulated by cudla-sim", "1.5.0"),),
        needs=("nvdla", "nvsci", "cudart"),
        points=("dla/task", "dla/timeout"),
    ),
    Family(
        name="cudart",
        title="CUDA",
        headers=("cuda/cuda_runtime_api.h", "cuda/cuda.h", "cuda/nvrtc.h"),
        folder="cuda",
        answers=(
            Answers(
                "cudaError",
                unknown="cudaErrorUnknown",
                no_memory="cudaErrorMemoryAllocation",
                bad_handle="cudaErrorInvalidResourceHandle",
                bad_memory="cudaErrorInvalidValue",
                not_supported="cudaErrorNotSupported",
                functions="cuda",
            ),
            Answers(
                "cudaError_enum",
                unknown="CUDA_ERROR_UNKNOWN",
                no_memory="CUDA_ERROR_OUT_OF_MEMORY",
                bad_handle="CUDA_ERROR_INVALID_CONTEXT",
                bad_memory="CUDA_ERROR_INVALID_VALUE",
                not_supported="CUDA_ERROR_NOT_SUPPORTED",
                functions="cu",
            ),
            Answers(
                "nvrtcResult",
                unknown="NVRTC_ERROR_INTERNAL_ERROR",
                no_memory="NVRTC_ERROR_OUT_OF_MEMORY",
                bad_handle="NVRTC_ERROR_INVALID_PROGRAM",
                bad_memory="NVRTC_ERROR_INVALID_INPUT",
                not_supported="NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                functions="nvrtc",
            ),
        ),
        libraries=(
            *_versions(
                *("cuda/libcudart.so", "libcudart.so.12", ".12"),
                version="libcudart.so.12",
                names=("[!n]*",),
            ),
            *_versions("cuda/libcuda.so", "libcuda.so.1", ".1", names=("cu[!d]*", "cud[!a]*")),
            *_versions(
                *("cuda/libnvrtc.so", "libnvrtc.so.12", ".12"),
                version="libnvrtc.so.12",
                names=("nvrtc*",),
            ),
        ),
        packages=(
            Package("cudart", "the CUDA runtime subset simulated by cudla-sim", "12.9", ("cuda",)),
        ),
        needs=("nvsci",),
        beside_real=True,
    ),
    Family(
        name="nvdla",
        title="NVDLA drivers",
        headers=("nvdla/nvdla_inf.h", "nvdla/nvdla_os_inf.h", "nvdla/dla_interface.h"),
        folder="nvdla",
        answers=(
            Answers(
                "NvDlaError",
                unknown="NvDlaError_ResourceError",
                no_memory="NvDlaError_InsufficientMemory",
                bad_handle="NvDlaError_BadParameter",
                bad_memory="NvDlaError_InvalidAddress",
                not_supported="NvDlaError_NotSupported",
            ),
        ),
        libraries=(DropIn("libnvdla_runtime.so", "libnvdla_runtime.so"),),
        packages=(
            Package(
                "nvdla_runtime",
                "the NVDLA driver stack (nvdla::IRuntime and both portability layers), simulated",
                "0.12.5",
                ("", "nvdla"),
            ),
        ),
        points=("dla/task", "dla/timeout"),
        c_only=("nvdla/nvdla_os_inf.h", "nvdla/dla_interface.h"),
        packed=("dla_*",),
        cpp_methods=(
            "createRuntime",
            "destroyRuntime",
            "IRuntime::getMaxDevices",
            "IRuntime::initEMU",
            "IRuntime::load",
            "IRuntime::unload",
            "IRuntime::bindTensor",
            "IRuntime::getNumTensors",
            "IRuntime::getTensorDesc",
            "IRuntime::setTensorDesc",
            "IRuntime::submit",
        ),
        cpp_symbols=(
            "NvDlaUtilsGetNvErrorString",
            "NvDlaUtilsLogError",
            "_ZN5nvdla8IRuntime*",
            "_ZN5nvdla13createRuntimeEv",
            "_ZN5nvdla14destroyRuntimeEPNS_8IRuntimeE",
            "_ZT[VIS]N5nvdla8IRuntimeE",
        ),
    ),
    Family(
        name="upmem",
        title="UPMEM",
        headers=(
            "upmem/dpu.h",
            "upmem/dpu_management.h",
            "upmem/dpu_program.h",
            "upmem/dpu_loader.h",
            "upmem/dpu_memory.h",
            "upmem/dpu_older_releases.h",
            "upmem/dpu_runner.h",
            "upmem/dpu_log.h",
            "upmem/dpu_config.h",
            "upmem/dpu_custom.h",
            "upmem/dpu_profiler.h",
            "upmem/dpu_bank_interface_pmc.h",
            "upmem/dpu_probe.h",
        ),
        folder="upmem",
        answers=(
            Answers(
                "dpu_error_t",
                unknown="DPU_ERR_INTERNAL",
                no_memory="DPU_ERR_SYSTEM",
                bad_handle="DPU_ERR_INVALID_DPU_SET",
                bad_memory="DPU_ERR_INVALID_MEMORY_TRANSFER",
                not_supported="DPU_ERR_INTERNAL",
            ),
        ),
        libraries=(
            DropIn("libdpu.so", f"libdpu.so.{_UPMEM_RELEASES[-1]}"),
            *_releases("libdpu.so", _UPMEM_RELEASES),
            DropIn("libdpuverbose.so", f"libdpuverbose.so.{_UPMEM_RELEASES[-1]}"),
            *_releases("libdpuverbose.so", _UPMEM_RELEASES),
        ),
        packages=(
            Package(
                "dpu",
                "the UPMEM host library, simulated by cudla-sim",
                f"{_UPMEM_RELEASES[-1]}.0",
                ("upmem",),
                keep=True,
            ),
        ),
        points=("upmem/launch",),
    ),
    Family(
        name="cupva",
        title="cuPVA",
        headers=(
            "cupva/cupva_host.h",
            "cupva/cupva_host_nonsafety.h",
            "cupva/cupva_host_nvsci.h",
            "cupva/cupva_host_cuda.h",
            "cupva/detail/cupva_host_cpp_detail.h",
        ),
        folder="cupva",
        answers=(
            Answers(
                "cupvaError_t",
                unknown="CUPVA_INTERNAL_ERROR",
                no_memory="CUPVA_DRIVER_API_ERROR",
                bad_handle="CUPVA_UNINITIALIZED_OBJECT",
                bad_memory="CUPVA_INVALID_ARGUMENT",
                not_supported="CUPVA_UNSUPPORTED_FEATURE",
            ),
        ),
        libraries=(
            DropIn("libcupva_host.so", "libcupva_host.so"),
            DropIn("libcupva_host_utils.so", "libcupva_host_utils.so"),
            *_releases("libcupva_host.so", _PVA_RELEASES),
        ),
        packages=(
            Package(
                "cupva_host",
                "the host library of the PVA SDK, simulated by cudla-sim",
                f"{_PVA_RELEASES[-1]}.0",
                ("cupva",),
                ("CUPVA_DEVICE=0",),
            ),
        ),
        needs=("nvsci", "cudart"),
        points=("pva/program", "pva/timeout"),
    ),
    Family(
        name="sim",
        title="cudla_sim.h",
        headers=("cudla_sim.h",),
        answers=(
            Answers(
                "simStatus",
                unknown="simErrorUnknown",
                no_memory="simErrorUnknown",
                bad_handle="simErrorInvalidParam",
                bad_memory="simErrorInvalidParam",
                not_supported="simErrorUnknown",
            ),
        ),
    ),
)


@cache
def of_header(header: str) -> Family:
    """The API of a header. Raises LookupError when nobody declares it."""
    for family in FAMILIES:
        if family.owns(header):
            return family
    raise LookupError(f"include/{header} is of no API that cudla_sim/families.py declares")


def named(name: str) -> Family:
    """The entry of that name. Raises LookupError."""
    for family in FAMILIES:
        if family.name == name:
            return family
    raise LookupError(f"cudla_sim/families.py declares no API {name!r}")


def libraries() -> dict[str, tuple[Family, DropIn]]:
    """Every library under a vendor's name, by its file below ``lib/``."""
    return {library.file: (f, library) for f in FAMILIES for library in f.libraries}


HEADERS: tuple[str, ...] = tuple(h for family in FAMILIES for h in family.headers)
"""All headers that the generator reads, below ``include/``."""

INCLUDE_FOLDERS: tuple[str, ...] = tuple(
    dict.fromkeys(f.folder for f in sorted(FAMILIES, key=lambda f: f.beside_real))
)
"""Folders below ``include/`` in a program's search path; those of a vendor's own come last."""
