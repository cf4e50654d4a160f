"""What is simulated. Filled from ``CUDLA_SIM_*`` variables, a TOML file, or Python."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import ConfigError

PREFIX = "CUDLA_SIM_"

NVDLA_CONFIGS = (
    "nv_full",
    "nv_large",
    "nv_small",
    "nv_small_256",
    "nv_small_256_full",
    "nv_medium_512",
    "nv_medium_1024_full",
)

ARITHMETIC = (
    "native", "numpy", "avx512_vnni", "avx512_bw", "avx_vnni", "avx2", "neon_dotprod", "neon",
    "portable",
)  # fmt: skip

# Read by the boot code or by the build before this module exists, so they are no fields of Config.
_READ_ELSEWHERE = {"PYTHON", "BUILD_VERBOSE", "FIXTURES", "PARSE"}


@dataclass(frozen=True)
class Config:
    """One simulated machine. Field ``x_y`` is ``CUDLA_SIM_X_Y`` in the environment."""

    # --- the machine ---
    config: str = "nv_full"
    """NVDLA configuration of every DLA core: one of ``NVDLA_CONFIGS``, or "auto": each core becomes
    what the first loadable that it loads was compiled for."""
    dla_count: int = 2
    """Number of DLA cores, 0 to 2."""
    dla_version: str = "2.0"
    """What CUDLA_DEVICE_VERSION answers: 1.0 is Xavier, 2.0 is Orin."""
    multi_module: bool = False
    """Allow several loadables on one device handle (cuDLA after 1.4) instead of one."""
    register_host_memory: bool = False
    """Let cudlaMemRegister take any host pointer; real cuDLA takes CUDA memory only."""
    gpu: str = "integrated"
    """What CUDA device 0 is: ``integrated`` (Tegra), ``discrete`` (no cuDLA on it) or ``none``."""
    nvsci: bool = True
    """False: the NvSci libraries are missing on this machine."""
    overrun: str = "refuse"
    """What happens when an engine runs past the end of a memory object: ``refuse`` fails the task,
    ``warn`` gives every object a zeroed margin of 64 KiB and warns."""
    checks: str = "off"
    """What a network is checked for when it is loaded: ``off``, or ``warn``: prints what real
    hardware would not take, in the words of ``cudla-sim nvdla check``."""
    hardware: str = "strict"
    """Where an NVDLA core does other than its registers seem to say (surfaces of 1 x 1 cubes,
    weights left in the convolution buffer, ...): ``strict`` fails the task with an explanation,
    ``chip`` computes what the chip computes and says so."""
    chip: str = ""
    """NVDLA hardware that is not ours, on which tasks run: ``cosim:LIB.so,OPTIONS``, a library that
    defines the functions of ``nvdla/cosim.h``. Every DLA core opens it for itself. Empty: our
    model."""
    host_seconds: float = 600.0
    """How long a part of an ONNX model may run on the host, compiled or run, in seconds."""
    fp16: str = "exact"
    """How fp16 convolutions are computed: ``exact`` as the hardware, ``fast`` in float32."""

    arithmetic: str = "native"
    """What computes integer layers of NVDLA, with equal results; one of ``ARITHMETIC``. ``native``
    is compiled code for the fastest instructions of this machine, ``numpy`` its twin in Python."""

    plan: str = "on"
    """``on``: the accesses of NVDLA's firmware are noted when a task comes again, and repeated
    without it as long as its descriptors are the same bytes; ``off``: it always runs."""

    time: str = "host"
    """``host``: programs see times of this machine. ``hardware``: layer statistics of cuDLA hold
    cycles of the model in ``nvdla/timing``, which dlaFreqMHz turns into milliseconds, and DPUs run
    in hardware time."""

    clock: float = 1000.0
    """MHz of the NVDLA cores, where cycles of hardware time become seconds."""
    latency: int = 32
    """Cycles from a read request of an NVDLA core to its data, and from a write to its response."""
    bytes_per_cycle: float = 0.0
    """Bandwidth of the memory for an NVDLA core, reads and writes; 0: what its port takes."""
    dram_gbps: float = 0.0
    """The same in 10^9 bytes a second."""
    sram_latency: int = -1
    """``latency`` of the second memory, where a core has a port for one; -1: as the first."""
    sram_bytes_per_cycle: float = 0.0
    """Bandwidth of the second memory; 0: what its port takes."""
    sram_gbps: float = 0.0
    """The same in 10^9 bytes a second."""
    register_cycles: int = 3
    """Cycles that a driver's register write takes, with what it reads in between."""
    read_cycles: int = 0
    """Cycles that a driver's register read takes; with it ``register_cycles`` is a write alone."""
    interrupt_cycles: int = 10
    """Cycles from an interrupt until the driver answers."""
    software_us: float = 0.0
    """Microseconds of a network's software (EMU) task."""

    # --- processes of DPU and VPU programs ---
    worker_timeout: float = 0.0
    """Seconds that one launch of a DPU or VPU program may take before its process is ended and the
    launch fails; 0: any time. After 10 s a line on stderr says what is waited for."""

    # --- UPMEM ---
    upmem_ranks: int = 40
    """Ranks of 64 DPUs in the machine; what DPU_ALLOCATE_ALL takes."""
    upmem_workers: int = 0
    """Processes that run DPU programs; 0: one a core."""
    upmem_cluster: str = ""
    """Address of a Dask scheduler whose workers hold the ranks and run the DPU programs; empty:
    this machine does."""
    upmem_checks: str = ""
    """Strict checks of DPU programs: ``name=off|warn|fault``, comma separated, ``all`` for all."""
    upmem_allow: str = ""
    """What DPU programs may do to this machine: nothing, or ``all`` (nothing is enforced)."""
    upmem_timing: str = ""
    """``model``: DPU programs that were compiled for it run in hardware time, so that
    ``perfcounter`` and reports have it; ``profile``: the same, and they count by source line;
    ``off``: they do not; empty: as ``time`` says."""
    upmem_host: str = ""
    """Bandwidths and fixed costs of the DPUs' host, for hardware times: ``name=number``, comma
    separated, names as in ``upmem.timing.host.Host``."""
    upmem_times: str = ""
    """Write the hardware times of launches and transfers to this file at exit, as JSON."""

    # --- PVA ---
    pva_dma: str = "trigger"
    """When the DMA moves what a VPU kernel triggers: at the ``trigger``, at the ``sync`` that waits
    for it, or at a ``random`` moment between."""
    pva_seed: int = 0
    """Seed of pva_dma = random, 0 to 2^32 - 1: the same seed moves data at the same moments."""
    pva_allow: str = ""
    """What VPU kernels may do to this machine besides printing: ``files`` (read and write them),
    ``network``, or ``all`` (nothing is enforced), comma separated."""
    pva_checks: str = ""
    """Checks of VPU kernels: ``name=off|warn|fault``, comma separated, a mode alone for all;
    ``sync`` and ``pending``, as in ``cupva.workers.checks``."""

    # --- what is reported ---
    explain: bool = False
    """Print every explanation to stderr as it happens."""
    log: str = ""
    """Comma-separated: ``api`` prints one line per call, ``layers`` one line per hardware layer,
    ``firmware`` what an NVDLA firmware says through dla_debug and dla_info."""
    dataflows: str = ""
    """A folder: every cuPVA dataflow is described there when it is compiled, as text and (with
    matplotlib) as a picture."""
    trace: str = ""
    """Write a Chrome/Perfetto trace to this file at exit."""
    strict: bool = False
    """Abort the process on an internal error of the simulator instead of answering "unknown"."""
    fault: str = ""
    """Faults to inject: ``point[@n][=STATUS]``, comma separated."""
    config_file: str = ""
    """A TOML file with any of these settings."""

    @property
    def margin(self) -> int:
        """Bytes behind every memory object that an engine may overrun with a warning."""
        return 64 << 10 if self.overrun == "warn" else 0

    def __post_init__(self) -> None:
        _check_choice("config", self.config, (*NVDLA_CONFIGS, "auto"))
        _check_choice("gpu", self.gpu, ("integrated", "discrete", "none"))
        _check_choice("time", self.time, ("host", "hardware"))
        _check_choice("upmem_timing", self.upmem_timing, ("", "off", "model", "profile"))
        _check_choice("upmem_allow", self.upmem_allow, ("", "all"))
        _check_choice("pva_dma", self.pva_dma, ("trigger", "sync", "random"))
        if not 0 <= self.pva_seed < 1 << 32:
            raise ConfigError(f"pva_seed is {self.pva_seed}; it is 0 to {2**32 - 1}")
        _check_choice("overrun", self.overrun, ("refuse", "warn"))
        _check_choice("hardware", self.hardware, ("strict", "chip"))
        if self.chip and not self.chip.startswith("cosim:"):
            raise ConfigError(f"chip is {self.chip!r}; it is cosim:LIB.so, or empty for our model")
        _check_choice("fp16", self.fp16, ("exact", "fast"))
        _check_choice("arithmetic", self.arithmetic, ARITHMETIC)
        _check_choice("plan", self.plan, ("on", "off"))
        _check_choice("checks", self.checks, ("off", "warn"))
        for word in filter(None, self.pva_allow.split(",")):
            _check_choice("pva_allow", word.strip(), ("files", "network", "all"))
        for word in filter(None, self.log.split(",")):
            _check_choice("log", word, ("api", "layers", "firmware"))
        if not 0 <= self.dla_count <= 2:
            raise ConfigError(f"dla_count is {self.dla_count}; a machine has 0, 1 or 2 DLA cores")
        if not 0 < self.host_seconds <= 1e6:
            raise ConfigError(f"host_seconds is {self.host_seconds}; it is above 0, up to 10^6")
        if not 0 <= self.worker_timeout <= 1e6:
            raise ConfigError(
                f"worker_timeout is {self.worker_timeout}; it is in seconds, up to 10^6, 0: none"
            )
        if not 1e-3 <= self.clock < 1e6:
            raise ConfigError(f"clock is {self.clock}; it is in MHz, 0.001 or more")
        self._check_memories()
        if not 1 <= self.upmem_ranks <= 1024:
            raise ConfigError(f"upmem_ranks is {self.upmem_ranks}; a machine has 1 to 1024 ranks")
        if not 0 <= self.upmem_workers <= 256:
            raise ConfigError(
                f"upmem_workers is {self.upmem_workers}; it is 1 to 256, 0: one a core"
            )
        major, dot, minor = self.dla_version.partition(".")
        if not (dot and all(part.isascii() and part.isdigit() for part in (major, minor))):
            raise ConfigError(f"dla_version is {self.dla_version!r}; it is major.minor, as in 2.0")

    def _check_memories(self) -> None:
        for name in ("latency", "register_cycles", "read_cycles", "interrupt_cycles"):
            if not 0 <= getattr(self, name) <= 1e9:
                raise ConfigError(f"{name} is {getattr(self, name)}; it is in cycles, 0 or more")
        if not -1 <= self.sram_latency <= 1e9:
            raise ConfigError(
                f"sram_latency is {self.sram_latency}; it is in cycles, -1: as the first memory's"
            )
        for cycles, gbps in (
            ("bytes_per_cycle", "dram_gbps"),
            ("sram_bytes_per_cycle", "sram_gbps"),
        ):
            for name in (cycles, gbps):
                # below a byte in a million cycles is no memory
                if not (getattr(self, name) == 0 or 1e-6 <= getattr(self, name) <= 1e9):
                    raise ConfigError(
                        f"{name} is {getattr(self, name)}; it is a bandwidth above 0, or 0: the "
                        "port's"
                    )
            if getattr(self, cycles) and getattr(self, gbps):
                raise ConfigError(f"{cycles} and {gbps} are the same bandwidth; give one")
        if not 0 <= self.software_us <= 1e9:
            raise ConfigError(f"software_us is {self.software_us}; it is 0 or more microseconds")

    def replace(self, **changes: Any) -> Config:
        """This configuration with some fields changed; unknown names raise ConfigError."""
        for name in changes:
            _field(name)
        return dataclasses.replace(self, **changes)


def _check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigError(f"{name} is {value!r}; it is one of {', '.join(allowed)}")


def _field(name: str) -> dataclasses.Field[Any]:
    fields = {f.name: f for f in dataclasses.fields(Config)}
    if name not in fields:
        import difflib  # these two: not for settings that are right and not in a file

        near = difflib.get_close_matches(name, fields, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ConfigError(f"there is no setting {name}{hint}")
    return fields[name]


def _typed(name: str, text: str) -> Any:
    kind = _field(name).type
    if kind == "bool":
        lowered = text.strip().lower()
        if lowered in ("1", "true", "yes", "on"):
            return True
        if lowered in ("", "0", "false", "no", "off"):
            return False
        raise ConfigError(f"{name} is {text!r}; it is 0 or 1")
    if kind == "int":
        try:
            return int(text, 0)
        except ValueError:
            raise ConfigError(f"{name} is {text!r}; it is a whole number") from None
    if kind == "float":
        try:
            return float(text)
        except ValueError:
            raise ConfigError(f"{name} is {text!r}; it is a number") from None
    return text


def _from_toml(path: str) -> dict[str, Any]:
    from . import untrusted

    try:
        table = untrusted.read_toml(Path(path))
    except (OSError, ValueError) as error:
        raise ConfigError(f"config_file {path}: {error}") from None
    values: dict[str, Any] = {}
    for name, value in table.items():
        kind = _field(name).type
        types = {"bool": (bool,), "int": (int,), "float": (int, float)}
        if not isinstance(value, types.get(str(kind), (str,))):
            raise ConfigError(f"config_file {path}: {name} must be a {kind}, found {value!r}")
        values[name] = value
    return values


def from_environment(environment: Mapping[str, str]) -> Config:
    """Reads the variables; the TOML file that CUDLA_SIM_CONFIG_FILE names comes first.

    Raises ConfigError for an unknown ``CUDLA_SIM_`` name: a typing error must not pass unseen.
    """
    values: dict[str, Any] = {}
    for variable in sorted(environment):
        name = variable.removeprefix(PREFIX)
        if name == variable or name in _READ_ELSEWHERE:
            continue
        try:
            values[name.lower()] = _typed(name.lower(), environment[variable])
        except ConfigError as error:
            raise ConfigError(f"{variable}: {error}") from None
    if path := values.get("config_file"):
        values = {**_from_toml(path), **values}
    return Config(**values)
