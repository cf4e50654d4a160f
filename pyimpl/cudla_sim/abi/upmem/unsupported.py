"""Functions of the real library that have no counterpart in a machine that runs DPU programs
natively: they exist and say why they fail."""

from __future__ import annotations

from .family import upmem

_NO_REGISTERS = (
    "UnsupportedOperation: DPU programs run natively, there are no DPU registers, program "
    "counters or instructions to look at"
)

upmem.unsupported(
    "dpu_extract_pcs_for_dpu",
    "dpu_extract_context_for_dpu",
    "dpu_restore_context_for_dpu",
    "dpu_initialize_fault_process_for_dpu",
    "dpu_finalize_fault_process_for_dpu",
    "dpu_execute_thread_step_in_fault_for_dpu",
    "dpu_set_debug_slice_info",
    "dpu_restore_mux_context_for_rank",
    "dpu_save_context_for_rank",
    "dpu_restore_context_for_rank",
    "dpu_create_core_dump",
    "dpu_free_dpu_context",
    "dpu_context_fill_from_rank",
    "dpu_pop_debug_context",
    "dpu_copy_to_iram_for_rank",
    "dpu_copy_to_iram_for_dpu",
    "dpu_copy_from_iram_for_dpu",
    "dpu_copy_to_iram_for_matrix",
    "dpu_copy_from_iram_for_matrix",
    because=_NO_REGISTERS,
)

upmem.unsupported(
    "dpu_elf_load_section",
    "dpu_elf_load_symbols",
    "dpu_elf_free_symbols",
    "dpu_elf_get_sections",
    "dpu_elf_get_runtime_info",
    "free_runtime_info",
    "dpu_elf_create_core_dump",
    because="UnsupportedOperation: DPU programs are x86-64 ELF files here; read them with an ELF "
    "library, or use dpu_get_symbol",
)

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

upmem.unsupported(
    "dpu_custom_for_rank",
    "dpu_custom_for_dpu",
    because="UnsupportedOperation: custom commands belong to other backends",
)

upmem.unsupported(
    "dpu_checkpoint_save",
    "dpu_checkpoint_restore",
    "dpu_checkpoint_get_serialized_context_size",
    "dpu_checkpoint_serialize",
    "dpu_checkpoint_deserialize",
    "dpu_checkpoint_free",
    because="UnsupportedOperation: checkpoints of a DPU are not simulated; copy its MRAM and WRAM "
    "symbols instead",
)
