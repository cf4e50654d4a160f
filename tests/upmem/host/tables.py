"""The published values and layouts of the host headers of SDK 2025.1, for x86-64."""

from __future__ import annotations

ERRORS = (
    "DPU_OK", "INTERNAL", "SYSTEM", "DRIVER", "ALLOCATION", "INVALID_DPU_SET", "INVALID_THREAD_ID",
    "INVALID_NOTIFY_ID", "INVALID_WRAM_ACCESS", "INVALID_IRAM_ACCESS", "INVALID_MRAM_ACCESS",
    "INVALID_SYMBOL_ACCESS", "MRAM_BUSY", "TRANSFER_ALREADY_SET",
    "INVALID_PARALLEL_MEMORY_TRANSFER", "WRAM_FIFO_FULL", "NO_PROGRAM_LOADED",
    "DIFFERENT_DPU_PROGRAMS", "CORRUPTED_MEMORY", "DPU_DISABLED", "DPU_ALREADY_RUNNING",
    "INVALID_MEMORY_TRANSFER", "INVALID_LAUNCH_POLICY", "DPU_FAULT", "ELF_INVALID_FILE",
    "ELF_NO_SUCH_FILE", "ELF_NO_SUCH_SECTION", "TIMEOUT", "INVALID_PROFILE", "UNKNOWN_SYMBOL",
    "LOG_FORMAT", "LOG_CONTEXT_MISSING", "LOG_BUFFER_TOO_SMALL", "VPD_INVALID_FILE",
    "VPD_NO_REPAIR", "NO_THREAD_PER_RANK", "INVALID_BUFFER_SIZE", "NONBLOCKING_SYNC_CALLBACK",
    "TOO_MANY_TASKLETS", "SG_TOO_MANY_BLOCKS", "SG_LENGTH_MISMATCH", "SG_NOT_ACTIVATED",
    "SG_NOT_MRAM_SYMBOL",
)  # fmt: skip

COMMANDS = (
    "DPU_SOFT_RESET", "ALL_SOFT_RESET", "DPU_PREEXECUTION", "ALL_PREEXECUTION",
    "DPU_POSTEXECUTION", "ALL_POSTEXECUTION", "CUSTOM_LABEL", "POSTMORTEM", "SYSTEM_REPORT",
    "BINARY_PATH", "EVENT_START", "EVENT_END", "SET_SLICE_INFO",
)  # fmt: skip

CONSTANTS = {
    **{(name if i == 0 else f"DPU_ERR_{name}"): i for i, name in enumerate(ERRORS)},
    **{f"DPU_COMMAND_{name}": i for i, name in enumerate(COMMANDS)},
    "DPU_ERR_ASYNC_JOBS": -(2**31),
    "DPU_ERROR_ASYNC_JOB_TYPE_SHIFT": 16,
    "DPU_ASYNCHRONOUS": 0, "DPU_SYNCHRONOUS": 1,
    "DPU_XFER_TO_DPU": 0, "DPU_XFER_FROM_DPU": 1,
    "DPU_XFER_DEFAULT": 0, "DPU_XFER_NO_RESET": 1, "DPU_XFER_ASYNC": 2, "DPU_XFER_PARALLEL": 4,
    "DPU_SG_XFER_DEFAULT": 0, "DPU_SG_XFER_ASYNC": 2, "DPU_SG_XFER_DISABLE_LENGTH_CHECK": 4,
    "DPU_CALLBACK_DEFAULT": 0, "DPU_CALLBACK_ASYNC": 1, "DPU_CALLBACK_NONBLOCKING": 2,
    "DPU_CALLBACK_SINGLE_CALL": 4, "DPU_CALLBACK_PARALLEL": 8,
    "DPU_SET_RANKS": 0, "DPU_SET_DPU": 1,
    "DPU_CHECKPOINT_NONE": 0, "DPU_CHECKPOINT_INTERNAL": 1, "DPU_CHECKPOINT_IRAM": 2,
    "DPU_CHECKPOINT_MRAM": 8, "DPU_CHECKPOINT_WRAM": 16, "DPU_CHECKPOINT_ALL": 0x1B,
    "FUNCTIONAL_SIMULATOR": 0, "CYCLE_ACCURATE_SIMULATOR": 1, "RTL_SIMULATOR": 2, "HW": 3,
    "BACKUP_SPI": 4, "SCENARIO": 5, "NB_OF_DPU_TYPES": 6,
    "DPU_DEFAULT_XFER_MATRIX": 0, "DPU_SG_XFER_MATRIX": 1,
    "DPU_INPUT_FIFO": 0, "DPU_OUTPUT_FIFO": 1,
    "DPU_CLOCK_DIV8": 0, "DPU_CLOCK_DIV3": 3, "DPU_CLOCK_DIV4": 4, "DPU_CLOCK_DIV2": 8,
    "DPU_EVENT_RESET": 0, "DPU_EVENT_DEBUG_ACTION": 5,
    "DPU_PROFILING_NOP": 0, "DPU_PROFILING_MCOUNT": 1, "DPU_PROFILING_STATS": 2,
    "DPU_PROFILING_SAMPLES": 3, "DPU_PROFILING_SECTIONS": 4,
    "BANK_INTERFACE_PMC_NONE": 0, "BANK_INTERFACE_PMC_LDMA_INSTRUCTION": 1,
    "BANK_INTERFACE_PMC_HOST_ACTIVATE_COMMAND": 0x10, "BANK_INTERFACE_PMC_CYCLES": 0x80,
    "BANK_INTERFACE_PMC_32BIT_MODE": 0, "BANK_INTERFACE_PMC_64BIT_MODE": 1,
    "vD": 0, "vD_asic1": 3, "vD_asic8": 4, "vD_fpga1": 5, "vD_fpga8": 6, "vD_asic4": 7,
    "vD_fpga4": 8, "vD_fun_v1_4": 66, "vD_fpga4_v1_4": 72,
    "DPU_MAX_NR_CIS": 8, "DPU_MAX_NR_DPUS_PER_CI": 8, "DPU_MAX_NR_GROUPS": 8,
    "DPU_BOOT_THREAD": 0, "MAX_NR_DPUS_PER_RANK": 64, "EM_DPU": 245,
    "DPU_ALLOCATE_ALL": 2**32 - 1, "DPU_TARGET_LOG2_SIZE": 4, "DPU_TARGET_SHIFT": 12,
}  # fmt: skip

# type -> size, offsets of its members
LAYOUT: dict[str, tuple[int, dict[str, int]]] = {
    "struct dpu_set_t": (24, {"kind": 0, "list.nr_ranks": 8, "list.ranks": 16, "dpu": 8}),
    "struct dpu_set_rank_iterator_t": (
        48,
        {"set": 0, "count": 8, "next_idx": 12, "has_next": 16, "next": 24},
    ),
    "struct dpu_set_dpu_iterator_t": (
        88,
        {"rank_iterator": 0, "count": 48, "next_idx": 52, "has_next": 56, "next": 64},
    ),
    "struct dpu_symbol_t": (8, {"address": 0, "size": 4}),
    "struct dpu_incbin_t": (24, {"buffer": 0, "size": 8, "path": 16}),
    "struct sg_block_info": (16, {"addr": 0, "length": 8}),
    "get_block_t": (24, {"f": 0, "args": 8, "args_size": 16}),
    "struct dpu_transfer_matrix": (
        528,
        {"ptr": 0, "sg_ptr": 0, "offset": 512, "size": 516, "type": 520},
    ),
    "struct dpu_fifo_rank_t": (2104, {"dpu_fifo_pointers": 16}),
    "struct dpu_fifo_link_t": (24, {"direction": 0, "fifo_symbol": 4, "rank_fifos": 16}),
    "struct dpu_iterator_t": (
        32,
        {"rank": 0, "count": 8, "next_idx": 12, "has_next": 16, "next": 24},
    ),
    "struct sg_xfer_buffer": (
        32,
        {"max_nr_blocks": 0, "blocks_addr": 8, "blocks_length": 16, "nr_blocks": 24},
    ),
    "struct dpu_program_t": (
        80,
        {
            "nr_threads_enabled": 0,
            "printf_buffer_address": 4,
            "printf_buffer_size": 8,
            "symbols": 24,
            "mcount_address": 32,
            "perfcounter_end_value_address": 44,
            "profiling_symbols": 48,
            "reference_count": 64,
            "program_path": 72,
        },
    ),
    "struct dpu_context_t": (
        120,
        {
            "info": 0,
            "iram": 24,
            "mram": 32,
            "wram": 40,
            "registers": 48,
            "pcs": 56,
            "atomic_register": 64,
            "zero_flags": 72,
            "carry_flags": 80,
            "nr_of_running_threads": 88,
            "scheduling": 96,
            "bkp_fault": 104,
            "bkp_fault_id": 112,
        },
    ),
    "dpu_rank_id_t": (2, {}),
    "dpu_id_t": (4, {}),
    "dpu_slice_id_t": (1, {}),
    "dpu_member_id_t": (1, {}),
    "dpu_thread_t": (1, {}),
    "iram_addr_t": (2, {}),
    "wram_addr_t": (4, {}),
    "mram_size_t": (4, {}),
    "dpuinstruction_t": (8, {}),
    "dpuword_t": (4, {}),
    "dpu_event_kind_t": (1, {}),
    "dpu_error_t": (4, {}),
}

TEXTS = {
    "DPU_MRAM_HEAP_POINTER_NAME": "__sys_used_mram_end",
    "DPU_LOG_FORMAT_HEADER": "=== DPU#0x%x ===\n",
}

TAGS = {
    "dpu_launch_policy_t": "enum _dpu_launch_policy_t",
    "dpu_xfer_t": "enum _dpu_xfer_t",
    "dpu_xfer_flags_t": "enum _dpu_xfer_flags_t",
    "dpu_sg_xfer_flags_t": "enum _dpu_sg_xfer_flags_t",
    "dpu_callback_flags_t": "enum _dpu_callback_flags_t",
    "dpu_set_kind_t": "enum _dpu_set_kind_t",
    "dpu_clock_division_t": "enum _dpu_clock_division_t",
    "dpu_loader_target_t": "enum _dpu_loader_target_t",
    "dpu_checkpoint_flags_t": "enum _dpu_checkpoint_flags_t",
    "dpu_custom_command_t": "enum _dpu_custom_command_t",
    "dpu_chip_id_e": "enum _dpu_chip_id_e",
    "dpu_type_t": "enum _dpu_type_t",
    "dpu_error_t": "enum dpu_error_t",
    "dpu_elf_symbol_t": "struct dpu_elf_symbol",
    "dpu_elf_symbols_t": "struct dpu_elf_symbols",
    "dpu_run_context_t": "struct _dpu_run_context_t *",
}
