"""The remote protocol of gdb, spoken for a DPU: tasklets are threads."""

TRIPLE = "hexagon-unknown-elf"
"""Which processor lldb is told. LLVM's own lldb knows no DPU and ends when it hears of one; of this
one it takes all registers from us. UPMEM's lldb knows ``dpu-upmem-dpurte``."""
