"""The remote protocol of gdb, spoken for a DPU: tasklets are threads."""
