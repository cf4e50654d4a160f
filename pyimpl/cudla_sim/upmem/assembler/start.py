"""What runs before ``main``, and the data that programs of the vendor's runtime have.

Written from the description of the start code: tasklet 0 forgets what was printed and gives all
atomic bits back, each tasklet boots the next one, takes its stack from a table, and calls main.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...constants.dpu_protocol import MAX_TASKLETS

DEFAULT_STACK = 1024
"""Bytes."""
FILE = "<start code>"


@dataclass
class Options:
    """Of a program: tasklets, their stacks in bytes, and the print buffer in MRAM in bytes."""

    tasklets: int = 1
    stacks: list[int] = field(default_factory=list)
    """By tasklet; missing ones have ``DEFAULT_STACK``."""
    stdout_buffer: int = 0

    def stack(self, tasklet: int) -> int:
        size = self.stacks[tasklet] if tasklet < len(self.stacks) else DEFAULT_STACK
        return (size + 7) & ~7


CODE = """
    .text
    .globl __bootstrap, __sys_start_thread, __sys_end
    .type __bootstrap, @function
__bootstrap:
    jnz id, __sys_start_thread
    sd zero, __stdout_buffer_state, 0
    move r23, __atomic_end_addr
__sys_atomic_bit_clear:
    jeq r23, __atomic_used_addr, __sys_start_thread
    add r23, r23, -1
    release r23, 0, nz, .+1
    jump __sys_atomic_bit_clear
__sys_start_thread:
    jeq id, NR_TASKLETS - 1, .+2
    boot id, 1
    ld d22, id8, __sys_thread_stack_table_ptr
    call r23, main
__sys_end:
    stop true, __sys_end
    .size __bootstrap, .-__bootstrap
"""

_DATA = """
    .data
    .globl __sys_heap_pointer, __sys_thread_stack_table_ptr, __sys_wq_table
    .globl __stdout_buffer_state, CLOCKS_PER_SEC
    .type __sys_heap_pointer, @object
    .size __sys_heap_pointer, 4
__sys_heap_pointer: .word __sys_heap_pointer_reset
    .type CLOCKS_PER_SEC, @object
    .size CLOCKS_PER_SEC, 4
CLOCKS_PER_SEC: .word 0
    .type __stdout_buffer_state, @object
    .size __stdout_buffer_state, 8
__stdout_buffer_state: .quad 0
    .type __sys_thread_stack_table_ptr, @object
    .size __sys_thread_stack_table_ptr, 192
__sys_thread_stack_table_ptr:
"""
_WAIT_QUEUES = f"""
    .type __sys_wq_table, @object
    .size __sys_wq_table, {MAX_TASKLETS}
__sys_wq_table: .fill {MAX_TASKLETS}, 1, 0xff
    .p2align 3
"""


def data(options: Options) -> str:
    """The text of the runtime's variables."""
    rows = []
    for tasklet in range(MAX_TASKLETS):
        known = tasklet < options.tasklets
        size = f"STACK_SIZE_TASKLET_{tasklet}" if known else "0"
        stack = f"__sys_stack_thread_{tasklet}" if known else "0"
        rows.append(f"    .word {size}, {stack}\n")
    text = _DATA + "".join(rows) + _WAIT_QUEUES
    if options.stdout_buffer:
        text += (
            "    .globl __stdout_buffer_size\n    .type __stdout_buffer_size, @object\n"
            "    .size __stdout_buffer_size, 4\n"
            f"__stdout_buffer_size: .word {options.stdout_buffer}\n    .p2align 3\n"
        )
    return text
