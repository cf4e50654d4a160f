"""The settings, from the classes that declare them."""

from __future__ import annotations

import ast
import inspect

from cudla_sim.core import config
from cudla_sim.core.config import PREFIX
from cudla_sim.nvdla.facts.configs import CONFIGS

from .tables import code, table

_HEAD = """# Settings

Variables of the environment, keys of the TOML file that `CUDLA_SIM_CONFIG_FILE` names (in lower case,
without the prefix), or arguments of `cudla_sim.configure`. The environment wins over the file. An
unknown name or value is an error with a hint, at the first call; `cudla-sim run` and
`cudla-sim doctor` say it before.

"""
_TAIL = """

Read before these, or by others:

| variable | meaning |
|---|---|
| `CUDLA_SIM_PYTHON` | the interpreter to start, when it is not to be the one that is found by itself |
| `CUPVA_DMATIMEOUT` | seconds that a dataflow waits for its trigger (60), as cuPVA's messages name it |
| `UPMEM_PROFILE` | a profile of `dpu_alloc`, as UPMEM's library reads it |
| `DPU_COMPILER_ROUTE` | how DPU programs are compiled: `clang-x32`, `gcc-x32`, `clang-m64`, `gcc-m64` |
| `NO_COLOR` | no colours on terminals |
"""


# The machine first, then what is reported: not the order of who declares them.
_ORDER = [
    "config",
    "board",
    "dla_count",
    "dla_version",
    "multi_module",
    "register_host_memory",
    "gpu",
    "nvsci",
    "overrun",
    "isa",
    "checks",
    "hardware",
    "chip",
    "host_seconds",
    "fp16",
    "arithmetic",
    "plan",
    "time",
    "clock",
    "latency",
    "bytes_per_cycle",
    "dram_gbps",
    "sram_latency",
    "sram_bytes_per_cycle",
    "sram_gbps",
    "register_cycles",
    "read_cycles",
    "interrupt_cycles",
    "software_us",
    "worker_timeout",
    "upmem_ranks",
    "upmem_workers",
    "upmem_cluster",
    "upmem_checks",
    "upmem_allow",
    "upmem_timing",
    "upmem_host",
    "upmem_times",
    "upmem_gdb",
    "upmem_debugger",
    "pva_dma",
    "pva_seed",
    "pva_allow",
    "pva_checks",
    "explain",
    "log",
    "dataflows",
    "trace",
    "strict",
    "fault",
    "config_file",
]


def meanings() -> dict[str, str]:
    """Setting -> the text below it in the source."""
    found, last = {}, ""
    for section in config.sections():
        (node,) = ast.parse(inspect.getsource(section)).body
        assert isinstance(node, ast.ClassDef)
        for item in node.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                last = item.target.id
            elif isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) and last:
                found[last] = str(item.value.value).replace("``", "`")
                last = ""
    found["config"] = found["config"].replace(
        "one of `facts.configs.CONFIGS`", "one of " + ", ".join(f"`{c}`" for c in CONFIGS)
    )
    return found


def _default(name: str) -> str:
    value = config.declared(name)[1].default
    return code(str(int(value) if isinstance(value, bool) else value)) if value != "" else ""


def page() -> str:
    """The page."""
    known = meanings()
    assert sorted(_ORDER) == sorted(known), "every setting has its place on the page"
    rows = [(code(PREFIX + name.upper()), _default(name), known[name]) for name in _ORDER]
    return _HEAD + "\n".join(table(("variable", "default", "meaning"), rows)) + _TAIL
