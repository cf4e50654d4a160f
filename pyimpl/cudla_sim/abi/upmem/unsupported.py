"""Functions of the real library that have no counterpart in a machine that runs DPU programs
natively: they exist and say why they fail."""

from __future__ import annotations

from .family import upmem

upmem.unsupported(
    "dpu_patch_profiling_for_dpu",
    "dpu_collect_statistics_profiling",
    "dpu_collect_samples_profiling",
    "dpu_dump_statistics_profiling",
    "dpu_dump_samples_profiling",
    "dpu_set_magic_profiling_for_dpu",
    "dpu_dump_section_profiling",
    "dpu_get_profiling_context",
    because="UnsupportedOperation: DPU programs are not profiled; perf works on the worker "
    "processes",
)

upmem.unsupported(
    "dpu_bank_interface_pmc_enable",
    "dpu_bank_interface_pmc_disable",
    "dpu_bank_interface_pmc_stop_counters",
    "dpu_bank_interface_pmc_read_counters",
    because="UnsupportedOperation: v1A chips have no bank interface counters, and those of v1B are "
    "not simulated",
)
