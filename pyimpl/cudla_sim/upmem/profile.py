"""DPU profiles: ``key=value`` separated by commas (or ``&``), from three places.

The effective profile is UPMEM_PROFILE_BASE, then the argument of dpu_alloc, then UPMEM_PROFILE;
later keys win. Source of the rules: dpu_properties_loader.c and dpu_profile.h of the SDK's host
library (2025.1).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from . import notices
from .errors import DpuError, Status, error

BACKENDS = ("simulator", "cas", "model", "hw", "spi", "scenario")
_HERE = ("simulator", "cas", "hw")

V1A_CHIPS = range(9)
V1B_CHIPS = range(66, 73)
_CHIPS = {
    "vD": 0,
    "vD_cas": 1,
    "vD_fun": 2,
    "vD_asic1": 3,
    "vD_asic8": 4,
    "vD_fpga1": 5,
    "vD_fpga8": 6,
    "vD_asic4": 7,
    "vD_fpga4": 8,
    "v1B_fun": 66,
    "v1B_asic1": 67,
    "v1B_asic8": 68,
    "v1B_fpga1": 69,
    "v1B_fpga8": 70,
    "v1B_asic4": 71,
    "v1B_fpga4": 72,
}

_PROFILERS = ("nop", "mcount", "statistics", "samples", "sections")
"""Ways of profiling. The first asks for none."""

_DEFAULT_JOBS = 16
"""NR_JOBS_PER_RANK_DEFAULT of dpu_management.c."""

# Understood by the SDK, without a counterpart in a simulated machine: any value is accepted.
_WITHOUT_EFFECT = {
    "clockDivision",
    "profilingDpuId",
    "profilingSliceId",
    "mcountAddress",
    "retMcountAddress",
    "threadProfilingAddress",
    "mramAccessByDpuOnly",
    "disableSafeChecks",
    "disableMuxSwitch",
    "disableResetOnAlloc",
    "nrThreadPerPool",
    "poolThreshold1Thread",
    "poolThreshold2Threads",
    "poolThreshold4Threads",
    "rankPath",
    "regionMode",
    "ignoreVersion",
    "ignoreVpd",
    "tryRepairIram",
    "tryRepairWram",
    "cycleAccurate",
    "usbSerial",
    "chipSelect",
}


@dataclass
class Profile:
    """What a profile string asks for. Sizes in bytes."""

    backend: str = "simulator"
    chip_id: int = 0
    clock_mhz: int = 0
    sg_enable: bool = False
    sg_max_blocks: int = 0
    """0: as many as the set has DPUs."""
    on_all_ranks: bool = False
    """Take as many ranks as there are for the DPUs of a set."""
    nr_threads_per_rank: int = 1
    nr_jobs_per_rank: int = _DEFAULT_JOBS
    dpus_per_ci: int = 8
    disabled_mask: int = 0
    mram_size: int = 64 << 20
    wram_size: int = 64 << 10
    iram_size: int = 4096
    timing: str = ""
    """``model``: this machine's DPUs run in hardware time from now on (a key of ours)."""
    ignored: list[str] = field(default_factory=list)

    def check_scatter_gather(self) -> None:
        """Raises DpuError(DPU_ERR_INVALID_PROFILE) for a number of blocks without the transfers."""
        if self.sg_max_blocks and not self.sg_enable:
            raise _invalid(
                f"sgXferMaxBlocksPerDpu={self.sg_max_blocks} without sgXferEnable=true; add "
                "sgXferEnable=true to the profile"
            )

    @property
    def v1b(self) -> bool:
        return self.chip_id > 8

    @property
    def max_tasklets(self) -> int:
        return 16 if self.v1b else 24

    @property
    def chip_wram(self) -> int:
        """Bytes of WRAM that the chip has."""
        return 63488 if self.v1b else 65536

    @property
    def chip_iram(self) -> int:
        """Instructions that its IRAM holds."""
        return 3968 if self.v1b else 4096

    @property
    def frequency_mhz(self) -> int:
        return self.clock_mhz or (400 if self.v1b else 350)


def parse(*sources: str) -> Profile:
    """Reads profile strings, the last one strongest.

    Raises DpuError(DPU_ERR_INVALID_PROFILE) for a part that is not ``key=value``, a value of the
    wrong kind, or an unknown backend; DPU_ERR_INTERNAL for an unknown way of profiling, as the SDK.
    An unknown key has no effect; calls that are explained report it.
    """
    profile = Profile()
    for key, value in _properties(",".join(filter(None, sources))).items():
        if key in _KEYS:
            _KEYS[key](profile, key, value)
        elif key not in _WITHOUT_EFFECT:
            profile.ignored.append(key)
            notices.explain("dpu_alloc", f"unused profile property: {key} (= {value})")
    return profile


def _properties(text: str) -> dict[str, str]:
    """Nothing is trimmed but a blank before a key, which UPMEM's manual writes."""
    properties: dict[str, str] = {}
    for part in re.split("[,&]", text) if text else []:
        key, equals, value = part.lstrip().partition("=")
        if not equals:
            raise _invalid(f"{part!r} is not key=value; a profile is a list of key=value, "
                           "separated by single commas")  # fmt: skip
        properties[key] = value
    return properties


def _invalid(text: str) -> DpuError:
    return error(Status.DPU_ERR_INVALID_PROFILE, f"profile: {text}")


def _backend(profile: Profile, key: str, value: str) -> None:
    if value not in BACKENDS:
        raise _invalid(f"backend={value}; it is one of {', '.join(BACKENDS)}")
    if value not in _HERE:
        raise _invalid(f"backend={value} is not simulated; simulator, cas and hw are")
    profile.backend = value


def _timing(profile: Profile, key: str, value: str) -> None:
    if value not in ("off", "model", "profile"):
        raise _invalid(f"{key}={value}; it is off, model or profile")
    profile.timing = value


def _profiling(_profile: Profile, key: str, value: str) -> None:
    if value not in _PROFILERS:
        text = f"profile: {key}={value}; it is one of {', '.join(_PROFILERS)}"
        raise error(Status.DPU_ERR_INTERNAL, text)
    if value != _PROFILERS[0]:
        notices.explain(
            "dpu_alloc",
            f"{key}={value} has no effect: DPU programs run unprofiled; "
            "cudla-sim upmem report counts by source line",
        )


def _chip(profile: Profile, key: str, value: str) -> None:
    number = _CHIPS.get(value)
    if number is None:
        number = _number(key, value)
    if number not in V1A_CHIPS and number not in V1B_CHIPS:
        raise _invalid(f"{key}={value}; chips are 0 to 8 (v1A) and 66 to 72 (v1B)")
    profile.chip_id = number


_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)", re.ASCII)


def _number(key: str, value: str) -> int:
    """As strtol reads it in base 0: decimal, octal (010) or hexadecimal (0x10)."""
    if not _NUMBER.fullmatch(value):
        raise _invalid(f"{key}={value}; must be a number, without blanks")
    digits = value.lstrip("+-")
    base = 16 if digits[:2] in ("0x", "0X") else 8 if digits[0] == "0" else 10
    number = int(digits, base)
    return -number if value[0] == "-" else number


def _integer(name: str, low: int = 0, high: int = 2**32 - 1) -> Callable[[Profile, str, str], None]:
    def read(profile: Profile, key: str, value: str) -> None:
        number = _number(key, value)
        if not low <= number <= high:
            raise _invalid(f"{key}={value}; must be in {low}..{high}")
        setattr(profile, name, number)

    return read


def _flag(name: str) -> Callable[[Profile, str, str], None]:
    """Any word but ``false`` and ``0`` is true, as fetch_boolean_property reads it."""

    def read(profile: Profile, key: str, value: str) -> None:
        setattr(profile, name, value.lower() not in ("false", "0"))

    return read


def _unused_number(_profile: Profile, key: str, value: str) -> None:
    """Raises DpuError(DPU_ERR_INVALID_PROFILE) for a value that is not a number of 64 bits."""
    if not -(1 << 64) < _number(key, value) < 1 << 64:
        raise _invalid(f"{key}={value}; must be in 0..{(1 << 64) - 1}")


_KEYS: dict[str, Callable[[Profile, str, str], None]] = {
    "backend": _backend,
    "chipId": _chip,
    "timing": _timing,
    "enableProfiling": _profiling,
    "fckFrequency": _integer("clock_mhz", 1, 10_000),
    "sgXferEnable": _flag("sg_enable"),
    "sgXferMaxBlocksPerDpu": _integer("sg_max_blocks"),
    "dispatchOnAllRanks": _flag("on_all_ranks"),
    "nrThreadsPerRank": _integer("nr_threads_per_rank", 0, 8),
    "nrJobsPerRank": _integer("nr_jobs_per_rank", 1),
    "nrDpusPerCi": _integer("dpus_per_ci", 1, 8),
    "cmdsBufferSize": _unused_number,
    "disabledMask": _integer("disabled_mask", 0, 2**64 - 1),
    "mramSize": _integer("mram_size", 8, 64 << 20),
    "wramSize": _integer("wram_size", 8, 64 << 10),
    "iramSize": _integer("iram_size", 1, 4096),
}
