"""The settings as a type: what ``configure`` takes, for editors and type checkers.

A test compares it with the sections that declare them; no program imports it.
"""

from __future__ import annotations

from typing import TypedDict


class Settings(TypedDict, total=False):
    """Names and types of all settings; their sections say what they mean."""

    overrun: str
    time: str
    explain: bool
    strict: bool
    fault: str
    config_file: str
    log: str
    trace: str
    config: str
    dla_count: int
    checks: str
    hardware: str
    chip: str
    fp16: str
    arithmetic: str
    plan: str
    clock: float
    latency: int
    bytes_per_cycle: float
    dram_gbps: float
    sram_latency: int
    sram_bytes_per_cycle: float
    sram_gbps: float
    register_cycles: int
    read_cycles: int
    interrupt_cycles: int
    software_us: float
    board: str
    dla_version: str
    multi_module: bool
    register_host_memory: bool
    gpu: str
    isa: str
    nvsci: bool
    upmem_ranks: int
    upmem_workers: int
    upmem_cluster: str
    upmem_checks: str
    upmem_allow: str
    upmem_timing: str
    upmem_host: str
    upmem_gdb: str
    upmem_debugger: str
    upmem_times: str
    pva_dma: str
    pva_seed: int
    pva_allow: str
    pva_checks: str
    dataflows: str
    worker_timeout: float
    host_seconds: float
